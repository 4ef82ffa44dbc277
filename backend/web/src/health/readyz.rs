//! `GET /readyz`: whether a load balancer may send requests to this server.

use std::time::Duration;

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_cluster::membership::TTL_MS;
use nyala_machines::machines::Machines;
use nyala_store::config::HttpSettings;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use nyala_store::db::writes::Writes;

use super::access;
use super::reasons::Reasons;
use crate::http::answer::Empty;

/// Time limit for the database's response.
const DATABASE_LIMIT: Duration = Duration::from_secs(2);
/// Lease TTL among several servers: when the database has not responded for this long, other servers own this server's machines.
const LEASE_TTL: Duration = Duration::from_millis(TTL_MS.unsigned_abs());

/// 200 when the server takes work and the database answers and writes; 503 while starting, while stopping, and without such a database. The
/// reason is logged, and shown to clients that may read `/metrics`.
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
) -> HttpResponse {
    let why_not = why_not(&store, &writes, &machines).await;
    reasons.ready(why_not);
    access::respond(&req, &http, why_not, "belum siap")
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
