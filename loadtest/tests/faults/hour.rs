//! An hour of a soak in a few seconds: the fake server makes the ticks, the tool's rules check them, and the test sets the time of both.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use nyala_loadtest::engine::clock::ServerClock;
use nyala_loadtest::engine::stats::Second;
use nyala_loadtest::engine::subscriptions::{Subscriptions, Ticked};
use nyala_loadtest::engine::{Plan, ServerMessage, TickKind, Topic, heartbeat, message};
use serde_json::json;

use crate::fake::room::Receiver;
use crate::fake::{Faults, State, socket};

const OUTLETS: usize = 4;
const MACHINES: usize = 5;
/// Duration of a run in seconds, and its price in rupiah.
const DURATION_S: i64 = 7;
const PRICE: i64 = 1_000;
/// Beginning of the simulated hour, in epoch milliseconds.
const BEGIN: i64 = 1_795_000_000_123;
const HOUR_MS: i64 = 3_600_000;
/// Interval between purchases. It is no whole second, so that runs begin at all moments of a second.
const PURCHASE_EVERY_MS: i64 = 457;
/// Time from a payment until the server has its customer's subscribe.
const SUBSCRIBED_AFTER_MS: i64 = 3;
/// Delay from the server to a session.
const UNDER_WAY_MS: i64 = 1;

/// Keeps the sent messages in order: session and text.
#[derive(Clone)]
struct Inbox(u64, Arc<Mutex<Vec<(u64, String)>>>);

impl Receiver for Inbox {
    fn send(&mut self, text: &str) -> Option<()> {
        self.1.lock().unwrap().push((self.0, text.to_owned()));
        Some(())
    }

    fn hang_up(&self) {}
}

/// Acts of customers, with their time in epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    Pay { machine: usize },
    Subscribe { machine: usize },
}

/// A customer for each machine, who pays and watches it, and a session for each outlet that watches all its machines.
struct Hour {
    fake: State,
    faults: Faults,
    ids: Vec<i64>,
    services: Vec<i64>,
    outlets: Vec<i64>,
    sent: Arc<Mutex<Vec<(u64, String)>>>,
    watched: Subscriptions,
    clock: ServerClock,
    second: Second,
    plan: BinaryHeap<Reverse<(i64, Deed)>>,
    paid: u64,
}

impl Hour {
    fn new(faults: Faults) -> Self {
        let mut fake = State::default();
        let (mut ids, mut services, mut outlets) = (Vec::new(), Vec::new(), Vec::new());
        let mut ops = |call: &str, body| fake.shop.ops(call, &body, &faults).expect("the fake makes it");
        for _ in 0..OUTLETS {
            let outlet = ops("outlet", json!({}))["idoutlet"].as_i64().unwrap();
            let service = ops("layanan", json!({ "idoutlet": outlet, "durasi": DURATION_S }))["id"].as_i64().unwrap();
            let made = ops("mesin/bulk", json!({ "idoutlet": outlet, "jumlah": MACHINES }));
            for machine in made["mesin"].as_array().unwrap() {
                ids.push(machine["id"].as_i64().unwrap());
                services.push(service);
                outlets.push(outlet);
            }
        }
        let customers = ops("pelanggan/bulk", json!({ "jumlah": ids.len(), "saldo": 20_000_000 }));
        assert_eq!(customers["pelanggan"].as_array().unwrap().len(), ids.len());
        let topic = |n: usize| Topic { idmesin: ids[n], group: u32::try_from(n / MACHINES).unwrap() };
        let mut topics = vec![Vec::new(); ids.len()];
        topics.extend((0..OUTLETS).map(|outlet| (0..MACHINES).map(|n| topic(outlet * MACHINES + n)).collect()));
        let watched = Subscriptions::new(&Plan {
            address: ([127, 0, 0, 1], 1).into(),
            host: String::new(),
            tokens: vec!["".into(); topics.len()].into(),
            topics,
            topics_per_session: MACHINES,
            groups: OUTLETS,
            period_ms: 1_000,
            bare: false,
            in_flight: 1,
        });
        Self {
            fake,
            faults,
            ids,
            services,
            outlets,
            sent: Arc::default(),
            watched,
            clock: ServerClock::new(Instant::now()),
            second: Second::new().unwrap(),
            plan: BinaryHeap::new(),
            paid: 0,
        }
    }

    fn play(mut self) -> (Second, u64) {
        for session in 0..self.ids.len() + OUTLETS {
            let inbox = Inbox(session as u64, self.sent.clone());
            self.fake.room.enter(session as u64, Box::new(inbox));
            let asked: Vec<(usize, i64)> = self.watched.of(session).collect();
            asked.into_iter().for_each(|(slot, idmesin)| self.subscribe(session, slot, idmesin, BEGIN));
        }
        self.watched.all_joined();
        self.watched.count_runs();
        let machines = self.ids.len();
        // At each outlet, machines pause between two runs.
        let pay = |n: i64| (BEGIN + n * PURCHASE_EVERY_MS, Deed::Pay { machine: usize::try_from(n).unwrap() * 7 % machines });
        self.plan.extend((1..=HOUR_MS / PURCHASE_EVERY_MS).map(pay).map(Reverse));
        let (mut due, end) = (BEGIN, BEGIN + HOUR_MS + (DURATION_S + 1) * 1_000);
        loop {
            let now = self.plan.peek().map_or(due, |Reverse((at, _))| due.min(*at));
            if now > end {
                break;
            }
            while let Some(Reverse((at, deed))) = self.plan.peek().copied()
                && at <= now
            {
                self.plan.pop();
                self.act(deed, now);
            }
            due = self.fake.room.send_due_ticks(&self.fake.shop.machines, &self.faults, now);
            self.deliver(now);
        }
        self.watched.check(end, &self.clock, &mut self.second);
        (self.second, self.paid)
    }

    fn act(&mut self, deed: Deed, now: i64) {
        match deed {
            Deed::Pay { machine } => self.pay(machine, now),
            Deed::Subscribe { machine } => {
                let topic = Topic { idmesin: self.ids[machine], group: u32::try_from(machine / MACHINES).unwrap() };
                let slot = self.watched.add(machine, topic).expect("one purchase at a time");
                self.subscribe(machine, slot, topic.idmesin, now);
            }
        }
    }

    fn pay(&mut self, machine: usize, now: i64) {
        self.paid += 1;
        let order = json!({
            "id": format!("SLF{:015}", self.paid), "idmesin": self.ids[machine], "idsnap_layanan": self.services[machine],
            "idoutlet": self.outlets[machine], "grandtotal": PRICE,
        });
        // The customers' ids follow all other ids.
        let customer = self.ids.last().unwrap() + 1 + i64::try_from(machine).unwrap();
        self.fake.shop.pay(customer, &order, &self.faults, now).expect("an answer").expect("the machine is free");
        self.plan.push(Reverse((now + SUBSCRIBED_AFTER_MS, Deed::Subscribe { machine })));
    }

    fn subscribe(&mut self, session: usize, slot: usize, idmesin: i64, now: i64) {
        let text = format!(r#"42{slot}["subscribe","heartbeat/{idmesin}"]"#);
        socket::on_message(&mut self.fake, &self.faults, session as u64, &text, now).expect("an answer");
        self.deliver(now);
    }

    /// Delivers the sent messages.
    fn deliver(&mut self, now: i64) {
        let us = |ms: i64| (ms - BEGIN) * 1_000;
        let at = us(now + UNDER_WAY_MS);
        let sent = std::mem::take(&mut *self.sent.lock().unwrap());
        for (session, text) in sent {
            let session = usize::try_from(session).unwrap();
            if heartbeat::is(text.as_bytes()) {
                match self.watched.tick(session, text.as_bytes(), at, &mut self.clock, &mut self.second) {
                    Ticked::Of { idmesin, what: TickKind::Final, is_reported: true, .. } => {
                        self.watched.remove(session, idmesin);
                        let text = format!(r#"429["unsubscribe","heartbeat/{idmesin}"]"#);
                        socket::on_message(&mut self.fake, &self.faults, session as u64, &text, now).expect("an answer");
                    }
                    Ticked::Of { .. } => {}
                    odd => panic!("{odd:?}: {text}"),
                }
            } else if let ServerMessage::Answer { id, snapshot } = message(text.as_bytes())
                && id < MACHINES
            {
                let times = (us(now - UNDER_WAY_MS), at);
                self.watched.answer(session, id, &snapshot, times, &mut self.clock, &mut self.second).expect("it was asked");
            }
        }
    }
}

/// Asserts that the measured lateness of the server stays within a millisecond, and the jitter within `jitter_ms`.
fn clean(faults: Faults, jitter_ms: f64) {
    let (snapshot, paid) = Hour::new(faults).play();
    let counters = snapshot.counters;
    // Two sessions see each run: the customer's and the outlet's.
    assert_eq!((counters.finals, counters.starts >= paid), (2 * paid, true), "{counters:?}");
    assert!(counters.deliveries > 10 * paid, "{counters:?}");
    assert_eq!(counters.deliveries, counters.expected, "{counters:?}");
    for (name, n) in [
        ("missed", counters.missed),
        ("duplicates", counters.duplicates),
        ("unexpected", counters.unexpected),
        ("tl_wrong", counters.tl_wrong),
        ("tl_not_falling", counters.tl_not_falling),
        ("finals_missing", counters.finals_missing),
        ("finals_early", counters.finals_early),
        ("errors", snapshot.errors.total()),
    ] {
        assert_eq!(n, 0, "{name}: {counters:?}");
    }
    let (late, jitter) = (snapshot.spans.late.max_ms(), snapshot.spans.jitter.max_ms());
    assert!(late <= 1.0 && jitter <= jitter_ms, "no tick is made after its moment: {late} ms late, {jitter} ms of jitter");
}

#[test]
fn an_hour_without_fault_is_clean() {
    clean(Faults::default(), 1.0);
}

/// The server makes ticks on another thread than answers: the tick of a start must not count as a phase tick.
#[test]
fn an_hour_in_which_answers_overtake_ticks_of_starts_is_clean() {
    clean(Faults { starts_late_ms: 10, ..Faults::default() }, 1.0);
}

/// One tick a minute is 3 to 45 ms early. If it moved the phase, all other ticks would count as late.
#[test]
fn an_hour_in_which_a_tick_a_minute_is_early_by_a_little_is_clean() {
    clean(Faults { early_step_ms: 3, ..Faults::default() }, 46.0);
}
