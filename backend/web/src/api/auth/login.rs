//! `POST /scan/v1/auth/login` (docs/contract.md §1, table).

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::password::composed;
use nyala_core::domain::secret::Secret;
use nyala_core::domain::telp::{CountryCode, Telp};
use nyala_identity::auth::Auth;
use nyala_identity::auth::lane::Lane;
use nyala_identity::auth::login_limits::Who;
use nyala_identity::auth::password::{self, Compared, QueuePlace};
use nyala_identity::auth::requester::Requester;
use nyala_store::config::HttpSettings;
use nyala_store::db::Store;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{TokenData, logged_in, requester};
use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;

#[derive(Debug, Deserialize, ToSchema)]
pub struct LoginRequest {
    #[serde(rename = "country_code")]
    _country_code: CountryCode,
    telp: Telp,
    #[schema(value_type = String, format = Password)]
    password: Secret,
}

/// Exchanges number and password for a token.
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
pub async fn login(
    req: HttpRequest,
    auth: web::Data<Auth>,
    store: web::Data<Store>,
    http: web::Data<HttpSettings>,
    body: Json<LoginRequest>,
) -> Result<HttpResponse, AppError> {
    let LoginRequest { telp, password, .. } = body.into_inner();
    let requester = requester(&req, &auth, &http);
    let limits = &auth.login_limits;
    if requester.phone.is_none() {
        limits.admit(requester.address, store.now())?;
    }
    let Some(account) = find(&store, telp).await? else {
        // The response differs from that for a wrong password (the table), so computing a hash would hide nothing.
        limits.take(requester.address, store.now())?;
        return Err(AppError::RecordNotFound);
    };
    if is_right((&auth, &store), &requester, &password, &account).await? {
        logged_in(&auth, &http, &req, "OK", account.id, account.version)
    } else {
        Err(AppError::PasswordIncorrect)
    }
}

/// Whether the password is that of the account. A wrong one counts against the limits of logins.
pub async fn is_right(
    (auth, store): (&Auth, &Store),
    requester: &Requester,
    password: &str,
    account: &Account,
) -> Result<bool, AppError> {
    let limits = &auth.login_limits;
    let known_as = requester.known_as(account.id, account.version);
    let stranger = || Who::Stranger { number: account.telp.clone(), address: requester.address };
    let attempt = limits.reserve(known_as.map_or_else(stranger, Who::Phone), store.now())?;
    let right = compare((auth, store), requester.lane(known_as), password, account).await;
    if !matches!(right, Ok(false)) {
        limits.refund(&attempt);
    }
    right
}

async fn compare((auth, store): (&Auth, &Store), lane: Lane, password: &str, account: &Account) -> Result<bool, AppError> {
    let place = password::reserve(auth, lane)?;
    let compared = place.compare(password, &account.hash).await?;
    if compared == Compared::Older {
        // If this fails, the next login tries again; the password is right in any case.
        if let Err(error) = replace_hash(store, &place, password, account).await {
            tracing::warn!(%error, "the older hash of a right password stays");
        }
    }
    Ok(compared != Compared::Wrong)
}

/// Stores a newer hash of the same password. The password does not change, so no token ends and `updated_at` stays.
async fn replace_hash(store: &Store, place: &QueuePlace, password: &str, account: &Account) -> Result<(), AppError> {
    const REPLACE: &str = "UPDATE customer_global SET password_hash = $3 WHERE id = $1 AND password_hash = $2";
    let hash = place.hash(&composed(password)).await?;
    let client = store.get().await?;
    client.execute(&client.prepare_cached(REPLACE).await?, &[&account.id, &account.hash, &hash]).await?;
    Ok(())
}

/// A customer who logs in.
pub struct Account {
    pub id: CustomerId,
    pub telp: Telp,
    pub hash: String,
    pub version: i32,
}

async fn find(store: &Store, telp: Telp) -> Result<Option<Account>, AppError> {
    let client = store.get().await?;
    let stmt = client.prepare_cached("SELECT id, password_hash, token_version FROM customer_global WHERE telp = $1").await?;
    let row = client.query_opt(&stmt, &[&telp.as_str()]).await?;
    row.map(|row| Ok(Account { id: row.try_get(0)?, telp, hash: row.try_get(1)?, version: row.try_get(2)? })).transpose()
}
