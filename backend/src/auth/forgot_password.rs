//! `POST /scan/v1/auth/forgot_password`: a new password with a code (contract §1, table).

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use utoipa::ToSchema;

use super::kode::{self, Tujuan};
use super::{Change, change_password, password};
use crate::app::AppState;
use crate::domain::kata_sandi::KataSandi;
use crate::domain::telp::Telp;
use crate::http::answer::{Empty, done};
use crate::http::error::AppError;
use crate::http::input::Secret;
use crate::http::json::Json;

#[derive(Debug, Deserialize, ToSchema)]
pub struct ForgotPasswordRequest {
    #[schema(value_type = String, example = "123456")]
    otp: Secret,
    #[schema(value_type = String, example = "6281234567890")]
    telp: Telp,
    /// 8 to 128 characters.
    #[schema(value_type = String, format = Password, min_length = 8, max_length = 128)]
    password: Secret,
}

/// Sets a new password and ends every token of the account.
#[utoipa::path(
    post, path = "/scan/v1/auth/forgot_password", tag = "auth", request_body = ForgotPasswordRequest,
    responses(
        (status = 200, body = Empty),
        (status = 400, body = Empty),
        (status = 404, description = "`record not found`: no code was ever asked for", body = Empty),
        (status = 422, description = "`your otp is invalid` or a short password", body = Empty),
        (status = 429, description = "Too many passwords at once; `Retry-After` in seconds", body = Empty),
    )
)]
pub async fn forgot_password(state: web::Data<AppState>, body: Json<ForgotPasswordRequest>) -> Result<HttpResponse, AppError> {
    let ForgotPasswordRequest { otp, telp, password } = body.into_inner();
    let kata_sandi = KataSandi::parse(password)?;
    let code = kode::take_try(&state, Tujuan::ForgotPassword, &telp, &otp).await?.ok_or(AppError::RecordNotFound)?;
    let hash = password::hash(&state, kata_sandi.as_str()).await?;
    change_password(&state, Change { code, telp, hash, old_hash: None }).await?.ok_or(AppError::RecordNotFound)?;
    Ok(done("Sandi diperbaruhi"))
}
