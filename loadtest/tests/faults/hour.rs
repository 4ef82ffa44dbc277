//! An hour of a soak in seconds: the fake makes the ticks, the tool's own rules judge them, and both are told what time it is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use nyala_loadtest::engine::clock::ServerClock;
use nyala_loadtest::engine::stats::Second;
use nyala_loadtest::engine::subscriptions::{Subscriptions, Ticked};
use nyala_loadtest::engine::{Plan, ServerMessage, TickKind, Topic, heartbeat, message};
use serde_json::json;

use crate::fake::room::Line;
use crate::fake::{Faults, State, socket};

const OUTLETS: usize = 4;
const MACHINES: usize = 5;
/// Seconds that a run lasts, and rupiah that it costs.
const DURATION_S: i64 = 7;
const PRICE: i64 = 1_000;
/// The simulated hour begins at this epoch millisecond.
const BEGIN: i64 = 1_795_000_000_123;
const HOUR_MS: i64 = 3_600_000;
/// A purchase somewhere this often; nothing of it is a whole second, so that runs begin at every moment of one.
const PURCHASE_EVERY_MS: i64 = 457;
/// From a payment until its customer's subscription is at the server.
const SUBSCRIBED_AFTER_MS: i64 = 3;
/// From the server to a session.
const UNDER_WAY_MS: i64 = 1;

/// Keeps what is said, in order: session and text.
#[derive(Clone)]
struct Ear(u64, Arc<Mutex<Vec<(u64, String)>>>);

impl Line for Ear {
    fn say(&mut self, text: &str) -> Option<()> {
        self.1.lock().unwrap().push((self.0, text.to_owned()));
        Some(())
    }

    fn hang_up(&self) {}
}

/// What customers do, at an epoch millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    Pay { machine: usize },
    Subscribe { machine: usize },
}

/// One customer a machine, who pays and watches it, and one more session that watches all of an outlet all the time.
struct Hour {
    fake: State,
    faults: Faults,
    ids: Vec<i64>,
    services: Vec<i64>,
    outlets: Vec<i64>,
    said: Arc<Mutex<Vec<(u64, String)>>>,
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
            said: Arc::default(),
            watched,
            clock: ServerClock::new(Instant::now()),
            second: Second::new().unwrap(),
            plan: BinaryHeap::new(),
            paid: 0,
        }
    }

    fn play(mut self) -> (Second, u64) {
        for session in 0..self.ids.len() + OUTLETS {
            let ear = Ear(session as u64, self.said.clone());
            self.fake.room.enter(session as u64, Box::new(ear));
            let asked: Vec<(usize, i64)> = self.watched.of(session).collect();
            asked.into_iter().for_each(|(slot, idmesin)| self.subscribe(session, slot, idmesin, BEGIN));
        }
        self.watched.all_joined();
        self.watched.count_runs();
        let machines = self.ids.len();
        // Of each outlet a machine rests between two runs.
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
            due = self.fake.room.say_what_is_due(&self.fake.shop.machines, &self.faults, now);
            self.hear(now);
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
        // The customers' ids come after those of everything else.
        let customer = self.ids.last().unwrap() + 1 + i64::try_from(machine).unwrap();
        self.fake.shop.pay(customer, &order, &self.faults, now).expect("an answer").expect("the machine is free");
        self.plan.push(Reverse((now + SUBSCRIBED_AFTER_MS, Deed::Subscribe { machine })));
    }

    fn subscribe(&mut self, session: usize, slot: usize, idmesin: i64, now: i64) {
        let text = format!(r#"42{slot}["subscribe","heartbeat/{idmesin}"]"#);
        socket::heard(&mut self.fake, &self.faults, session as u64, &text, now).expect("an answer");
        self.hear(now);
    }

    /// What was said arrives.
    fn hear(&mut self, now: i64) {
        let us = |ms: i64| (ms - BEGIN) * 1_000;
        let at = us(now + UNDER_WAY_MS);
        let said = std::mem::take(&mut *self.said.lock().unwrap());
        for (session, text) in said {
            let session = usize::try_from(session).unwrap();
            if heartbeat::is(text.as_bytes()) {
                match self.watched.tick(session, text.as_bytes(), at, &mut self.clock, &mut self.second) {
                    Ticked::Of { idmesin, what: TickKind::Final, is_told: true, .. } => {
                        self.watched.remove(session, idmesin);
                        let text = format!(r#"429["unsubscribe","heartbeat/{idmesin}"]"#);
                        socket::heard(&mut self.fake, &self.faults, session as u64, &text, now).expect("an answer");
                    }
                    Ticked::Of { .. } => {}
                    odd => panic!("{odd:?}: {text}"),
                }
            } else if let ServerMessage::Answer { id, told } = message(text.as_bytes())
                && id < MACHINES
            {
                let times = (us(now - UNDER_WAY_MS), at);
                self.watched.answer(session, id, &told, times, &mut self.clock, &mut self.second).expect("it was asked");
            }
        }
    }
}

/// The server's own lateness stays within a millisecond, and ticks come apart by a period to `jitter_ms`.
fn clean(faults: Faults, jitter_ms: f64) {
    let (told, paid) = Hour::new(faults).play();
    let counters = told.counters;
    // Each run is seen by who paid and by who watches the outlet.
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
        ("errors", told.errors.total()),
    ] {
        assert_eq!(n, 0, "{name}: {counters:?}");
    }
    let (late, jitter) = (told.spans.late.max_ms(), told.spans.jitter.max_ms());
    assert!(late <= 1.0 && jitter <= jitter_ms, "no tick is made after its moment: {late} ms late, {jitter} ms of jitter");
}

#[test]
fn an_hour_without_fault_is_clean() {
    clean(Faults::default(), 1.0);
}

/// The server makes ticks on another thread than the one that answers: nobody may take the tick of a start for one of the phase.
#[test]
fn an_hour_in_which_answers_overtake_ticks_of_starts_is_clean() {
    clean(Faults { starts_late_ms: 10, ..Faults::default() }, 1.0);
}

/// An odd tick in a minute, 3 to 45 ms early: whoever moved the moment of all ticks with it would call all others late.
#[test]
fn an_hour_in_which_a_tick_a_minute_is_early_by_a_little_is_clean() {
    clean(Faults { early_step_ms: 3, ..Faults::default() }, 46.0);
}
