//! `POST /scan/v1/auth/request_otp_forgot_password`: a code for a new password (docs/contract.md §1, table).

use actix_web::{HttpRequest, HttpResponse, web};

use super::request_otp::{OtpRequest, SENT, registered};
use crate::app::AppState;
use crate::auth::code::{self, Asker, CodePurpose, Recipient};
use crate::auth::requester::Requester;
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
    state: web::Data<AppState>,
    body: Json<OtpRequest>,
) -> Result<HttpResponse, AppError> {
    let OtpRequest { telp, .. } = body.into_inner();
    let (id, version) = registered(&state, &telp).await?.ok_or(AppError::TelpUnknown)?;
    let requester = Requester::of(&req, &state);
    // While codes are guessed few go to strangers, who may also ask for as many as a number gets; a phone that is known as the
    // customer's own gets its own all the same.
    let (by, alarm_since) = match requester.known_as(id, version) {
        Some(_) => (Asker::Customer(id), None),
        None => (Asker::Address(requester.address), state.auth.reset_alarm.since(state.store.now())),
    };
    code::send(&state, CodePurpose::ForgotPassword, Recipient { telp, by, alarm_since }).await?;
    Ok(done(SENT))
}
