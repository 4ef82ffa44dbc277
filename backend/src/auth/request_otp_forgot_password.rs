//! `POST /scan/v1/auth/request_otp_forgot_password`: a code for a new password (contract §1, table).

use actix_web::{HttpRequest, HttpResponse, web};

use super::kode::{self, Tujuan};
use super::request_otp::{OtpRequest, SENT, is_registered};
use crate::app::AppState;
use crate::http::answer::{Empty, done};
use crate::http::client_ip::counted;
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
    if !is_registered(&state, &telp).await? {
        return Err(AppError::TelpUnknown);
    }
    kode::send(&state, Tujuan::ForgotPassword, telp, counted(&req, &state.config.http.trusted_proxies)).await?;
    Ok(done(SENT))
}
