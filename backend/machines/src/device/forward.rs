//! Forwarding for devices whose machines another server owns (docs/cluster.md). Device messages go to the owner through a table. Commands are
//! not forwarded: the server that a device is connected to reads the stored purchases and sends the commands that they require.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use actix_socketio::host::vital;
use nyala_cluster::notifications::{Listener, Notification, Received};
use nyala_cluster::of_shards;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::shard::Shard;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{Command, DeviceEvent, Op};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step;
use nyala_core::purchase::times::{RESEND_MS, STAFF_QUERY_MS};
use nyala_ledger::facts::{self, OpenPurchase};
use nyala_store::db::error::DbError;
use serde_json::Value;
use tokio::sync::{Mutex, mpsc};
use tokio::time::{MissedTickBehavior, interval};
use uuid::Uuid;

use super::{ReceivedEvent, deliver, question, recall};
use crate::error::MachineError;
use crate::machines::{Location, Machines};
use crate::recovery::asked;
use nyala_core::machine::Input;

/// How often either table is read.
pub const EVERY: Duration = Duration::from_millis(300);
/// Maximum number of messages that wait to be stored.
const MAX_WAITING: usize = 8_192;
/// Maximum number of newly connected devices whose cycles one statement reads.
const ARRIVED: usize = 1_000;
const BATCH: usize = 512;
/// Age at which an unread message is deleted. A query to the device brings a newer one.
pub const MESSAGE_TTL_MS: i64 = 60_000;

const FORWARD: &str = "
INSERT INTO device_word (idmesin, idoutlet, word, heard_at)
SELECT * FROM unnest($1::BIGINT[], $2::BIGINT[], $3::JSONB[], $4::TIMESTAMPTZ[])";

/// Parameters: $1 the shards owned here, $2 the time from which messages count, $3 the node that must still own the shards.
const TAKE: &str = "
WITH taken AS (
    DELETE FROM device_word WHERE heard_at < $2
    OR (idoutlet % 256)::INT = ANY(ARRAY(SELECT idshard FROM shard WHERE idshard = ANY($1) AND idnode = $3)) RETURNING *
)

SELECT t.idmesin, t.idoutlet, m.driver, t.word, t.heard_at FROM taken t JOIN mesin m USING (idmesin) WHERE t.heard_at >= $2 ORDER BY t.id";

/// Machines outside the shards $1 that are asked what they run, at most $2.
const ASKED: &str =
    concat!("SELECT * FROM (", asked!(), ") m WHERE NOT ", of_shards!("idoutlet", 1), " ORDER BY random() LIMIT $2");
const MAX_STAFF: i64 = 1_000;

/// Machines outside the shards $1, at most $2, with an unpaid cycle that must stop or whose time is over by $3.
const UNPAID: &str = concat!(
    "SELECT idmesin, idoutlet, driver, jalan_cmd_id, jalan_stop_at IS NOT NULL FROM mesin \
     WHERE (jalan_stop_at IS NOT NULL OR jalan_sampai <= $3) AND NOT ",
    of_shards!("idoutlet", 1),
    " ORDER BY random() LIMIT $2"
);

/// Starts the tasks. The returned sender takes messages for remote machines.
pub fn start(machines: &Machines) -> mpsc::Sender<ReceivedEvent> {
    let (queue, messages) = mpsc::channel(MAX_WAITING);
    let arrivals = Arrivals::default();
    vital::spawn("words away", forward_loop(machines.clone(), arrivals.clone(), messages));
    vital::spawn("words in", take_loop(machines.clone()));
    vital::spawn("commands", send_loop(machines.clone(), arrivals));
    vital::spawn("questions", question::answer_loop(machines.clone()));
    queue
}

async fn forward_loop(machines: Machines, arrivals: Arrivals, mut messages: mpsc::Receiver<ReceivedEvent>) {
    let mut some = Vec::with_capacity(BATCH);
    while messages.recv_many(&mut some, BATCH).await > 0 {
        let passed = async {
            // The driver learns of a stored cycle before a message that the cycle is over goes to the owner.
            arrivals.look(&machines).await?;
            forward(&machines, &some).await
        };
        if let Err(e) = passed.await {
            machines.metrics().device_messages_dropped.inc_by(some.len() as u64);
            tracing::warn!(error = %e, "device messages not forwarded to the owner of their machines; the next queries recover them");
        }
        some.clear();
    }
}

async fn forward(machines: &Machines, messages: &[ReceivedEvent]) -> Result<(), DbError> {
    let client = machines.parts().store.get().await?;
    let statement = client.prepare_cached(FORWARD).await?;
    let of: Vec<MachineId> = messages.iter().map(|received| received.from.idmesin).collect();
    let outlets: Vec<OutletId> = messages.iter().map(|received| received.from.idoutlet).collect();
    let sent = messages.iter().map(|received| serde_json::to_value(&received.event)).collect::<Result<Vec<Value>, _>>();
    let at: Vec<Timestamp> = messages.iter().map(|received| received.at).collect();
    client.execute(&statement, &[&of, &outlets, &sent.map_err(DbError::broken)?, &at]).await?;
    let shards: BTreeSet<Shard> = outlets.iter().map(|outlet| Shard::of(*outlet)).collect();
    machines.parts().notifier.notify(Notification::DeviceMessages { shards: shards.into_iter().collect() });
    Ok(())
}

async fn take_loop(machines: Machines) {
    let mut every = interval(EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut notifications = machines.parts().notifier.listen();
    loop {
        tokio::select! {
            _ = every.tick() => {}
            () = messages_for(&machines, &mut notifications) => {}
        }
        if let Err(e) = take(&machines).await {
            tracing::warn!(error = %e, "cannot read device messages of other servers, retrying");
        }
    }
}

/// Returns when another server has stored messages for machines of this one.
async fn messages_for(machines: &Machines, notifications: &mut Listener) {
    loop {
        match notifications.next().await {
            Received::Missed => return,
            Received::Notification { notification: Notification::DeviceMessages { shards }, .. } => {
                if machines.ownership().shards().is_some_and(|own| shards.iter().any(|shard| own.contains(shard))) {
                    return;
                }
            }
            Received::Notification { .. } | Received::Own(_) => {}
        }
    }
}

async fn take(machines: &Machines) -> Result<(), MachineError> {
    let own = machines.ownership();
    let Some((shards, me)) = own.shards().zip(own.node()) else { return Ok(()) };
    let now = machines.parts().store.now();
    let client = machines.parts().recovery.get().await?;
    let statement = client.prepare_cached(TAKE).await?;
    for row in client.query(&statement, &[&shards, &now.plus_ms(-MESSAGE_TTL_MS), &me]).await? {
        let from = Location { idmesin: row.try_get(0)?, idoutlet: row.try_get(1)?, driver: row.try_get(2)? };
        let event: DeviceEvent = match serde_json::from_value(row.try_get(3)?) {
            Ok(event) => event,
            Err(e) => {
                machines.metrics().device_messages_dropped.inc();
                tracing::warn!(error = %e, idmesin = from.idmesin.get(), "device message dropped: another version of the server has written it");
                continue;
            }
        };
        let at: Timestamp = row.try_get(4)?;
        let received = ReceivedEvent { from, event: event.aged_by(at.ms_until(now).max(0)), at };
        // The message may concern a purchase that another server has begun and that this one has not loaded yet.
        let delivered = machines.send(&from, Input::Reload).and_then(|()| deliver(machines, received));
        if let Err(e) = delivered {
            machines.metrics().device_messages_dropped.inc();
            tracing::warn!(error = %e, idmesin = from.idmesin.get(), "device message dropped: its machine's mailbox is full");
        }
    }
    Ok(())
}

/// Machines whose devices have just connected and whose cycles are not read yet. Cheap to clone.
#[derive(Debug, Clone, Default)]
struct Arrivals(Arc<Mutex<HashSet<MachineId>>>);

impl Arrivals {
    /// Passes stored cycles of newly connected devices to the driver. A device may connect during a cycle and report that nothing runs. To judge
    /// that report the driver must know the cycle, so the device is queried after that.
    async fn look(&self, machines: &Machines) -> Result<(), DbError> {
        let mut arrived = self.0.lock().await;
        arrived.extend(machines.parts().drivers.arrived());
        while !arrived.is_empty() {
            let some: Vec<MachineId> = arrived.iter().take(ARRIVED).copied().collect();
            let client = machines.parts().store.get().await?;
            for t in facts::open_of(&client, &some).await? {
                let p = &t.purchase;
                if p.state == PurchaseState::Running && !p.exchange.stop_requested && !machines.ownership().owns(t.idoutlet) {
                    recall(machines, location(&t), p);
                    super::command(machines, location(&t), t.purchase.command(t.idmesin, Op::Query));
                }
            }
            some.iter().for_each(|idmesin| _ = arrived.remove(idmesin));
        }
        Ok(())
    }
}

async fn send_loop(machines: Machines, arrivals: Arrivals) {
    let mut every = interval(EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut sent, mut notifications) = (SentCommands::default(), machines.parts().notifier.listen());
    loop {
        let done = tokio::select! {
            _ = every.tick() => send_due(&machines, &arrivals, &mut sent).await,
            received = notifications.next() => on_notifications(&machines, &arrivals, received, &mut notifications, &mut sent).await,
        };
        if let Err(e) = done {
            tracing::warn!(error = %e, "what is to be sent to devices cannot be read; it will be tried again");
        }
    }
}

/// Sends the commands that are due to devices which are connected here and whose machines are remote.
async fn send_due(machines: &Machines, arrivals: &Arrivals, sent: &mut SentCommands) -> Result<(), MachineError> {
    let Some(shards) = machines.ownership().shards() else { return Ok(()) };
    let parts = machines.parts();
    let now = parts.store.now();
    arrivals.look(machines).await?;
    let client = parts.recovery.get().await?;
    let mut open = facts::unsettled_but(&client, &shards).await?;
    let mut waiting = Vec::new();
    if sent.asks_for_staff(now) {
        open.extend(facts::awaiting_staff_but(&client, &shards).await?);
        let statement = client.prepare_cached(ASKED).await?;
        for row in client.query(&statement, &[&shards, &MAX_STAFF]).await? {
            waiting.push(Location { idmesin: row.try_get(0)?, idoutlet: row.try_get(1)?, driver: row.try_get(2)? });
        }
    }
    let mut unpaid = Vec::new();
    if sent.asks_for_unpaid(now) {
        let statement = client.prepare_cached(UNPAID).await?;
        for row in client.query(&statement, &[&shards, &MAX_STAFF, &now]).await? {
            let at = Location { idmesin: row.try_get(0)?, idoutlet: row.try_get(1)?, driver: row.try_get(2)? };
            let ask = Command::about_nothing(at.idmesin, now);
            unpaid.push((at, if row.try_get(4)? { Command { cmd_id: row.try_get(3)?, op: Op::Stop, ..ask } } else { ask }));
        }
    }
    drop(client);
    open.retain(|t| holds(machines, &location(t)));
    // A machine with an open purchase is asked about that purchase instead.
    waiting.retain(|at| holds(machines, at) && open.iter().all(|t| t.idmesin != at.idmesin));
    sent.forget_all_but(&open);
    send(machines, sent, &open, now);
    for at in waiting {
        super::command(machines, at, Command::about_nothing(at.idmesin, now));
    }
    for (at, cmd) in unpaid.into_iter().filter(|(at, _)| holds(machines, at)) {
        super::command(machines, at, cmd);
    }
    Ok(())
}

/// Does the same as `send_due`, for machines of which another server has just sent a change notification.
async fn on_notifications(
    machines: &Machines,
    arrivals: &Arrivals,
    first: Received,
    rest: &mut Listener,
    sent: &mut SentCommands,
) -> Result<(), MachineError> {
    let mut linked = BTreeSet::new();
    for received in std::iter::once(first).chain(rest.rest(BATCH)) {
        match received {
            Received::Missed => return send_due(machines, arrivals, sent).await,
            Received::Notification { notification: Notification::Machine { id, outlet }, .. }
            | Received::Own(Notification::Machine { id, outlet })
                if !machines.ownership().owns(outlet) =>
            {
                // The next full read finds a machine that is unknown or cannot be looked up now.
                linked.extend(machines.find(id).await.ok().filter(|at| holds(machines, at)).map(|at| at.idmesin));
            }
            Received::Notification { .. } | Received::Own(_) => {}
        }
    }
    if linked.is_empty() {
        return Ok(());
    }
    let linked: Vec<MachineId> = linked.into_iter().collect();
    let open = facts::open_of(&machines.parts().recovery.get().await?, &linked).await?;
    send(machines, sent, &open, machines.parts().store.now());
    Ok(())
}

/// Whether the machine's device is connected here.
fn holds(machines: &Machines, location: &Location) -> bool {
    machines.parts().drivers.get(location.driver).is_some_and(|driver| driver.holds(*location))
}

fn send(machines: &Machines, sent: &mut SentCommands, open: &[OpenPurchase], now: Timestamp) {
    for t in open {
        let cmd = sent.next(t, now);
        if sent.is_first_of(t) {
            recall(machines, location(t), &t.purchase);
        }
        if let Some(cmd) = cmd {
            super::command(machines, location(t), cmd);
        }
    }
}

const fn location(t: &OpenPurchase) -> Location {
    Location { idmesin: t.idmesin, idoutlet: t.idoutlet, driver: t.driver }
}

/// Commands that this server has sent for purchases of other servers, so that it repeats none sooner than their owner would.
#[derive(Debug, Default)]
pub struct SentCommands {
    of: HashMap<Uuid, (Op, Timestamp)>,
    recalled: HashSet<Uuid>,
    asked_for_staff: Option<Timestamp>,
    asked_for_unpaid: Option<Timestamp>,
}

impl SentCommands {
    /// Whether it is time to read the machines that wait for staff. If so, the interval starts again.
    pub fn asks_for_staff(&mut self, now: Timestamp) -> bool {
        let due = self.asked_for_staff.is_none_or(|at| at.ms_until(now) >= STAFF_QUERY_MS);
        if due {
            self.asked_for_staff = Some(now);
        }
        due
    }

    /// Whether it is time to read the machines with an unpaid cycle. If so, the interval starts again.
    pub fn asks_for_unpaid(&mut self, now: Timestamp) -> bool {
        let due = self.asked_for_unpaid.is_none_or(|at| at.ms_until(now) >= RESEND_MS);
        if due {
            self.asked_for_unpaid = Some(now);
        }
        due
    }

    /// Forgets the commands of all purchases that are no longer open.
    pub fn forget_all_but(&mut self, open: &[OpenPurchase]) {
        let there: HashSet<Uuid> = open.iter().map(|t| t.purchase.cmd_id).collect();
        self.of.retain(|cmd_id, _| there.contains(cmd_id));
        // Purchases of machines that wait for staff are read only now and then, so they are forgotten when there are many.
        if self.recalled.len() > MAX_WAITING {
            self.recalled.retain(|cmd_id| there.contains(cmd_id));
        }
    }

    fn is_first_of(&mut self, t: &OpenPurchase) -> bool {
        self.recalled.insert(t.purchase.cmd_id)
    }

    /// Command that is due for the purchase now, if any.
    pub fn next(&mut self, t: &OpenPurchase, now: Timestamp) -> Option<Command> {
        let p = &t.purchase;
        let last = |op| self.of.get(&p.cmd_id).filter(|(last, _)| *last == op).map(|(_, at)| *at);
        let op = step::due_command(p, last, now)?;
        self.of.insert(p.cmd_id, (op, now));
        Some(t.purchase.command(t.idmesin, op))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nyala_core::domain::driver_kind::DriverKind;
    use nyala_core::domain::id::PurchaseId;
    use nyala_core::purchase::device::Pulses;
    use nyala_core::purchase::step::{self, StartCommand};
    use nyala_core::purchase::times::CMD_TTL_MS;

    #[test]
    fn a_start_is_repeated_until_it_is_too_late_and_then_it_is_a_question() {
        let t0 = Timestamp::from_ms(1_000_000);
        let purchase = step::first(
            PurchaseId::new(1),
            StartCommand { cmd_id: Uuid::from_u128(7), epoch: 3, duration_s: 60, pulses: None },
            t0,
            t0,
        );
        let mut t = OpenPurchase { idmesin: MachineId::new(5), idoutlet: OutletId::new(1), driver: DriverKind::Mqtt, purchase };
        let mut sent = SentCommands::default();
        let mut ops = Vec::new();
        for ms in (0..=20_000).step_by(300) {
            let cmd = sent.next(&t, t0.plus_ms(ms));
            ops.extend(cmd.map(|cmd| (ms, cmd.op)));
        }
        let (start, query) = (Op::Start, Op::Query);
        assert_eq!(ops, [(0, start), (3_000, start), (6_000, start), (9_000, start), (10_200, query), (15_300, query)]);
        assert!(ops.iter().all(|(ms, op)| *op != Op::Start || *ms < CMD_TTL_MS));
        t.purchase.state = PurchaseState::Running;
        assert!(sent.next(&t, t0.plus_ms(30_000)).is_none());
        t.purchase.exchange.stop_requested = true;
        assert_eq!(sent.next(&t, t0.plus_ms(30_000)).map(|cmd| cmd.op), Some(Op::Stop));
    }

    #[test]
    fn a_test_of_pulses_is_sent_once_and_then_asked_about() {
        let t0 = Timestamp::from_ms(1_000_000);
        let pulses = Some(Pulses { n: 3, width_ms: 50, gap_ms: 100, sense_s: 60 });
        let command = StartCommand { cmd_id: Uuid::from_u128(7), epoch: 3, duration_s: 0, pulses };
        let purchase = step::first(PurchaseId::new(1), command, t0, t0);
        let t = OpenPurchase { idmesin: MachineId::new(5), idoutlet: OutletId::new(1), driver: DriverKind::Mqtt, purchase };
        let mut sent = SentCommands::default();
        let next = |ms| sent.next(&t, t0.plus_ms(ms)).map(|cmd| (ms, cmd.op));
        let ops: Vec<_> = (0..=20_000).step_by(300).filter_map(next).collect();
        let asked = [3_000, 6_000, 9_000, 14_100, 19_200].map(|ms| (ms, Op::Query));
        assert_eq!((ops[0], &ops[1..]), ((0, Op::Start), &asked[..]));
    }
}
