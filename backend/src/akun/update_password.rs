//! `POST /scan/v1/akun/update_password`: the old password and a code for a new one (contract §1, table).

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use utoipa::ToSchema;

use super::credentials;
use crate::app::AppState;
use crate::auth::kode::{self, Tujuan};
use crate::auth::pelanggan::Pelanggan;
use crate::auth::{Change, TokenData, change_password, password};
use crate::domain::kata_sandi::KataSandi;
use crate::http::answer::{Answer, Empty, ok_with};
use crate::http::error::AppError;
use crate::http::input::Secret;
use crate::http::json::Json;

#[derive(Debug, Deserialize, ToSchema)]
pub struct UpdatePasswordRequest {
    #[schema(value_type = String, example = "123456")]
    otp: Secret,
    #[schema(value_type = String, format = Password)]
    password_lama: Secret,
    /// 8 to 128 characters.
    #[schema(value_type = String, format = Password, min_length = 8, max_length = 128)]
    password_baru: Secret,
}

/// Changes the password and ends every older token; the answer's token keeps the customer logged in.
#[utoipa::path(
    post, path = "/scan/v1/akun/update_password", tag = "akun", security(("pelanggan" = [])), request_body = UpdatePasswordRequest,
    responses(
        (status = 200, body = Answer<TokenData>),
        (status = 400, body = Empty),
        (status = 401, body = Empty),
        (status = 422, description = "`your otp is invalid`, `hashedPassword is not the hash of the given password` or a short password", body = Empty),
        (status = 429, description = "Too many passwords at once; `Retry-After` in seconds", body = Empty),
    )
)]
pub async fn update_password(
    state: web::Data<AppState>,
    pelanggan: Pelanggan,
    body: Json<UpdatePasswordRequest>,
) -> Result<HttpResponse, AppError> {
    let UpdatePasswordRequest { otp, password_lama, password_baru } = body.into_inner();
    let kata_sandi = KataSandi::parse(password_baru)?;
    let (telp, old_hash) = credentials(&state, pelanggan.id).await?;
    let code = kode::take_try(&state, Tujuan::UpdatePassword, &telp, &otp).await?.ok_or(AppError::OtpInvalid)?;
    if !password::verify(&state, &password_lama, &old_hash).await? {
        return Err(AppError::OldPasswordWrong);
    }
    let hash = password::hash(&state, kata_sandi.as_str()).await?;
    let change = Change { code, telp, hash, old_hash: Some(old_hash) };
    let (id, version) = change_password(&state, change).await?.ok_or(AppError::OldPasswordWrong)?;
    Ok(ok_with("Berhasil merubah sandi", TokenData { token: state.auth.tokens.mint(id, version, state.jam.now())? }))
}
