//! Nothing is forgotten: open purchases come back at boot, and what a timer or a message lost is found again
//! (docs/decisions/0007-a-machine-never-awaits-in-its-mailbox.md, docs/decisions/0008-recovery-at-each-edge.md).

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use nyala_cluster::news::{Heard, Hint, Listener};
use nyala_cluster::of_shards;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::step::Purchase;
use nyala_core::purchase::times::{CMD_LIFE_MS, GIVE_UP_MS};
use nyala_ledger::facts::{self, OpenPurchase};
use tokio_postgres::Row;

use super::actor::MachineInput;
use super::device;
use super::error::MachineError;
use super::machines::{Location, Machines};
use super::reply;

/// How often lost work is looked for.
pub const EVERY: Duration = Duration::from_secs(1);
/// The same among several servers, of what another one has begun.
pub const SAFETY_NET_EVERY: Duration = Duration::from_millis(300);
/// About so many of these rounds are a second.
pub const ROUNDS_A_SECOND: u64 = 3;
/// What is younger than this is not looked for: the actor itself sends right after the commit.
pub const RELAY_AFTER_MS: i64 = 2_000;
/// The same among several servers: the one that began it may be another one.
pub const RELAY_FOREIGN_AFTER_MS: i64 = 500;
/// How often machines are read that another server decides about, and how many by one statement.
pub const MIRROR_EVERY: Duration = Duration::from_secs(1);
const MIRRORED_AT_ONCE: usize = 1_000;
/// A deadline this far past means that its timer was lost.
pub const LATE_MS: i64 = 1_000;
/// Undecided purchases are looked at this often, because most of them have an actor that only waits for its device.
pub const UNDECIDED_EVERY_ROUNDS: u64 = 4;
/// Machines that wait for staff are asked this often whether they still run something.
pub const ASK_EVERY_ROUNDS: u64 = 15;
const BATCH: i64 = 1_000;

/// Every open purchase of the machines of these shards, or of all, gets its machine's actor back. Returns how many.
pub async fn resume(machines: &Machines, shards: Option<&[i32]>) -> Result<usize, MachineError> {
    let client = machines.parts().recovery.get().await?;
    let open = facts::all_open(&client, shards).await?;
    let n = open.len();
    for t in facts::given_back(&client, shards).await? {
        device::recall(machines, stands(&t), &t.purchase);
    }
    for t in open {
        let location = stands(&t);
        // First what its driver is to know: the actor speaks at once.
        device::recall(machines, location, &t.purchase);
        machines.resume(&location, t.purchase)?;
    }
    Ok(n)
}

/// Brings back the machines of every shard that becomes this server's. Runs until the process ends.
pub async fn resume_forever(machines: Machines) {
    loop {
        let gained = machines.ownership().gained().await;
        match resume(&machines, Some(&gained)).await {
            Ok(resumed) => tracing::info!(shards = gained.len(), resumed, "open purchases taken over"),
            Err(e) => {
                tracing::warn!(error = %e, "open purchases cannot be taken over; it will be tried again");
                machines.ownership().gain_again(gained);
                tokio::time::sleep(SAFETY_NET_EVERY).await;
            }
        }
    }
}

/// Machines that are watched or bought from here and decided elsewhere: what is stored of them is read, all at once. Runs until the process
/// ends.
pub async fn mirror_forever(machines: Machines) {
    let mut every = tokio::time::interval(MIRROR_EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut news = machines.parts().news.listen();
    loop {
        let done = tokio::select! {
            _ = every.tick() => mirror(&machines, &machines.foreign()).await,
            heard = news.next() => hear(&machines, heard, &mut news).await,
        };
        if let Err(e) = done {
            tracing::warn!(error = %e, "machines of other servers cannot be read; it will be tried again");
        }
    }
}

async fn mirror(machines: &Machines, foreign: &[i64]) -> Result<(), MachineError> {
    for some in foreign.chunks(MIRRORED_AT_ONCE) {
        let client = machines.parts().recovery.get().await?;
        let open = facts::open_of(&client, some).await?;
        let mut open: HashMap<i64, Purchase> = open.into_iter().map(|t| (t.idmesin, t.purchase)).collect();
        for idmesin in some {
            // One whose mailbox is full hears it in a second.
            let _ = machines.tell_if_present(*idmesin, MachineInput::Stored(open.remove(idmesin)));
        }
    }
    Ok(())
}

/// Another server has committed something, and perhaps more by now: an own machine looks at it, another one's is read.
async fn hear(machines: &Machines, first: Heard, news: &mut Listener) -> Result<(), MachineError> {
    let mut foreign = BTreeSet::new();
    for heard in std::iter::once(first).chain(news.rest(MIRRORED_AT_ONCE)) {
        match heard {
            Heard::Hint { hint: Hint::Machine { id, outlet }, .. } if machines.ownership().owns(outlet) => {
                let told = machines.find(id).await.and_then(|at| machines.tell(&at, MachineInput::LookAgain));
                if let Err(e) = told {
                    tracing::warn!(error = %e, idmesin = id, "a machine cannot be told of a purchase elsewhere; recovery will");
                }
            }
            Heard::Hint { hint: Hint::Machine { id, .. }, .. } if machines.is_present(id) => _ = foreign.insert(id),
            Heard::Missed => foreign.extend(machines.foreign()),
            Heard::Hint { .. } | Heard::Own(_) => {}
        }
    }
    mirror(machines, &foreign.into_iter().collect::<Vec<_>>()).await
}

/// Runs until the process ends.
pub async fn reap_forever(machines: Machines) {
    let every = if machines.ownership().is_alone() { EVERY } else { SAFETY_NET_EVERY };
    let mut every = tokio::time::interval(every);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for round in 0_u64.. {
        every.tick().await;
        if let Err(e) = reap(&machines, round).await {
            tracing::warn!(error = %e, "looking for lost work failed; it will be tried again");
        }
    }
}

/// Machines whose purchase is past its deadline: $1 the deadline of runs and commands, $2 that of unsure ones by their age, $4 the shards
/// that are looked at (NULL: all), $3 rows of each kind at most, so that none that stays stuck keeps the others from their turn. Each kind has its index, so that what is not due
/// is never looked at; and the driver is asked for row by row, because a join reads all machines when PostgreSQL expects more rows than
/// there are.
pub const OVERDUE: &str = concat!(
    "
SELECT t.idmesin, t.idoutlet, (SELECT driver FROM mesin m WHERE m.idmesin = t.idmesin) FROM (
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state = 'RUNNING' AND ends_at <= $1 AND ",
    of_shards!("idoutlet", 4),
    " ORDER BY ends_at LIMIT $3)
    UNION ALL
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state IN ('HELD', 'SENT') AND cmd_exp <= $1 AND ",
    of_shards!("idoutlet", 4),
    " ORDER BY cmd_exp LIMIT $3)
    UNION ALL
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state = 'UNSURE' AND created_at <= $2 AND ",
    of_shards!("idoutlet", 4),
    " ORDER BY created_at LIMIT $3)
) t"
);

/// Commands whose machine has not acted on them: starts that expire by $1, which tells the age of their hold, and stops that were asked
/// for by $2; of the shards $4, $3 rows of each kind at most, in any order, so that all have their turn when they are more.
pub const RELAY: &str = concat!(
    "
SELECT t.idmesin, t.idoutlet, (SELECT driver FROM mesin m WHERE m.idmesin = t.idmesin) FROM (
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state = 'HELD' AND cmd_exp <= $1 AND ",
    of_shards!("idoutlet", 4),
    " ORDER BY random() LIMIT $3)
    UNION ALL
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state = 'RUNNING' AND stop_requested_at <= $2 AND ",
    of_shards!("idoutlet", 4),
    " ORDER BY random() LIMIT $3)
) t"
);

/// Purchases whose device was told and has said nothing: sent ones that expire by $1, unsure ones that were made by $2, as in `RELAY`.
pub const UNDECIDED: &str = concat!(
    "
SELECT t.idmesin, t.idoutlet, (SELECT driver FROM mesin m WHERE m.idmesin = t.idmesin) FROM (
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state = 'SENT' AND cmd_exp <= $1 AND ",
    of_shards!("idoutlet", 4),
    " ORDER BY random() LIMIT $3)
    UNION ALL
    (SELECT idmesin, idoutlet FROM snap_transaksi WHERE state = 'UNSURE' AND created_at <= $2 AND ",
    of_shards!("idoutlet", 4),
    " ORDER BY random() LIMIT $3)
) t"
);

/// Machines of the shards $2 that wait for staff, $1 at most; in any order, so that all have their turn when they are more than a batch.
pub const STAFF: &str = concat!(
    "SELECT idmesin, idoutlet, driver FROM mesin WHERE perlu_petugas AND ",
    of_shards!("idoutlet", 2),
    " ORDER BY random() LIMIT $1"
);

/// Machines of the shards $2 whose device has reported a run that no open purchase says, when that is to stop, or over by $3; $1 at most, in
/// any order, as in `STAFF`.
pub const UNPAID: &str = concat!(
    "SELECT idmesin, idoutlet, driver, jalan_cmd_id, jalan_stop_at IS NOT NULL FROM mesin \
     WHERE (jalan_stop_at IS NOT NULL OR jalan_sampai <= $3) AND ",
    of_shards!("idoutlet", 2),
    " ORDER BY random() LIMIT $1"
);

async fn reap(machines: &Machines, round: u64) -> Result<(), MachineError> {
    let now = machines.parts().store.now();
    let own = machines.ownership();
    let shards = own.shards();
    if shards.as_ref().is_some_and(Vec::is_empty) {
        return Ok(());
    }
    // Where there are several servers, a start that another one has held the money for is lost work that is always found.
    let (relay_after_ms, rounds) = if own.is_alone() { (RELAY_AFTER_MS, 1) } else { (RELAY_FOREIGN_AFTER_MS, ROUNDS_A_SECOND) };
    let client = machines.parts().recovery.get().await?;
    let relay_before = now.plus_ms(-relay_after_ms);
    let exp_until = relay_before.plus_ms(CMD_LIFE_MS);
    let relay = client.prepare_cached(RELAY).await?;
    let due = client.query(&relay, &[&exp_until, &relay_before, &BATCH, &shards]).await?;
    tell_all(machines, &due, || MachineInput::LookAgain)?;
    if round.is_multiple_of(rounds) {
        let overdue = client.prepare_cached(OVERDUE).await?;
        let gave_up: Timestamp = now.plus_ms(-LATE_MS - GIVE_UP_MS);
        let late = client.query(&overdue, &[&now.plus_ms(-LATE_MS), &gave_up, &BATCH, &shards]).await?;
        tell_all(machines, &late, || MachineInput::LookAgain)?;
    }
    if round.is_multiple_of(rounds * UNDECIDED_EVERY_ROUNDS) {
        let undecided = client.prepare_cached(UNDECIDED).await?;
        let relay_before = now.plus_ms(-RELAY_AFTER_MS);
        let waiting = client.query(&undecided, &[&relay_before.plus_ms(CMD_LIFE_MS), &relay_before, &BATCH, &shards]).await?;
        tell_all(machines, &waiting, || MachineInput::LookAgain)?;
        let unpaid = client.prepare_cached(UNPAID).await?;
        for row in client.query(&unpaid, &[&BATCH, &shards, &now]).await? {
            let input = match row.try_get(4)? {
                // Nobody waits for this one.
                true => MachineInput::StopUnpaid { cmd_id: row.try_get(3)?, operator: reply::channel().0 },
                false => MachineInput::AskDevice,
            };
            let location = location(&row)?;
            if let Err(e) = machines.tell(&location, input) {
                tracing::warn!(error = %e, idmesin = location.idmesin, "a machine cannot be told to ask its device; it will be tried again");
            }
        }
    }
    if round.is_multiple_of(rounds * ASK_EVERY_ROUNDS) {
        let staff = client.query(STAFF, &[&BATCH, &shards]).await?;
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

fn stands(t: &OpenPurchase) -> Location {
    Location { idmesin: t.idmesin, idoutlet: t.idoutlet, driver: t.driver }
}

fn location(row: &Row) -> Result<Location, MachineError> {
    Ok(Location { idmesin: row.try_get(0)?, idoutlet: row.try_get(1)?, driver: row.try_get(2)? })
}
