//! `POST /scan/v1/akun/update_password`: the old password and a code for a new one (docs/contract.md §1, table).

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::password::Password;
use nyala_core::domain::secret::Secret;
use nyala_identity::auth::Auth;
use nyala_identity::auth::change_password::{PasswordChange, change_password};
use nyala_identity::auth::code_purpose::CodePurpose;
use nyala_identity::auth::code_try;
use nyala_identity::auth::lane::Lane;
use nyala_identity::auth::password::{self, Compared};
use nyala_store::config::HttpSettings;
use nyala_store::db::Store;
use serde::Deserialize;
use utoipa::ToSchema;

use super::credentials;
use crate::api::auth::customer::Customer;
use crate::api::auth::{TokenData, logged_in, requester};
use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::SixDigits;

#[derive(Debug, Deserialize, ToSchema)]
pub struct UpdatePasswordRequest {
    #[schema(value_type = SixDigits)]
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
        (status = 429, description = "Too many failed tries, or passwords at once; `Retry-After` in seconds", body = Empty),
    )
)]
pub async fn update_password(
    req: HttpRequest,
    auth: web::Data<Auth>,
    store: web::Data<Store>,
    http: web::Data<HttpSettings>,
    customer: Customer,
    body: Json<UpdatePasswordRequest>,
) -> Result<HttpResponse, AppError> {
    let UpdatePasswordRequest { otp, password_lama, password_baru } = body.into_inner();
    let password = Password::parse(&password_baru)?;
    let (telp, old_hash) = credentials(&store, customer.id).await?;
    let requester = requester(&req, &auth, &http);
    let place = password::reserve(&auth, Lane::Customer(customer.id, requester.address))?;
    let known_as = requester.known_by_number(&auth, &telp).await?;
    let code = code_try::take_try(&auth, &requester, known_as, CodePurpose::UpdatePassword, &telp, &otp);
    let code = code.await?.ok_or(AppError::OtpInvalid)?;
    if place.compare(&password_lama, &old_hash).await? == Compared::Wrong {
        return Err(AppError::OldPasswordWrong);
    }
    let hash = place.hash(password.as_str()).await?;
    let change = PasswordChange { code, telp, hash, old_hash: Some(old_hash) };
    let (id, version) = change_password(&auth, change).await?.ok_or(AppError::OldPasswordWrong)?;
    logged_in(&auth, &http, &req, "Berhasil merubah sandi", id, version)
}
