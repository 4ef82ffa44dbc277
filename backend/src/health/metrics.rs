//! `GET /metrics`: for Prometheus.

use std::time::Duration;

use actix_web::{HttpResponse, web};

use crate::app::AppState;
use crate::http::error::AppError;
use crate::purchase::state::PurchaseState;

/// How long counting the open purchases may take.
const DATABASE_LIMIT: Duration = Duration::from_secs(2);

const OPEN: &str =
    "SELECT state, count(*) FROM snap_transaksi WHERE state IN ('HELD', 'SENT', 'UNSURE', 'RUNNING') GROUP BY state";

/// Everything counted, in the OpenMetrics text format, base units. Answers without a database too (`nyala_database_up` 0).
#[utoipa::path(
    get, path = "/metrics", tag = "health",
    responses((status = 200, body = String, content_type = "application/openmetrics-text"))
)]
pub async fn metrics(state: web::Data<AppState>) -> Result<HttpResponse, AppError> {
    let open = tokio::time::timeout(DATABASE_LIMIT, open_purchases(&state)).await.ok().and_then(Result::ok);
    state.metrics.purchases_open(open.as_deref());
    state.auth.reset_alarm.since(state.clock.now()); // an alarm that is over says so when it is asked
    let text = state.metrics.encode().map_err(AppError::internal)?;
    Ok(HttpResponse::Ok().content_type("application/openmetrics-text; version=1.0.0; charset=utf-8").body(text))
}

async fn open_purchases(state: &AppState) -> Result<Vec<(PurchaseState, i64)>, AppError> {
    let client = state.db.get().await?;
    let stmt = client.prepare_cached(OPEN).await?;
    let rows = client.query(&stmt, &[]).await?;
    Ok(rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_, tokio_postgres::Error>>()?)
}
