//! `POST /scan/v1/akun/hapus`: the customer goes (docs/money.md, A person's data).

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::deletion::Refusal;
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::secret::Secret;
use nyala_identity::auth::Auth;
use nyala_identity::auth::deletion::{self, Deleted, DeletionError, Terms};
use nyala_identity::auth::number_move::{ATTEMPT_AGAIN, MAX_ATTEMPTS};
use nyala_ledger::forfeit;
use nyala_ledger::newer_kinds;
use nyala_ledger::payout::has_open_purchase;
use nyala_store::backup::deletions;
use nyala_store::backup::folder::BackupFolder;
use nyala_store::config::ServerSettings;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use serde::Deserialize;
use utoipa::ToSchema;

use super::credentials;
use crate::api::auth::customer::Login;
use crate::api::auth::login::{self, Account};
use crate::api::auth::requester;
use crate::http::answer::{Empty, done};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::live::balances::Balances;
use crate::qris::Qris;

#[derive(Debug, Deserialize, ToSchema)]
pub struct HapusRequest {
    #[schema(value_type = String, format = Password)]
    password: Secret,
    /// Rupiah of all accounts together, which the customer gives up.
    #[schema(value_type = Option<i64>, minimum = 0)]
    lepas_saldo: Option<Rupiah>,
}

/// Deletes the customer, and ends all logins. The number may register again, and finds nothing.
#[utoipa::path(
    post, path = "/scan/v1/akun/hapus", operation_id = "akun_hapus", tag = "akun", security(("pelanggan" = [])), request_body = HapusRequest,
    responses(
        (status = 200, body = Empty),
        (status = 400, body = Empty),
        (status = 401, body = Empty),
        (status = 409, description = "`masih ada mesin yang belum selesai`, `masih ada pembayaran QRIS yang ditunggu`, `masih ada saldo Rp 50.000`: \
            `lepas_saldo` is not just that", body = Empty),
        (status = 422, description = "`hashedPassword is not the hash of the given password`", body = Empty),
        (status = 429, description = "Too many wrong passwords; `Retry-After` in seconds", body = Empty),
    )
)]
pub async fn hapus(
    req: HttpRequest,
    auth: web::Data<Auth>,
    store: web::Data<Store>,
    settings: web::Data<ServerSettings>,
    (bills, balances): (web::Data<Qris>, web::Data<Balances>),
    Login(session): Login,
    body: Json<HapusRequest>,
) -> Result<HttpResponse, AppError> {
    let HapusRequest { password, lepas_saldo } = body.into_inner();
    let (telp, hash) = credentials(&store, session.id).await?;
    let account = Account { id: session.id, telp, hash, version: session.version };
    if !login::is_right((&auth, &store), &requester(&req, &auth, &settings.http), &password, &account).await? {
        return Err(AppError::OldPasswordWrong);
    }
    let client = store.get().await?;
    newer_kinds::check(&client).await?;
    // Asked again when it is deleted. No bill is cancelled for a deletion that a machine prevents.
    if has_open_purchase(&*client, session.id, None).await? {
        return Err(DeletionError::Refused(Refusal::OpenPurchase).into());
    }
    drop(client);
    bills.cancel_all(&balances, session.id).await?;
    // Runs to its end even when the caller disconnects, so that open sockets are always notified of a committed deletion.
    let end = async move { delete((&auth, &store, &settings), &account, lepas_saldo.map(Rupiah::get)).await };
    actix_web::rt::spawn(end).await.map_err(AppError::internal)??;
    Ok(done("Akun sudah dihapus"))
}

async fn delete(
    (auth, store, settings): (&Auth, &Store, &ServerSettings),
    account: &Account,
    given_up: Option<i64>,
) -> Result<(), AppError> {
    for _ in 0..MAX_ATTEMPTS {
        if attempt((auth, store, settings), account, given_up).await? {
            return Ok(());
        }
        tokio::time::sleep(ATTEMPT_AGAIN).await;
    }
    Err(DbError::Busy.into())
}

/// False: another transaction holds the customer's row.
async fn attempt(
    (auth, store, settings): (&Auth, &Store, &ServerSettings),
    account: &Account,
    given_up: Option<i64>,
) -> Result<bool, AppError> {
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    if !forfeit::hold(&tx, account.id).await? {
        return Ok(false);
    }
    let terms = Terms::Asked { hash: &account.hash, given_up };
    let Deleted { telp, version } = deletion::delete(&tx, account.id, terms, &format!("pelanggan:{}", account.id), now).await?;
    tx.commit().await?;
    auth.versions.changed(account.id, version, now);
    auth.login_limits.forget(&telp);
    keep(&client, settings).await;
    Ok(true)
}

/// Lists the deletion in the backup, if there is one here, so that no restore undoes it.
async fn keep(client: &DbClient, settings: &ServerSettings) {
    let dir = &settings.backup.dir;
    if dir.as_os_str().is_empty() {
        return;
    }
    if let Err(error) = deletions::keep(&BackupFolder::at(dir), client).await {
        tracing::error!(%error, "a deletion is not listed in the backup yet; it will be tried again with the next base backup");
    }
}

impl From<DeletionError> for AppError {
    fn from(e: DeletionError) -> Self {
        match e {
            DeletionError::Gone => Self::Unauthorized,
            DeletionError::Refused(Refusal::OpenPurchase) => Self::Conflict("masih ada mesin yang belum selesai"),
            DeletionError::Refused(Refusal::AwaitsPayment) => Self::Conflict("masih ada pembayaran QRIS yang ditunggu"),
            DeletionError::Refused(Refusal::Balance(balance)) => Self::BalanceLeft(balance),
            DeletionError::Ledger(e) => e.into(),
        }
    }
}
