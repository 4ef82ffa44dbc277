//! Nothing is forgotten: open purchases come back at boot, and what a timer or a message lost is found again (design: money 7, 8).

use std::time::Duration;

use actix::dev::ToEnvelope;
use actix::{Context, Handler, Message};
use tokio_postgres::Row;

use super::fakta;
use crate::app::AppState;
use crate::domain::waktu::Waktu;
use crate::http::error::AppError;
use crate::mesin::actor::MesinActor;
use crate::mesin::messages::{AskDevice, Reload};
use crate::mesin::registry::Alamat;

/// How often lost work is looked for.
const EVERY: Duration = Duration::from_secs(1);
/// The outbox relay takes only rows older than this: the actor itself sends right after the commit.
const RELAY_AFTER_MS: i64 = 2_000;
/// A deadline this far past means that its timer was lost.
const LATE_MS: i64 = 1_000;
/// Machines that wait for staff are asked this often whether they still run something.
const ASK_EVERY_ROUNDS: u64 = 15;
const BATCH: i64 = 1_000;

/// Every open purchase gets its machine's actor back. Returns how many.
pub async fn resume(state: &AppState) -> Result<usize, AppError> {
    let client = state.db.get().await?;
    let open = fakta::semua_terbuka(&client).await?;
    let n = open.len();
    for t in open {
        let alamat = Alamat { idmesin: t.idmesin, idoutlet: t.idoutlet, driver: t.driver };
        state.mesin.resume(state, &alamat, t.pembelian)?;
    }
    let stmt = client.prepare_cached(SIM_ONLINE).await?;
    client.execute(&stmt, &[&state.sim.offline()]).await?;
    Ok(n)
}

/// What simulated devices said of being reachable may have been lost with the process that heard it; they say it again, as a
/// broker keeps the last word of a real one.
const SIM_ONLINE: &str = "
UPDATE mesin SET online = NOT online WHERE driver = 'sim' AND online = (idmesin = ANY($1))";

/// Runs until the process ends.
pub async fn reap_forever(state: AppState) {
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for round in 0_u64.. {
        every.tick().await;
        if let Err(e) = reap(&state, round).await {
            tracing::warn!(error = %e, "looking for lost work failed; it will be tried again");
        }
    }
}

const OVERDUE: &str = "
SELECT t.idmesin, t.idoutlet, m.driver FROM snap_transaksi t JOIN mesin m USING (idmesin)
WHERE (t.state = 'RUNNING' AND t.ends_at <= $1)
   OR (t.state IN ('HELD', 'SENT') AND t.cmd_exp <= $1)
   OR (t.state = 'UNSURE' AND t.created_at <= $2)
LIMIT $3";

const RELAY: &str = "
WITH due AS (
    SELECT id FROM outbox WHERE available_at <= $1 ORDER BY available_at LIMIT $3 FOR UPDATE SKIP LOCKED
)
UPDATE outbox o SET attempts = attempts + 1, available_at = $2 FROM due, mesin m
WHERE o.id = due.id AND m.idmesin = o.idmesin RETURNING o.idmesin, m.idoutlet, m.driver";

/// A stop that came while its run ended is left behind.
const SWEEP: &str = "
DELETE FROM outbox o USING snap_transaksi t
WHERE t.id = o.idtransaksi AND o.available_at <= $1 AND t.state NOT IN ('HELD', 'SENT', 'UNSURE', 'RUNNING')";

/// In any order, so that all have their turn when they are more than a batch.
const STAFF: &str = "SELECT idmesin, idoutlet, driver FROM mesin WHERE perlu_petugas ORDER BY random() LIMIT $1";

async fn reap(state: &AppState, round: u64) -> Result<(), AppError> {
    let now = state.jam.now();
    let client = state.db.get().await?;
    let overdue = client.prepare_cached(OVERDUE).await?;
    let gave_up: Waktu = now.plus_ms(-LATE_MS - super::batas::GIVE_UP_MS);
    let late = client.query(&overdue, &[&now.plus_ms(-LATE_MS), &gave_up, &BATCH]).await?;
    tell_all(state, &late, Reload)?;
    let relay_before = now.plus_ms(-RELAY_AFTER_MS);
    let sweep = client.prepare_cached(SWEEP).await?;
    client.execute(&sweep, &[&relay_before]).await?;
    let relay = client.prepare_cached(RELAY).await?;
    let due = client.query(&relay, &[&relay_before, &now.plus_ms(RELAY_AFTER_MS), &BATCH]).await?;
    tell_all(state, &due, Reload)?;
    if round.is_multiple_of(ASK_EVERY_ROUNDS) {
        let staff = client.query(STAFF, &[&BATCH]).await?;
        tell_all(state, &staff, AskDevice)?;
    }
    Ok(())
}

/// Tells each of these machines; one whose mailbox is full does not keep the others from hearing it.
fn tell_all<M>(state: &AppState, rows: &[Row], msg: M) -> Result<(), AppError>
where
    M: Message<Result = ()> + Copy + Send + 'static,
    MesinActor: Handler<M>,
    Context<MesinActor>: ToEnvelope<MesinActor, M>,
{
    for row in rows {
        let alamat = alamat(row)?;
        if let Err(e) = state.mesin.tell(state, &alamat, msg) {
            tracing::warn!(error = %e, idmesin = alamat.idmesin, "a machine cannot be told to look again; it will be tried again");
        }
    }
    Ok(())
}

fn alamat(row: &Row) -> Result<Alamat, AppError> {
    Ok(Alamat { idmesin: row.try_get(0)?, idoutlet: row.try_get(1)?, driver: row.try_get(2)? })
}
