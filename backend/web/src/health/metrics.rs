//! `GET /metrics`: for Prometheus.

use std::time::Duration;

use actix_web::{HttpRequest, HttpResponse, web};
use futures_util::future::try_join;
use nyala_core::purchase::state::{PurchaseState, open_states};
use nyala_identity::auth::Auth;
use nyala_ledger::push_queue;
use nyala_store::config::HttpSettings;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;

use super::access;
use crate::alerts;
use crate::http::answer::Empty;
use crate::http::dev_guard::came_by_proxy;
use crate::http::error::AppError;
use crate::metrics::ServerMetrics;

/// Time limit for counting the open purchases.
const DATABASE_LIMIT: Duration = Duration::from_secs(2);

const OPEN: &str = concat!("SELECT state, count(*) FROM snap_transaksi WHERE state IN ", open_states!(), " GROUP BY state");

/// All metrics in the OpenMetrics text format, in base units. Works without a database too (`nyala_database_up` 0). Only this machine and
/// `http.metrics_from` may read it, and no client through a proxy; `http.metrics_port` serves it to every client that reaches that port.
#[utoipa::path(
    get, path = "/metrics", tag = "health",
    responses(
        (status = 200, body = String, content_type = "application/openmetrics-text"),
        (status = 403, body = Empty, description = "Not from this machine or `http.metrics_from`, or through a proxy")
    )
)]
pub async fn metrics(
    req: HttpRequest,
    http: web::Data<HttpSettings>,
    store: web::Data<Store>,
    auth: web::Data<Auth>,
    counted: web::Data<ServerMetrics>,
) -> Result<HttpResponse, AppError> {
    if access::is_operator(&req, &http) { page(&store, &auth, &counted).await } else { Err(access::refuse(&req)) }
}

/// The same at `http.metrics_port`, from any address.
pub async fn at_own_port(
    req: HttpRequest,
    store: web::Data<Store>,
    auth: web::Data<Auth>,
    counted: web::Data<ServerMetrics>,
) -> Result<HttpResponse, AppError> {
    if came_by_proxy(req.version(), req.headers()) { Err(access::refuse(&req)) } else { page(&store, &auth, &counted).await }
}

async fn page(store: &Store, auth: &Auth, counted: &ServerMetrics) -> Result<HttpResponse, AppError> {
    let open = tokio::time::timeout(DATABASE_LIMIT, open_purchases(store)).await.ok().and_then(Result::ok);
    counted.database_up(open.is_some());
    counted.machines.purchases_open(open.as_deref());
    let due = try_join(push_queue::waiting(store), alerts::queue::waiting(store));
    if let Ok(Ok((customers, staff))) = tokio::time::timeout(DATABASE_LIMIT, due).await {
        counted.push.waiting(customers + staff);
    }
    // On a timeout the last measurement stays, as for the pushes.
    let _ = tokio::time::timeout(DATABASE_LIMIT, auth.sent_codes.measure(store)).await;
    auth.reset_alarm.since(store.now()); // an alarm that is over resets its gauge when it is queried
    let text = counted.encode().map_err(AppError::internal)?;
    Ok(HttpResponse::Ok().content_type("application/openmetrics-text; version=1.0.0; charset=utf-8").body(text))
}

async fn open_purchases(store: &Store) -> Result<Vec<(PurchaseState, i64)>, DbError> {
    let client = store.get().await?;
    let stmt = client.prepare_cached(OPEN).await?;
    let rows = client.query(&stmt, &[]).await?;
    Ok(rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_, tokio_postgres::Error>>()?)
}
