//! Recovery of open work: open purchases are resumed at boot, and work that a timer or a message lost is found again
//! (docs/decisions/0007-a-machine-never-awaits-in-its-mailbox.md, docs/decisions/0008-recovery-at-each-edge.md).

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use nyala_cluster::notifications::{Listener, Notification, Received};
use nyala_cluster::of_shards;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::shard::Shard;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::step::Purchase;
use nyala_core::purchase::times::{CMD_TTL_MS, GIVE_UP_MS};
use nyala_ledger::facts::{self, OpenPurchase};
use tokio_postgres::Row;

use super::device;
use super::error::MachineError;
use super::machines::{Location, Machines};
use nyala_core::machine::Input;

/// How often lost work is searched for on a single server.
pub const EVERY: Duration = Duration::from_secs(1);
/// How often a cluster searches for lost work that another server has begun.
pub const SAFETY_NET_EVERY: Duration = Duration::from_millis(300);
/// Approximate number of these rounds in a second.
pub const ROUNDS_A_SECOND: u64 = 3;
/// Least age of work that is searched for: the actor itself sends right after the commit.
pub const RESEND_AFTER_MS: i64 = 2_000;
/// Least age of a resent command in a cluster, where another server may have begun the purchase.
pub const RESEND_REMOTE_AFTER_MS: i64 = 500;
/// How often remote machines are read, and how many by one statement.
pub const MIRROR_EVERY: Duration = Duration::from_secs(1);
const MIRRORED_AT_ONCE: usize = 1_000;
/// Delay after a deadline that means its timer was lost.
pub const LATE_MS: i64 = 1_000;
/// Rounds between two searches for undecided purchases. A long interval suffices, because most of them have an actor that only waits for
/// its device.
pub const UNDECIDED_EVERY_ROUNDS: u64 = 4;
/// Rounds between two queries to machines that wait for staff.
pub const ASK_EVERY_ROUNDS: u64 = 15;
const BATCH: i64 = 1_000;

/// Resumes every open purchase of these shards, or of all: makes its machine's actor. Returns their number.
pub async fn resume(machines: &Machines, shards: Option<&[Shard]>) -> Result<usize, MachineError> {
    let client = machines.parts().recovery.get().await?;
    let open = facts::all_open(&client, shards).await?;
    let n = open.len();
    for t in facts::awaiting_staff(&client, shards).await? {
        device::recall(machines, location_of(&t), &t.purchase);
    }
    for t in open {
        let location = location_of(&t);
        // The driver needs the purchase first: the actor sends commands at once.
        device::recall(machines, location, &t.purchase);
        machines.resume(&location, t.purchase)?;
    }
    Ok(n)
}

/// Resumes the machines of every shard that this server acquires. Runs until the process ends.
pub async fn resume_loop(machines: Machines) {
    loop {
        let acquired = machines.ownership().acquired().await;
        match resume(&machines, Some(&acquired)).await {
            Ok(resumed) => tracing::info!(shards = acquired.len(), resumed, "open purchases taken over"),
            Err(e) => {
                tracing::warn!(error = %e, "open purchases cannot be taken over; it will be tried again");
                machines.ownership().acquire_again(acquired);
                tokio::time::sleep(SAFETY_NET_EVERY).await;
            }
        }
    }
}

/// Reads the stored purchases of all remote machines that have an actor here, because they are watched or bought from. Runs until the
/// process ends.
pub async fn mirror_loop(machines: Machines) {
    let mut every = tokio::time::interval(MIRROR_EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut notifications = machines.parts().notifier.listen();
    loop {
        let done = tokio::select! {
            _ = every.tick() => mirror(&machines, &machines.remote()).await,
            received = notifications.next() => on_notifications(&machines, received, &mut notifications).await,
        };
        if let Err(e) = done {
            tracing::warn!(error = %e, "machines of other servers cannot be read; it will be tried again");
        }
    }
}

async fn mirror(machines: &Machines, remote: &[MachineId]) -> Result<(), MachineError> {
    for some in remote.chunks(MIRRORED_AT_ONCE) {
        let client = machines.parts().recovery.get().await?;
        let open = facts::open_of(&client, some).await?;
        let mut open: HashMap<MachineId, Purchase> = open.into_iter().map(|t| (t.idmesin, t.purchase)).collect();
        for idmesin in some {
            // An actor whose mailbox is full receives it a second later.
            let _ = machines.send_if_present(*idmesin, Input::Stored(open.remove(idmesin)));
        }
    }
    Ok(())
}

/// Processes change notifications of other servers, all that are waiting. An owned machine loads its purchase again, a remote one is
/// read.
async fn on_notifications(machines: &Machines, first: Received, notifications: &mut Listener) -> Result<(), MachineError> {
    let mut remote = BTreeSet::new();
    for received in std::iter::once(first).chain(notifications.rest(MIRRORED_AT_ONCE)) {
        match received {
            Received::Notification { notification: Notification::Machine { id, outlet }, .. }
                if machines.ownership().owns(outlet) =>
            {
                let sent = machines.find(id).await.and_then(|at| machines.send(&at, Input::Reload));
                if let Err(e) = sent {
                    tracing::warn!(error = %e, idmesin = id.get(), "cannot notify a machine of a purchase at another server; recovery will");
                }
            }
            Received::Notification { notification: Notification::Machine { id, .. }, .. } if machines.is_present(id) => {
                _ = remote.insert(id)
            }
            Received::Missed => remote.extend(machines.remote()),
            Received::Notification { .. } | Received::Own(_) => {}
        }
    }
    mirror(machines, &remote.into_iter().collect::<Vec<_>>()).await
}

/// Runs until the process ends.
pub async fn reap_loop(machines: Machines) {
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

/// Machines whose purchase is past its deadline. $1 is the deadline of runs and commands, $2 that of unsure purchases by their age, $4
/// the shards (NULL: all). At most $3 rows of each kind are returned, so that stuck ones do not block the others. Each kind has its
/// index, so rows that are not due are never read. The driver is selected row by row, because a join reads all machines when PostgreSQL
/// expects more rows than there are.
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

/// Commands that the machine has not acted on: starts that expire by $1, which shows the age of their hold, and stops that were requested
/// by $2. At most $3 rows of each kind, of the shards $4, in random order, so that each has its turn when there are more.
pub const RESEND: &str = concat!(
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

/// Purchases whose device was sent a command and has not answered: sent ones that expire by $1, unsure ones created by $2; other
/// parameters as in `RESEND`.
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

/// Machines whose devices are asked now and then what they run.
macro_rules! asked {
    () => {
        concat!(
            "SELECT idmesin, idoutlet, driver FROM mesin WHERE perlu_petugas
             UNION ALL
             SELECT idmesin, idoutlet, driver FROM mesin m WHERE sense_sejak IS NOT NULL AND NOT perlu_petugas
                AND NOT EXISTS (SELECT FROM snap_transaksi t WHERE t.idmesin = m.idmesin AND t.state IN ",
            nyala_core::purchase::state::open_states!(),
            ")"
        )
    };
}
pub(crate) use asked;

/// Machines of the shards $2 that wait for staff, or that a sensor sees run without a purchase: they are asked until they are free. At most $1, in
/// random order, so that each has its turn when there are more than a batch.
pub const ASKED: &str =
    concat!("SELECT * FROM (", asked!(), ") m WHERE ", of_shards!("idoutlet", 2), " ORDER BY random() LIMIT $1");

/// Machines of the shards $2 with an unpaid cycle that must stop or whose time is over by $3, at most $1, in random order as in `ASKED`.
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
    // In a cluster, a start whose money another server has held is lost work: this search always finds it.
    let (resend_after_ms, rounds) = if own.is_alone() { (RESEND_AFTER_MS, 1) } else { (RESEND_REMOTE_AFTER_MS, ROUNDS_A_SECOND) };
    let client = machines.parts().recovery.get().await?;
    let resend_before = now.plus_ms(-resend_after_ms);
    let exp_until = resend_before.plus_ms(CMD_TTL_MS);
    let resend = client.prepare_cached(RESEND).await?;
    let due = client.query(&resend, &[&exp_until, &resend_before, &BATCH, &shards]).await?;
    send_all(machines, &due, || Input::Reload)?;
    if round.is_multiple_of(rounds) {
        let overdue = client.prepare_cached(OVERDUE).await?;
        let gave_up: Timestamp = now.plus_ms(-LATE_MS - GIVE_UP_MS);
        let late = client.query(&overdue, &[&now.plus_ms(-LATE_MS), &gave_up, &BATCH, &shards]).await?;
        send_all(machines, &late, || Input::Reload)?;
    }
    if round.is_multiple_of(rounds * UNDECIDED_EVERY_ROUNDS) {
        let undecided = client.prepare_cached(UNDECIDED).await?;
        let resend_before = now.plus_ms(-RESEND_AFTER_MS);
        let waiting = client.query(&undecided, &[&resend_before.plus_ms(CMD_TTL_MS), &resend_before, &BATCH, &shards]).await?;
        send_all(machines, &waiting, || Input::Reload)?;
        let unpaid = client.prepare_cached(UNPAID).await?;
        for row in client.query(&unpaid, &[&BATCH, &shards, &now]).await? {
            let input = match row.try_get(4)? {
                // No operator waits for this stop.
                true => Input::StopUnpaid { cmd_id: row.try_get(3)?, operator: None },
                false => Input::QueryDevice,
            };
            let location = location(&row)?;
            if let Err(e) = machines.send(&location, input) {
                tracing::warn!(error = %e, idmesin = location.idmesin.get(), "cannot have a machine query its device, retrying");
            }
        }
    }
    if round.is_multiple_of(rounds * ASK_EVERY_ROUNDS) {
        let asked = client.query(ASKED, &[&BATCH, &shards]).await?;
        send_all(machines, &asked, || Input::QueryDevice)?;
    }
    Ok(())
}

/// Sends an input to each of these machines; a full mailbox does not keep it from the others.
fn send_all(machines: &Machines, rows: &[Row], input: impl Fn() -> Input) -> Result<(), MachineError> {
    for row in rows {
        let location = location(row)?;
        if let Err(e) = machines.send(&location, input()) {
            tracing::warn!(error = %e, idmesin = location.idmesin.get(), "cannot have a machine load its purchase again, retrying");
        }
    }
    Ok(())
}

fn location_of(t: &OpenPurchase) -> Location {
    Location { idmesin: t.idmesin, idoutlet: t.idoutlet, driver: t.driver }
}

fn location(row: &Row) -> Result<Location, MachineError> {
    Ok(Location { idmesin: row.try_get(0)?, idoutlet: row.try_get(1)?, driver: row.try_get(2)? })
}
