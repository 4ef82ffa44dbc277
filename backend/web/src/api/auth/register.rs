//! `POST /scan/v1/auth/register`: creates an account and logs it in (docs/contract.md §1, table).

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::name::Name;
use nyala_core::domain::password::Password;
use nyala_core::domain::secret::Secret;
use nyala_core::domain::telp::{CountryCode, Telp};
use nyala_identity::auth::Auth;
use nyala_identity::auth::code_purpose::CodePurpose;
use nyala_identity::auth::code_try::{self, RightCode};
use nyala_identity::auth::password;
use nyala_ledger::opening;
use nyala_store::config::HttpSettings;
use nyala_store::db::Store;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{TokenData, logged_in, requester};
use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{FullName, SixDigits};

#[derive(Debug, Deserialize, ToSchema)]
pub struct RegisterRequest {
    #[schema(value_type = SixDigits)]
    otp: Secret,
    telp: Telp,
    #[serde(rename = "country_code")]
    _country_code: CountryCode,
    /// 8 to 128 characters.
    #[schema(value_type = String, format = Password, min_length = 8, max_length = 128)]
    password: Secret,
    #[schema(value_type = FullName)]
    nama: String,
}

/// Opens an account with a code that was sent to its number.
#[utoipa::path(
    post, path = "/scan/v1/auth/register", tag = "auth", request_body = RegisterRequest,
    responses(
        (status = 200, body = Answer<TokenData>),
        (status = 400, body = Empty),
        (status = 404, description = "`record not found`: no code was ever asked for", body = Empty),
        (status = 409, description = "`nomor sudah terdaftar`: registered meanwhile", body = Empty),
        (status = 422, description = "`your otp is invalid`, a name of one word or a short password", body = Empty),
        (status = 429, description = "Too many failed tries, or passwords at once; `Retry-After` in seconds", body = Empty),
    )
)]
pub async fn register(
    req: HttpRequest,
    auth: web::Data<Auth>,
    store: web::Data<Store>,
    http: web::Data<HttpSettings>,
    body: Json<RegisterRequest>,
) -> Result<HttpResponse, AppError> {
    let RegisterRequest { otp, telp, password, nama, .. } = body.into_inner();
    let name = Name::parse(&nama)?;
    let password = Password::parse(&password)?;
    let requester = requester(&req, &auth, &http);
    // No phone is known for a number that has no account yet.
    let place = password::reserve(&auth, requester.lane(None))?;
    let code =
        code_try::take_try(&auth, &requester, None, CodePurpose::Register, &telp, &otp).await?.ok_or(AppError::RecordNotFound)?;
    let hash = place.hash(password.as_str()).await?;
    let (id, version) = insert(&store, &code, &telp, &name, &hash).await?;
    logged_in(&auth, &http, &req, "Registrasi Berhasil", id, version)
}

/// Creates the account, credits the balances that wait for its number, and uses up its code, all or nothing.
async fn insert(store: &Store, code: &RightCode, telp: &Telp, name: &Name, hash: &str) -> Result<(CustomerId, i32), AppError> {
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    code_try::consume(&tx, code, now).await?;
    let stmt = tx
        .prepare_cached(
            "INSERT INTO customer_global (telp, nama_awal, nama_akhir, password_hash, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT (telp) DO NOTHING RETURNING id, token_version",
        )
        .await?;
    let row = tx.query_opt(&stmt, &[&telp.as_str(), &name.first, &name.last, &hash, &now]).await?.ok_or(AppError::TelpTaken)?;
    let made: (CustomerId, i32) = (row.try_get(0)?, row.try_get(1)?);
    opening::claim(&tx, made.0, telp, now).await?;
    tx.commit().await?;
    Ok(made)
}
