//! `POST /scan/v1/akun/request_otp_password`: a code for a changed password (docs/contract.md §1, table).

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_identity::auth::Auth;
use nyala_identity::auth::code::{self, CodeRequest};
use nyala_identity::auth::code_purpose::{Asker, CodePurpose};
use nyala_store::config::HttpSettings;
use nyala_store::db::Store;

use super::credentials;
use crate::api::auth::customer::Customer;
use crate::api::auth::request_otp::SENT;
use crate::http::answer::{Empty, done};
use crate::http::client_ip::counted;
use crate::http::error::AppError;

/// Sends a code to the customer's own number.
#[utoipa::path(
    post, path = "/scan/v1/akun/request_otp_password", tag = "akun", security(("pelanggan" = [])),
    responses(
        (status = 200, body = Empty),
        (status = 401, body = Empty),
        (status = 429, description = "Within 60 s or over a limit; `Retry-After` in seconds", body = Empty),
        (status = 503, description = "`kode gagal dikirim, coba lagi`", body = Empty),
    )
)]
pub async fn request_otp_password(
    req: HttpRequest,
    auth: web::Data<Auth>,
    store: web::Data<Store>,
    http: web::Data<HttpSettings>,
    customer: Customer,
) -> Result<HttpResponse, AppError> {
    let (telp, _) = credentials(&store, customer.id).await?;
    let by = Asker::Address(counted(&req, &http.trusted_proxies));
    code::send(&auth, CodeRequest { purpose: CodePurpose::UpdatePassword, by, alarm_since: None }, telp).await?;
    Ok(done(SENT))
}
