//! Nothing is forgotten: open purchases come back at boot, and what a timer or a message lost is found again
//! (docs/decisions/0007-a-machine-never-awaits-in-its-mailbox.md, docs/decisions/0008-recovery-at-each-edge.md).

use std::time::Duration;

use tokio_postgres::Row;

use super::actor::MachineInput;
use super::device;
use super::error::MachineError;
use super::machines::{Location, Machines};
use crate::domain::timestamp::Timestamp;
use crate::ledger::facts;
use crate::purchase::times::{CMD_LIFE_MS, GIVE_UP_MS};

/// How often lost work is looked for.
pub const EVERY: Duration = Duration::from_secs(1);
/// What is younger than this is not looked for: the actor itself sends right after the commit.
pub const RELAY_AFTER_MS: i64 = 2_000;
/// A deadline this far past means that its timer was lost.
pub const LATE_MS: i64 = 1_000;
/// Undecided purchases are looked at this often, because most of them have an actor that only waits for its device.
pub const UNDECIDED_EVERY_ROUNDS: u64 = 4;
/// Machines that wait for staff are asked this often whether they still run something.
pub const ASK_EVERY_ROUNDS: u64 = 15;
const BATCH: i64 = 1_000;

/// Every open purchase gets its machine's actor back. Returns how many.
pub async fn resume(machines: &Machines) -> Result<usize, MachineError> {
    let client = machines.parts().recovery.get().await?;
    let open = facts::all_open(&client).await?;
    let n = open.len();
    for t in facts::given_back(&client).await? {
        device::recall(machines, Location { idmesin: t.idmesin, idoutlet: t.idoutlet, driver: t.driver }, &t.purchase);
    }
    for t in open {
        let location = Location { idmesin: t.idmesin, idoutlet: t.idoutlet, driver: t.driver };
        // First what its driver is to know: the actor speaks at once.
        device::recall(machines, location, &t.purchase);
        machines.resume(&location, t.purchase)?;
    }
    Ok(n)
}

/// Runs until the process ends.
pub async fn reap_forever(machines: Machines) {
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for round in 0_u64.. {
        every.tick().await;
        if let Err(e) = reap(&machines, round).await {
            tracing::warn!(error = %e, "looking for lost work failed; it will be tried again");
        }
    }
}

/// Machines whose purchase is past its deadline: $1 the deadline of runs and commands, $2 that of unsure ones by their age, $3 rows of
/// each kind at most, so that none that stays stuck keeps the others from their turn. Each kind has its index, so that what is not due
/// is never looked at; and the driver is asked for row by row, because a join reads all machines when PostgreSQL expects more rows than
/// there are.
pub const OVERDUE: &str = "
SELECT t.idmesin, t.idoutlet, (SELECT driver FROM mesin m WHERE m.idmesin = t.idmesin) FROM (
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state = 'RUNNING' AND ends_at <= $1 ORDER BY ends_at LIMIT $3)
    UNION ALL
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state IN ('HELD', 'SENT') AND cmd_exp <= $1 ORDER BY cmd_exp LIMIT $3)
    UNION ALL
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state = 'UNSURE' AND created_at <= $2 ORDER BY created_at LIMIT $3)
) t";

/// Commands whose machine has not acted on them: starts that expire by $1, which tells the age of their hold, and stops that were asked
/// for by $2; $3 rows of each kind at most, in any order, so that all have their turn when they are more.
pub const RELAY: &str = "
SELECT t.idmesin, t.idoutlet, (SELECT driver FROM mesin m WHERE m.idmesin = t.idmesin) FROM (
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state = 'HELD' AND cmd_exp <= $1 ORDER BY random() LIMIT $3)
    UNION ALL
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state = 'RUNNING' AND stop_requested_at <= $2 ORDER BY random() LIMIT $3)
) t";

/// Purchases whose device was told and has said nothing: sent ones that expire by $1, unsure ones that were made by $2, as in `RELAY`.
pub const UNDECIDED: &str = "
SELECT t.idmesin, t.idoutlet, (SELECT driver FROM mesin m WHERE m.idmesin = t.idmesin) FROM (
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state = 'SENT' AND cmd_exp <= $1 ORDER BY random() LIMIT $3)
    UNION ALL
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state = 'UNSURE' AND created_at <= $2 ORDER BY random() LIMIT $3)
) t";

/// Machines that wait for staff, $1 at most; in any order, so that all have their turn when they are more than a batch.
pub const STAFF: &str = "SELECT idmesin, idoutlet, driver FROM mesin WHERE perlu_petugas ORDER BY random() LIMIT $1";

async fn reap(machines: &Machines, round: u64) -> Result<(), MachineError> {
    let now = machines.parts().store.now();
    let client = machines.parts().recovery.get().await?;
    let overdue = client.prepare_cached(OVERDUE).await?;
    let gave_up: Timestamp = now.plus_ms(-LATE_MS - GIVE_UP_MS);
    let late = client.query(&overdue, &[&now.plus_ms(-LATE_MS), &gave_up, &BATCH]).await?;
    tell_all(machines, &late, || MachineInput::LookAgain)?;
    let relay_before = now.plus_ms(-RELAY_AFTER_MS);
    let exp_until = relay_before.plus_ms(CMD_LIFE_MS);
    let relay = client.prepare_cached(RELAY).await?;
    let due = client.query(&relay, &[&exp_until, &relay_before, &BATCH]).await?;
    tell_all(machines, &due, || MachineInput::LookAgain)?;
    if round.is_multiple_of(UNDECIDED_EVERY_ROUNDS) {
        let undecided = client.prepare_cached(UNDECIDED).await?;
        let waiting = client.query(&undecided, &[&exp_until, &relay_before, &BATCH]).await?;
        tell_all(machines, &waiting, || MachineInput::LookAgain)?;
    }
    if round.is_multiple_of(ASK_EVERY_ROUNDS) {
        let staff = client.query(STAFF, &[&BATCH]).await?;
        tell_all(machines, &staff, || MachineInput::AskDevice)?;
    }
    Ok(())
}

/// Tells each of these machines; one whose mailbox is full does not keep the others from hearing it.
fn tell_all(machines: &Machines, rows: &[Row], input: impl Fn() -> MachineInput) -> Result<(), MachineError> {
    for row in rows {
        let location = location(row)?;
        if let Err(e) = machines.tell(&location, input()) {
            tracing::warn!(error = %e, idmesin = location.idmesin, "a machine cannot be told to look again; it will be tried again");
        }
    }
    Ok(())
}

fn location(row: &Row) -> Result<Location, MachineError> {
    Ok(Location { idmesin: row.try_get(0)?, idoutlet: row.try_get(1)?, driver: row.try_get(2)? })
}
