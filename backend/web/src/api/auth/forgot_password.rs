//! `POST /scan/v1/auth/forgot_password`: a new password with a code (docs/contract.md §1, table).

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::password::Password;
use nyala_core::domain::secret::Secret;
use nyala_core::domain::telp::Telp;
use nyala_identity::auth::Auth;
use nyala_identity::auth::change_password::{PasswordChange, change_password};
use nyala_identity::auth::code_purpose::CodePurpose;
use nyala_identity::auth::code_try;
use nyala_identity::auth::password;
use nyala_store::config::HttpSettings;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{remember_phone, requester};
use crate::http::answer::{Empty, done};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::SixDigits;

#[derive(Debug, Deserialize, ToSchema)]
pub struct ForgotPasswordRequest {
    #[schema(value_type = SixDigits)]
    otp: Secret,
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
        (status = 429, description = "Too many failed tries, or passwords at once; `Retry-After` in seconds", body = Empty),
    )
)]
pub async fn forgot_password(
    req: HttpRequest,
    auth: web::Data<Auth>,
    http: web::Data<HttpSettings>,
    body: Json<ForgotPasswordRequest>,
) -> Result<HttpResponse, AppError> {
    let ForgotPasswordRequest { otp, telp, password } = body.into_inner();
    let password = Password::parse(&password)?;
    let requester = requester(&req, &auth, &http);
    let known_as = requester.known_by_number(&auth, &telp).await?;
    let place = password::reserve(&auth, requester.lane(known_as))?;
    let code = code_try::take_try(&auth, &requester, known_as, CodePurpose::ForgotPassword, &telp, &otp);
    let code = code.await?.ok_or(AppError::RecordNotFound)?;
    let hash = place.hash(password.as_str()).await?;
    let change = PasswordChange { code, telp, hash, old_hash: None };
    let (id, version) = change_password(&auth, change).await?.ok_or(AppError::RecordNotFound)?;
    let mut answer = done("Sandi diperbaruhi");
    // The code was sent to the customer's own number, so this login is not a stranger's.
    remember_phone(&auth, &http, &req, &mut answer, id, version)?;
    Ok(answer)
}
