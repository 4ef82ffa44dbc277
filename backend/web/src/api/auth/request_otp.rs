//! `POST /scan/v1/auth/request_otp`: a code for a new account (docs/contract.md §1, table).

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::telp::{CountryCode, Telp};
use nyala_identity::auth::Auth;
use nyala_identity::auth::account::registered;
use nyala_identity::auth::code::{self, CodeRequest};
use nyala_identity::auth::code_purpose::{Asker, CodePurpose};
use nyala_store::config::HttpSettings;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::http::answer::{Empty, done};
use crate::http::client_ip::counted;
use crate::http::error::AppError;
use crate::http::json::Json;

/// Message of the response after a code was sent.
pub const SENT: &str = "kode dikirim lewat WhatsApp";

#[derive(Debug, Deserialize, ToSchema)]
pub struct OtpRequest {
    pub telp: Telp,
    #[serde(rename = "country_code")]
    _country_code: CountryCode,
}

/// Sends a code to a number that has no account yet.
#[utoipa::path(
    post, path = "/scan/v1/auth/request_otp", tag = "auth", request_body = OtpRequest,
    responses(
        (status = 200, body = Empty),
        (status = 400, body = Empty),
        (status = 409, description = "`nomor sudah terdaftar`", body = Empty),
        (status = 429, description = "Within 60 s or over a limit; `Retry-After` in seconds", body = Empty),
        (status = 503, description = "`kode gagal dikirim, coba lagi`", body = Empty),
    )
)]
pub async fn request_otp(
    req: HttpRequest,
    auth: web::Data<Auth>,
    http: web::Data<HttpSettings>,
    body: Json<OtpRequest>,
) -> Result<HttpResponse, AppError> {
    let OtpRequest { telp, .. } = body.into_inner();
    let address = counted(&req, &http.trusted_proxies);
    let request = CodeRequest { purpose: CodePurpose::Register, by: Asker::Address(address), alarm_since: None };
    code::admit(&auth, request).await?;
    if registered(&auth, &telp, address, true).await? {
        return Err(AppError::TelpTaken);
    }
    code::send(&auth, request, telp).await?;
    Ok(done(SENT))
}
