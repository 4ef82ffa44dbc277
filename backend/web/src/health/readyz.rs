//! `GET /readyz`: whether a load balancer may send requests to this server.

use std::time::Duration;

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_cluster::membership::{self, TTL_MS};
use nyala_machines::machines::Machines;
use nyala_store::config::HttpSettings;
use nyala_store::db::error::DbError;
use nyala_store::db::writes::Writes;
use nyala_store::db::{Store, keys};
use nyala_store::secrets::Keyring;

use super::access;
use super::reasons::Reasons;
use crate::http::answer::{Empty, done};

/// Time limit for the database's response.
const DATABASE_LIMIT: Duration = Duration::from_secs(2);
/// Lease TTL among several servers: when the database has not responded for this long, other servers own this server's machines.
const LEASE_TTL: Duration = Duration::from_millis(TTL_MS.unsigned_abs());

/// 200 when the server takes work and the database answers and writes; 503 while starting, while stopping, and without such a database. The
/// reason is logged, and shown to clients that may read `/metrics`. So is which server lacks a key of `secrets.toml`: that is no reason not to
/// send requests, because no server signs with a key that another one lacks.
#[utoipa::path(
    get, path = "/readyz", tag = "health",
    responses((status = 200, body = Empty), (status = 503, body = Empty, description = "Starting, stopping, no database, or one that cannot write"))
)]
pub async fn readyz(
    req: HttpRequest,
    http: web::Data<HttpSettings>,
    store: web::Data<Store>,
    writes: web::Data<Writes>,
    machines: web::Data<Machines>,
    reasons: web::Data<Reasons>,
    keyring: web::Data<Keyring>,
) -> HttpResponse {
    let why_not = why_not(&store, &writes, &machines).await;
    reasons.ready(why_not);
    if why_not.is_none() {
        let keys = tokio::time::timeout(DATABASE_LIMIT, missing_keys(&store, &machines, &keyring)).await;
        // If the database does not answer, no key counts as missing.
        let missing = keys.ok().and_then(Result::ok).unwrap_or_default().join(", ");
        reasons.keys((!missing.is_empty()).then_some(&missing));
        if !missing.is_empty() && access::is_operator(&req, &http) {
            return done(&format!("OK, tetapi kunci belum sama: {missing}"));
        }
    }
    access::respond(&req, &http, why_not, "belum siap")
}

/// Which servers lack a key of `secrets.toml` or accept one that was retired.
async fn missing_keys(store: &Store, machines: &Machines, keyring: &Keyring) -> Result<Vec<String>, DbError> {
    let client = store.get().await?;
    let servers = if machines.ownership().is_alone() {
        vec![("server ini".to_owned(), keyring.get().good_kids())]
    } else {
        membership::keys(&client).await.map_err(DbError::broken)?
    };
    Ok(keys::differences(&***client, &servers).await?)
}

/// `None` when the server is ready.
async fn why_not(store: &Store, writes: &Writes, machines: &Machines) -> Option<&'static str> {
    if !machines.are_open() {
        return Some("sedang mulai atau berhenti");
    }
    if machines.ownership().silence() > LEASE_TTL {
        return Some("basis data tidak menjawab");
    }
    match tokio::time::timeout(DATABASE_LIMIT, ask_database(store, writes)).await {
        Ok(Ok(true)) => None,
        Ok(Ok(false)) => Some("basis data tidak dapat menyimpan"),
        Ok(Err(_)) | Err(_) => Some("basis data tidak menjawab"),
    }
}

/// Whether the database accepts writes; an error when it does not respond at all.
async fn ask_database(store: &Store, writes: &Writes) -> Result<bool, DbError> {
    let mut client = store.get().await?;
    client.batch_execute("SELECT 1").await?;
    Ok(writes.succeed(&mut client, store.now()).await?)
}
