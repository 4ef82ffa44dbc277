//! `POST /scan/v1/auth/request_otp`: a code for a new account (docs/contract.md §1, table).

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::AppState;
use crate::auth::code::{self, Asker, CodePurpose, Recipient};
use crate::domain::telp::{CountryCode, Telp};
use crate::http::answer::{Empty, done};
use crate::http::client_ip::counted;
use crate::http::error::AppError;
use crate::http::json::Json;

/// What a request for a code says when it went out.
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
pub async fn request_otp(req: HttpRequest, state: web::Data<AppState>, body: Json<OtpRequest>) -> Result<HttpResponse, AppError> {
    let OtpRequest { telp, .. } = body.into_inner();
    if registered(&state, &telp).await?.is_some() {
        return Err(AppError::TelpTaken);
    }
    let by = Asker::Address(counted(&req, &state.config.http.trusted_proxies));
    code::send(&state, CodePurpose::Register, Recipient { telp, by, alarm_since: None }).await?;
    Ok(done(SENT))
}

/// The id and the token version of `telp`'s account, when it has one.
pub async fn registered(state: &AppState, telp: &Telp) -> Result<Option<(i64, i32)>, AppError> {
    let client = state.store.get().await?;
    let stmt = client.prepare_cached("SELECT id, token_version FROM customer_global WHERE telp = $1").await?;
    let row = client.query_opt(&stmt, &[&telp.as_str()]).await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
}
