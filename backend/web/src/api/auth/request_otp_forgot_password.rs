//! `POST /scan/v1/auth/request_otp_forgot_password`: a code for a new password (docs/contract.md §1, table).

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_identity::auth::Auth;
use nyala_identity::auth::account::registered;
use nyala_identity::auth::code::{self, CodeRequest};
use nyala_identity::auth::code_purpose::{Asker, CodePurpose};
use nyala_store::config::HttpSettings;
use nyala_store::db::Store;

use super::request_otp::{OtpRequest, SENT};
use super::requester;
use crate::http::answer::{Empty, done};
use crate::http::error::AppError;
use crate::http::json::Json;

/// Sends a code to a number that has an account.
#[utoipa::path(
    post, path = "/scan/v1/auth/request_otp_forgot_password", tag = "auth", request_body = OtpRequest,
    responses(
        (status = 200, body = Empty),
        (status = 400, body = Empty),
        (status = 404, description = "`nomor belum terdaftar`", body = Empty),
        (status = 429, description = "Within 60 s or over a limit; `Retry-After` in seconds", body = Empty),
        (status = 503, description = "`kode gagal dikirim, coba lagi`", body = Empty),
    )
)]
pub async fn request_otp_forgot_password(
    req: HttpRequest,
    auth: web::Data<Auth>,
    store: web::Data<Store>,
    http: web::Data<HttpSettings>,
    body: Json<OtpRequest>,
) -> Result<HttpResponse, AppError> {
    let OtpRequest { telp, .. } = body.into_inner();
    let requester = requester(&req, &auth, &http);
    let purpose = CodePurpose::ForgotPassword;
    // While codes are guessed, few are sent to strangers, who may also use up the number's own limit. A phone that is known as the
    // customer's has separate limits and still gets its code.
    let request = match requester.known_by_number(&auth, &telp).await? {
        Some(phone) => CodeRequest { purpose, by: Asker::Customer(phone.customer), alarm_since: None },
        None => {
            let by = Asker::Address(requester.address);
            let request = CodeRequest { purpose, by, alarm_since: auth.reset_alarm.since(store.now()) };
            code::admit(&auth, request).await?;
            if !registered(&auth, &telp, requester.address, false).await? {
                return Err(AppError::TelpUnknown);
            }
            request
        }
    };
    code::send(&auth, request, telp).await?;
    Ok(done(SENT))
}
