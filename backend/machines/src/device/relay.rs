//! Devices of machines that another server decides about (docs/cluster.md). Their words go through a table, which the owner reads; and what
//! is to be said to them, the server that they are connected to finds in what is stored of their purchases.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use actix_socketio::host::vital;
use nyala_cluster::news::{self, Hint, Listener};
use nyala_cluster::{of_shards, shard_of};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{Command, DeviceEvent};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Op;
use nyala_core::purchase::times::{QUERY_EVERY_MS, RESEND_MS};
use nyala_ledger::facts::{self, OpenPurchase};
use nyala_store::db::error::DbError;
use serde_json::Value;
use tokio::sync::{Mutex, mpsc};
use tokio::time::{MissedTickBehavior, interval};
use uuid::Uuid;

use super::{Heard, deliver, question, recall};
use crate::actor::MachineInput;
use crate::error::MachineError;
use crate::machines::{Location, Machines};

/// How often either table is read.
pub const EVERY: Duration = Duration::from_millis(300);
/// Words that may wait to be written down.
const WORDS: usize = 8_192;
/// Devices that have just come, of which it is read what they run: so many by one statement.
const ARRIVED: usize = 1_000;
const BATCH: usize = 512;
/// Machines that wait for staff are asked as often as their owner asks those that it reaches.
const STAFF_EVERY_MS: i64 = 15_000;
/// A word that nobody has read for so long is of no use any more: a query brings a newer one.
pub const WORD_LIFE_MS: i64 = 60_000;

const PASS_ON: &str = "
INSERT INTO device_word (idmesin, idoutlet, word, heard_at)
SELECT * FROM unnest($1::BIGINT[], $2::BIGINT[], $3::JSONB[], $4::TIMESTAMPTZ[])";

/// $1 the shards that are owned here, $2 since when words count, $3 the node that owns them, still.
const TAKE: &str = "
WITH taken AS (
    DELETE FROM device_word WHERE heard_at < $2
    OR (idoutlet % 256)::INT = ANY(ARRAY(SELECT idshard FROM shard WHERE idshard = ANY($1) AND idnode = $3)) RETURNING *
)

SELECT t.idmesin, t.idoutlet, m.driver, t.word, t.heard_at FROM taken t JOIN mesin m USING (idmesin) WHERE t.heard_at >= $2 ORDER BY t.id";

/// Machines that wait for staff, but those of shards $1, at most $2.
const STAFF: &str = concat!(
    "SELECT idmesin, idoutlet, driver FROM mesin WHERE perlu_petugas AND NOT ",
    of_shards!("idoutlet", 1),
    " ORDER BY random() LIMIT $2"
);
const STAFF_MOST: i64 = 1_000;

/// Machines whose device has reported a run that no open purchase says, when that is to stop, or over by $3; but those of shards $1, at most $2.
const UNPAID: &str = concat!(
    "SELECT idmesin, idoutlet, driver, jalan_cmd_id, jalan_stop_at IS NOT NULL FROM mesin \
     WHERE (jalan_stop_at IS NOT NULL OR jalan_sampai <= $3) AND NOT ",
    of_shards!("idoutlet", 1),
    " ORDER BY random() LIMIT $2"
);

/// Begins the tasks; what is returned takes words of machines that are decided elsewhere.
pub fn start(machines: &Machines) -> mpsc::Sender<Heard> {
    let (away, words) = mpsc::channel(WORDS);
    let arrivals = Arrivals::default();
    vital::spawn("words away", pass_on_forever(machines.clone(), arrivals.clone(), words));
    vital::spawn("words in", take_forever(machines.clone()));
    vital::spawn("commands", speak_forever(machines.clone(), arrivals));
    vital::spawn("questions", question::answer_forever(machines.clone()));
    away
}

async fn pass_on_forever(machines: Machines, arrivals: Arrivals, mut words: mpsc::Receiver<Heard>) {
    let mut some = Vec::with_capacity(BATCH);
    while words.recv_many(&mut some, BATCH).await > 0 {
        let passed = async {
            // Before its owner hears that a run is over, who hears the device knows of the run.
            arrivals.look(&machines).await?;
            pass_on(&machines, &some).await
        };
        if let Err(e) = passed.await {
            machines.metrics().device_words_lost.inc_by(some.len() as u64);
            tracing::warn!(error = %e, "words of devices did not reach the server that owns their machines; queries bring them again");
        }
        some.clear();
    }
}

async fn pass_on(machines: &Machines, words: &[Heard]) -> Result<(), DbError> {
    let client = machines.parts().store.get().await?;
    let statement = client.prepare_cached(PASS_ON).await?;
    let of: Vec<i64> = words.iter().map(|heard| heard.from.idmesin).collect();
    let outlets: Vec<i64> = words.iter().map(|heard| heard.from.idoutlet).collect();
    let said = words.iter().map(|heard| serde_json::to_value(&heard.event)).collect::<Result<Vec<Value>, _>>();
    let at: Vec<Timestamp> = words.iter().map(|heard| heard.at).collect();
    client.execute(&statement, &[&of, &outlets, &said.map_err(DbError::broken)?, &at]).await?;
    let shards: BTreeSet<i32> = outlets.iter().map(|outlet| shard_of(*outlet)).collect();
    machines.parts().news.tell(Hint::Words { shards: shards.into_iter().collect() });
    Ok(())
}

async fn take_forever(machines: Machines) {
    let mut every = interval(EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut news = machines.parts().news.listen();
    loop {
        tokio::select! {
            _ = every.tick() => {}
            () = words_for(&machines, &mut news) => {}
        }
        if let Err(e) = take(&machines).await {
            tracing::warn!(error = %e, "words of devices at other servers cannot be read; it will be tried again");
        }
    }
}

/// Returns when another server has told of words that this one's machines wait for.
async fn words_for(machines: &Machines, news: &mut Listener) {
    loop {
        match news.next().await {
            news::Heard::Missed => return,
            news::Heard::Hint { hint: Hint::Words { shards }, .. } => {
                if machines.ownership().shards().is_some_and(|own| shards.iter().any(|shard| own.contains(shard))) {
                    return;
                }
            }
            news::Heard::Hint { .. } | news::Heard::Own(_) => {}
        }
    }
}

async fn take(machines: &Machines) -> Result<(), MachineError> {
    let own = machines.ownership();
    let Some((shards, me)) = own.shards().zip(own.node()) else { return Ok(()) };
    let now = machines.parts().store.now();
    let client = machines.parts().recovery.get().await?;
    let statement = client.prepare_cached(TAKE).await?;
    for row in client.query(&statement, &[&shards, &now.plus_ms(-WORD_LIFE_MS), &me]).await? {
        let from = Location { idmesin: row.try_get(0)?, idoutlet: row.try_get(1)?, driver: row.try_get(2)? };
        let event: DeviceEvent = match serde_json::from_value(row.try_get(3)?) {
            Ok(event) => event,
            Err(e) => {
                machines.metrics().device_words_lost.inc();
                tracing::warn!(error = %e, idmesin = from.idmesin, "a device's word is lost: another version has written it down");
                continue;
            }
        };
        let at: Timestamp = row.try_get(4)?;
        let heard = Heard { from, event: event.heard_before(at.ms_until(now).max(0)), at };
        // It may be about a purchase that another server has begun, and that nobody here has looked for yet.
        let told = machines.tell(&from, MachineInput::LookAgain).and_then(|()| deliver(machines, heard));
        if let Err(e) = told {
            machines.metrics().device_words_lost.inc();
            tracing::warn!(error = %e, idmesin = from.idmesin, "a device's word is lost: its machine takes no more");
        }
    }
    Ok(())
}

/// Machines whose devices have just come, until it is read what they run. Cheap to clone.
#[derive(Debug, Clone, Default)]
struct Arrivals(Arc<Mutex<HashSet<i64>>>);

impl Arrivals {
    /// A device that comes in the middle of a run may say that nothing runs any more: whoever hears it has to know of the run. What it has
    /// said already, it is asked for again.
    async fn look(&self, machines: &Machines) -> Result<(), DbError> {
        let mut arrived = self.0.lock().await;
        arrived.extend(machines.parts().drivers.arrived());
        while !arrived.is_empty() {
            let some: Vec<i64> = arrived.iter().take(ARRIVED).copied().collect();
            let client = machines.parts().store.get().await?;
            for t in facts::open_of(&client, &some).await? {
                let p = &t.purchase;
                if p.state == PurchaseState::Running && !p.exchange.stop_requested && !machines.ownership().owns(t.idoutlet) {
                    recall(machines, location(&t), p);
                    super::command(machines, location(&t), command(&t, Op::Query));
                }
            }
            some.iter().for_each(|idmesin| _ = arrived.remove(idmesin));
        }
        Ok(())
    }
}

async fn speak_forever(machines: Machines, arrivals: Arrivals) {
    let mut every = interval(EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut said, mut news) = (Said::default(), machines.parts().news.listen());
    loop {
        let done = tokio::select! {
            _ = every.tick() => speak(&machines, &arrivals, &mut said).await,
            heard = news.next() => hear(&machines, &arrivals, heard, &mut news, &mut said).await,
        };
        if let Err(e) = done {
            tracing::warn!(error = %e, "what is to be said to devices cannot be read; it will be tried again");
        }
    }
}

/// Says what is to be said to the devices that are connected here and whose machines are decided elsewhere.
async fn speak(machines: &Machines, arrivals: &Arrivals, said: &mut Said) -> Result<(), MachineError> {
    let Some(shards) = machines.ownership().shards() else { return Ok(()) };
    let parts = machines.parts();
    let now = parts.store.now();
    arrivals.look(machines).await?;
    let client = parts.recovery.get().await?;
    let mut open = facts::unsettled_but(&client, &shards).await?;
    let mut waiting = Vec::new();
    if said.asks_for_staff(now) {
        open.extend(facts::given_back_but(&client, &shards).await?);
        let statement = client.prepare_cached(STAFF).await?;
        for row in client.query(&statement, &[&shards, &STAFF_MOST]).await? {
            waiting.push(Location { idmesin: row.try_get(0)?, idoutlet: row.try_get(1)?, driver: row.try_get(2)? });
        }
    }
    let mut unpaid = Vec::new();
    if said.asks_for_unpaid(now) {
        let statement = client.prepare_cached(UNPAID).await?;
        for row in client.query(&statement, &[&shards, &STAFF_MOST, &now]).await? {
            let at = Location { idmesin: row.try_get(0)?, idoutlet: row.try_get(1)?, driver: row.try_get(2)? };
            let ask = Command::about_nothing(at.idmesin, now);
            unpaid.push((at, if row.try_get(4)? { Command { cmd_id: row.try_get(3)?, op: Op::Stop, ..ask } } else { ask }));
        }
    }
    drop(client);
    open.retain(|t| holds(machines, &location(t)));
    // Those are asked about their purchase.
    waiting.retain(|at| holds(machines, at) && open.iter().all(|t| t.idmesin != at.idmesin));
    said.forget_all_but(&open);
    say(machines, said, &open, now);
    for at in waiting {
        super::command(machines, at, Command::about_nothing(at.idmesin, now));
    }
    for (at, cmd) in unpaid.into_iter().filter(|(at, _)| holds(machines, at)) {
        super::command(machines, at, cmd);
    }
    Ok(())
}

/// The same of machines that another server has just told of.
async fn hear(
    machines: &Machines,
    arrivals: &Arrivals,
    first: news::Heard,
    rest: &mut Listener,
    said: &mut Said,
) -> Result<(), MachineError> {
    let mut linked = BTreeSet::new();
    for heard in std::iter::once(first).chain(rest.rest(BATCH)) {
        match heard {
            news::Heard::Missed => return speak(machines, arrivals, said).await,
            news::Heard::Hint { hint: Hint::Machine { id, outlet }, .. } | news::Heard::Own(Hint::Machine { id, outlet })
                if !machines.ownership().owns(outlet) =>
            {
                // One that is not there, or cannot be asked for now, is found by looking.
                linked.extend(machines.find(id).await.ok().filter(|at| holds(machines, at)).map(|at| at.idmesin));
            }
            news::Heard::Hint { .. } | news::Heard::Own(_) => {}
        }
    }
    if linked.is_empty() {
        return Ok(());
    }
    let linked: Vec<i64> = linked.into_iter().collect();
    let open = facts::open_of(&machines.parts().recovery.get().await?, &linked).await?;
    say(machines, said, &open, machines.parts().store.now());
    Ok(())
}

/// Whether the machine's device is connected here.
fn holds(machines: &Machines, location: &Location) -> bool {
    machines.parts().drivers.get(location.driver).is_some_and(|driver| driver.holds(*location))
}

fn say(machines: &Machines, said: &mut Said, open: &[OpenPurchase], now: Timestamp) {
    for t in open {
        let cmd = said.next(t, now);
        if said.is_first_of(t) {
            recall(machines, location(t), &t.purchase);
        }
        if let Some(cmd) = cmd {
            super::command(machines, location(t), cmd);
        }
    }
}

fn command(t: &OpenPurchase, op: Op) -> Command {
    let p = &t.purchase;
    Command { idmesin: t.idmesin, cmd_id: p.cmd_id, epoch: p.epoch, op, duration_s: p.duration_s, exp: p.exp(), held_here: false }
}

const fn location(t: &OpenPurchase) -> Location {
    Location { idmesin: t.idmesin, idoutlet: t.idoutlet, driver: t.driver }
}

/// What this server has said of other servers' purchases, so that it says nothing again sooner than their owner would.
#[derive(Debug, Default)]
pub struct Said {
    of: HashMap<Uuid, (Op, Timestamp)>,
    recalled: HashSet<Uuid>,
    asked_for_staff: Option<Timestamp>,
    asked_for_unpaid: Option<Timestamp>,
}

impl Said {
    /// Whether machines that wait for staff are to be read now.
    pub fn asks_for_staff(&mut self, now: Timestamp) -> bool {
        let due = self.asked_for_staff.is_none_or(|at| at.ms_until(now) >= STAFF_EVERY_MS);
        if due {
            self.asked_for_staff = Some(now);
        }
        due
    }

    /// Whether runs that no open purchase says are to be read now.
    pub fn asks_for_unpaid(&mut self, now: Timestamp) -> bool {
        let due = self.asked_for_unpaid.is_none_or(|at| at.ms_until(now) >= RESEND_MS);
        if due {
            self.asked_for_unpaid = Some(now);
        }
        due
    }

    /// What is not there any more is said no more.
    pub fn forget_all_but(&mut self, open: &[OpenPurchase]) {
        let there: HashSet<Uuid> = open.iter().map(|t| t.purchase.cmd_id).collect();
        self.of.retain(|cmd_id, _| there.contains(cmd_id));
        // Those of machines that wait for staff are read now and then only.
        if self.recalled.len() > WORDS {
            self.recalled.retain(|cmd_id| there.contains(cmd_id));
        }
    }

    fn is_first_of(&mut self, t: &OpenPurchase) -> bool {
        self.recalled.insert(t.purchase.cmd_id)
    }

    /// What is to be said now, if anything.
    pub fn next(&mut self, t: &OpenPurchase, now: Timestamp) -> Option<Command> {
        let p = &t.purchase;
        let (op, again_ms) = match p.state {
            PurchaseState::Held | PurchaseState::Sent if now < p.exp() => (Op::Start, RESEND_MS),
            PurchaseState::Held | PurchaseState::Sent | PurchaseState::Unsure => (Op::Query, QUERY_EVERY_MS),
            PurchaseState::Running if p.exchange.stop_requested => (Op::Stop, RESEND_MS),
            // The machine waits for staff: its device is asked what it runs.
            PurchaseState::Expired => (Op::Query, STAFF_EVERY_MS / 2),
            _ => return None,
        };
        if self.of.get(&p.cmd_id).is_some_and(|(before, at)| *before == op && at.ms_until(now) < again_ms) {
            return None;
        }
        self.of.insert(p.cmd_id, (op, now));
        Some(command(t, op))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nyala_core::domain::driver_kind::DriverKind;
    use nyala_core::purchase::step;
    use nyala_core::purchase::times::CMD_LIFE_MS;

    #[test]
    fn a_start_is_repeated_until_it_is_too_late_and_then_it_is_a_question() {
        let t0 = Timestamp::from_ms(1_000_000);
        let purchase = step::first(1, Uuid::from_u128(7), 3, 60, t0, t0);
        let mut t = OpenPurchase { idmesin: 5, idoutlet: 1, driver: DriverKind::Mqtt, purchase };
        let mut said = Said::default();
        let mut ops = Vec::new();
        for ms in (0..=20_000).step_by(300) {
            let cmd = said.next(&t, t0.plus_ms(ms));
            ops.extend(cmd.map(|cmd| (ms, cmd.op)));
        }
        let (start, query) = (Op::Start, Op::Query);
        assert_eq!(ops, [(0, start), (3_000, start), (6_000, start), (9_000, start), (10_200, query), (15_300, query)]);
        assert!(ops.iter().all(|(ms, op)| *op != Op::Start || *ms < CMD_LIFE_MS));
        t.purchase.state = PurchaseState::Running;
        assert!(said.next(&t, t0.plus_ms(30_000)).is_none());
        t.purchase.exchange.stop_requested = true;
        assert_eq!(said.next(&t, t0.plus_ms(30_000)).map(|cmd| cmd.op), Some(Op::Stop));
    }
}
