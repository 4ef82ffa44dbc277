//! `POST /scan/v1/auth/login` (contract §1, table).

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{TokenData, kode, password};
use crate::app::AppState;
use crate::domain::telp::{CountryCode, Telp};
use crate::domain::waktu::Waktu;
use crate::http::answer::{Answer, Empty, ok};
use crate::http::error::AppError;
use crate::http::input::Secret;
use crate::http::json::Json;

/// Wrong passwords a number may have in `WINDOW_MS` before it has to wait.
const MAX_WRONG: i64 = 10;
const WINDOW_MS: i64 = 15 * 60 * 1000;

#[derive(Debug, Deserialize, ToSchema)]
pub struct LoginRequest {
    #[serde(rename = "country_code")]
    #[schema(value_type = String, example = "62")]
    _country_code: CountryCode,
    #[schema(value_type = String, example = "81234567890")]
    telp: Telp,
    #[schema(value_type = String, format = Password)]
    password: Secret,
}

/// Number and password for a token.
#[utoipa::path(
    post, path = "/scan/v1/auth/login", tag = "auth", request_body = LoginRequest,
    responses(
        (status = 200, body = Answer<TokenData>),
        (status = 400, body = Empty),
        (status = 401, description = "`password is incorrect`", body = Empty),
        (status = 404, description = "`record not found`: unknown number", body = Empty),
        (status = 429, description = "Too many wrong passwords; `Retry-After` in seconds", body = Empty),
    )
)]
pub async fn login(state: web::Data<AppState>, body: Json<LoginRequest>) -> Result<HttpResponse, AppError> {
    let LoginRequest { telp, password, .. } = body.into_inner();
    let Some(account) = find(&state, &telp).await? else {
        password::verify_nobody(&state, &password).await?;
        return Err(AppError::RecordNotFound);
    };
    refuse_until(account.wait_from, state.jam.now())?;
    let right = password::verify(&state, &password, &account.hash).await?;
    settle(&state, account.id, &telp, right).await?;
    Ok(ok(TokenData { token: state.auth.tokens.mint(account.id, account.version, state.jam.now())? }))
}

struct Account {
    id: i64,
    hash: String,
    version: i32,
    /// When the tenth-newest wrong password was given, if it still counts.
    wait_from: Option<Waktu>,
}

async fn find(state: &AppState, telp: &Telp) -> Result<Option<Account>, AppError> {
    let client = state.db.get().await?;
    let stmt = client
        .prepare_cached(
            "SELECT id, password_hash, token_version,
                    (SELECT g.created_at FROM login_gagal g WHERE g.telp = c.telp AND g.created_at > $2
                     ORDER BY g.created_at DESC OFFSET $3 LIMIT 1)
             FROM customer_global c WHERE telp = $1",
        )
        .await?;
    let since = state.jam.now().plus_ms(-WINDOW_MS);
    let row = client.query_opt(&stmt, &[&telp.as_str(), &since, &(MAX_WRONG - 1)]).await?;
    row.map(|row| {
        Ok(Account { id: row.try_get(0)?, hash: row.try_get(1)?, version: row.try_get(2)?, wait_from: row.try_get(3)? })
    })
    .transpose()
}

/// Notes a wrong password, or lets a right one pass. The wrong ones are counted again under a lock: of many tries at once no
/// more than ten learn whether they were right.
async fn settle(state: &AppState, id: i64, telp: &Telp, right: bool) -> Result<(), AppError> {
    let mut client = state.db.get().await?;
    let tx = client.transaction().await?;
    let lock = tx.prepare_cached("SELECT FROM customer_global WHERE id = $1 FOR NO KEY UPDATE").await?;
    tx.query(&lock, &[&id]).await?;
    let now = state.jam.now();
    let since = now.plus_ms(-WINDOW_MS);
    let count = tx
        .prepare_cached(
            "SELECT created_at FROM login_gagal WHERE telp = $1 AND created_at > $2 ORDER BY created_at DESC OFFSET $3 LIMIT 1",
        )
        .await?;
    let tenth = tx.query_opt(&count, &[&telp.as_str(), &since, &(MAX_WRONG - 1)]).await?;
    refuse_until(tenth.map(|row| row.try_get(0)).transpose()?, now)?;
    if right {
        return Ok(());
    }
    let note = tx
        .prepare_cached(
            "WITH lama AS (DELETE FROM login_gagal WHERE telp = $1 AND created_at <= $2)
             INSERT INTO login_gagal (telp, created_at) VALUES ($1, $3)",
        )
        .await?;
    tx.execute(&note, &[&telp.as_str(), &since, &now]).await?;
    tx.commit().await?;
    Err(AppError::PasswordIncorrect)
}

fn refuse_until(tenth: Option<Waktu>, now: Waktu) -> Result<(), AppError> {
    match tenth.map(|at| now.ms_until(at.plus_ms(WINDOW_MS))) {
        Some(wait_ms) if wait_ms > 0 => Err(AppError::TooMany { retry_s: kode::seconds_up(wait_ms) }),
        _ => Ok(()),
    }
}
