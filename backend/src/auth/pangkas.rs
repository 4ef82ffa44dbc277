//! What is of no use any more is forgotten: wrong passwords past their window, and old codes with the numbers and addresses in them.

use std::time::Duration;

use crate::app::AppState;
use crate::http::error::AppError;

const EVERY: Duration = Duration::from_secs(3600);
const HOUR_MS: i64 = 3_600_000;
/// Past every limit that counts codes, and long enough to say `your otp is invalid` to whoever tries an old one.
const CODES_MS: i64 = 30 * 24 * HOUR_MS;

/// Runs until the process ends.
pub async fn forever(state: AppState) {
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        if let Err(e) = prune(&state).await {
            tracing::warn!(error = %e, "old codes were not forgotten; it will be tried again");
        }
    }
}

async fn prune(state: &AppState) -> Result<(), AppError> {
    let now = state.jam.now();
    let client = state.db.get().await?;
    client.execute("DELETE FROM login_gagal WHERE created_at <= $1", &[&now.plus_ms(-HOUR_MS)]).await?;
    client.execute("DELETE FROM kode_otp WHERE created_at <= $1", &[&now.plus_ms(-CODES_MS)]).await?;
    Ok(())
}
