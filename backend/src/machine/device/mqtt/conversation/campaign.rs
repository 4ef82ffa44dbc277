//! Histories in virtual time: the real rules of the purchase, the real conversation and the real memory of a device, and between them a
//! network that loses, delays, doubles and cuts. A seed is a whole history.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use uuid::Uuid;

use super::*;
use crate::machine::device::memory::DeviceMemory;
use crate::machine::device::mqtt::model::{self, Act, Saying};
use crate::purchase::step::{self, Change, PurchaseEvent};

const HISTORIES: u64 = 400;
/// So long there is trouble; then all heals.
const TROUBLE_MS: i64 = 3_000_000;
const END_MS: i64 = TROUBLE_MS + 2_000_000;
const T0: Timestamp = Timestamp::from_ms(1_800_000_000_000);

#[derive(Debug, Clone)]
enum Event {
    ToServer {
        link: LinkId,
        word: Word,
    },
    ToDevice {
        link: LinkId,
        cmd: Cmd,
    },
    /// The purchase's alarm, in the server's life of that number.
    Wake {
        life: u32,
    },
    /// The conversation's.
    Silence {
        life: u32,
    },
    /// The server's system tells that the line is gone.
    Closed {
        link: LinkId,
    },
    /// The broker does, by publishing the will.
    Will {
        stamp: Stamp,
    },
    Beat {
        link: LinkId,
    },
    Tick,
    Press,
    OperatorStops,
    Fault,
    Connect,
    PowerOn,
    ServerUp,
    Peace,
}

/// What a device really did.
struct Ran {
    cmd_id: Uuid,
    begins: Timestamp,
    ends: Timestamp,
    /// Its power was cut meanwhile, so it may go on.
    cut: bool,
}

/// The device, its crystal and its line.
struct Device {
    model: model::Device,
    /// What is on its flash.
    journal: DeviceMemory,
    /// It is to be woken.
    ticks: bool,
    on: bool,
    boot: i64,
    booted_at: Timestamp,
    /// Its crystal goes wrong by so many in a million.
    drift: i64,
    link: Option<LinkId>,
    runs: Vec<Ran>,
}

struct World {
    rng: StdRng,
    now: Timestamp,
    route: Route,
    queue: BinaryHeap<Reverse<(Timestamp, u64)>>,
    events: BTreeMap<u64, Event>,
    number: u64,
    /// While the server is up.
    talk: Option<Conversation>,
    life: u32,
    purchase: Option<Purchase>,
    epoch: i64,
    present: bool,
    /// When that was last true, as far as it is known.
    present_at: Timestamp,
    voided: HashSet<Uuid>,
    device: Device,
    links: u64,
    /// A line keeps the order of its words, one way and the other.
    busy_until: [Timestamp; 2],
    /// The device's line is dead and nobody knows.
    dead: bool,
    calm: bool,
    seen: BTreeMap<&'static str, u32>,
}

impl Device {
    fn up_ms(&self, now: Timestamp) -> i64 {
        let true_ms = self.booted_at.ms_until(now);
        true_ms + true_ms * self.drift / 1_000_000
    }

    fn run(&self, now: Timestamp) -> Option<DeviceRun> {
        self.model.run(self.up_ms(now))
    }

    fn word(&mut self, saying: Saying, now: Timestamp) -> Word {
        let up_ms = self.up_ms(now);
        self.model.word(saying, up_ms)
    }
}

impl World {
    fn new(seed: u64, route: Route) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let device = Device {
            model: model::Device::boot(0, DeviceMemory::default()),
            journal: DeviceMemory::default(),
            ticks: false,
            on: false,
            boot: 0,
            booted_at: T0,
            drift: rng.random_range(-50..=50),
            link: None,
            runs: Vec::new(),
        };
        let mut world = Self {
            rng,
            now: T0,
            route,
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            number: 0,
            talk: None,
            life: 0,
            purchase: None,
            epoch: 0,
            present: false,
            present_at: T0,
            voided: HashSet::new(),
            device,
            links: 0,
            busy_until: [T0; 2],
            dead: false,
            calm: false,
            seen: BTreeMap::new(),
        };
        world.after(0, Event::ServerUp);
        world.after(0, Event::PowerOn);
        for what in [Event::Press, Event::Press, Event::Fault, Event::OperatorStops].iter().cycle().take(28) {
            let at = world.up_to(TROUBLE_MS);
            world.after(at, what.clone());
        }
        world.after(TROUBLE_MS, Event::Peace);
        world
    }

    fn note(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    fn up_to(&mut self, ms: i64) -> i64 {
        self.rng.random_range(0..=ms)
    }

    fn after(&mut self, ms: i64, what: Event) {
        self.number += 1;
        self.queue.push(Reverse((self.now.plus_ms(ms), self.number)));
        self.events.insert(self.number, what);
    }

    fn run(&mut self) {
        while let Some(Reverse((at, number))) = self.queue.pop() {
            if T0.ms_until(at) > END_MS {
                break;
            }
            self.now = at;
            let what = self.events.remove(&number).unwrap();
            self.happen(what);
        }
        assert!(self.purchase.as_ref().is_none_or(|p| !p.state.undecided()), "undecided at the end: {:?}", self.purchase);
        assert!(self.present, "it is connected and shown as away");
    }

    fn happen(&mut self, what: Event) {
        match what {
            Event::ToServer { link, word } => self.converse(|talk, now| talk.hear(link, &word, now)),
            Event::ToDevice { link, cmd } => {
                if self.device.on && (self.device.link == Some(link) && !self.dead || self.route == Route::Broker) {
                    self.device_hears(&cmd);
                }
            }
            Event::Wake { life } => {
                if life == self.life && self.purchase.as_ref().and_then(step::wake_at).is_some_and(|at| at <= self.now) {
                    self.feed(PurchaseEvent::Wake);
                }
            }
            Event::Silence { life } if life == self.life => self.converse(Conversation::wake),
            Event::Closed { link } => self.converse(|talk, now| talk.unlinked(link, now)),
            Event::Will { stamp } => self.converse(|talk, now| talk.hear(LinkId(0), &Word::Gone(stamp), now)),
            Event::Beat { link } if self.device.link == Some(link) => {
                let up_ms = self.device.up_ms(self.now);
                let beat = self.device.model.beat(None, up_ms);
                self.device_says(beat);
                self.after(30_000, Event::Beat { link });
            }
            Event::Tick => self.device_ticks(),
            Event::Press => self.press(),
            Event::OperatorStops => self.feed(PurchaseEvent::StopRequested),
            Event::Fault if !self.calm => self.fault(),
            Event::Connect => self.connect(),
            Event::PowerOn if !self.device.on => {
                let device = &mut self.device;
                (device.on, device.boot, device.booted_at) = (true, device.boot + 1, self.now);
                device.model = model::Device::boot(device.boot, device.journal.clone());
                self.device_does(Vec::new());
                self.connect();
            }
            Event::ServerUp => {
                let mut talk = Conversation::new(self.route);
                if let Some(p) = &mut self.purchase {
                    p.exchange = step::Exchange::default();
                    talk.recall(1, p);
                }
                if self.route == Route::Broker {
                    talk.linked(LinkId(0), self.now);
                }
                self.talk = Some(talk);
                self.feed(PurchaseEvent::Wake);
            }
            Event::Peace => {
                self.calm = true;
                for ms in [300_000, 1_200_000] {
                    self.after(ms, Event::Press);
                }
            }
            Event::Silence { .. } | Event::Beat { .. } | Event::Fault | Event::PowerOn => {}
        }
    }

    // --- the server ---

    fn converse(&mut self, what: impl FnOnce(&mut Conversation, Timestamp) -> Vec<Effect>) {
        let Some(talk) = &mut self.talk else { return };
        let effects = what(talk, self.now);
        if let Some(at) = talk.silent_at() {
            let life = self.life;
            self.after(self.now.ms_until(at).max(0), Event::Silence { life });
        }
        for effect in effects {
            match effect {
                Effect::Tell(DeviceEvent::Ack { cmd_id, result }, grounds) => {
                    let undecided = self.purchase.as_ref().is_some_and(|p| p.cmd_id == cmd_id && p.state.undecided());
                    if undecided {
                        self.note(match grounds {
                            Grounds::Ack => "decided by an ack",
                            Grounds::Run => "decided by a stop",
                            Grounds::Last => "decided by the last command",
                            Grounds::Epoch => "decided by the epoch",
                            Grounds::NotWritten => "never written",
                        });
                    }
                    self.feed(PurchaseEvent::Ack { cmd_id, result });
                }
                Effect::Tell(DeviceEvent::State { run: Some(run), .. }, _) => {
                    if self.purchase.as_ref().is_some_and(|p| p.cmd_id == run.cmd_id && p.state.undecided()) {
                        self.note("decided by a run");
                    }
                    self.feed(PurchaseEvent::Runs { cmd_id: run.cmd_id, left_ms: run.left_ms });
                }
                Effect::Presence(present) => (self.present, self.present_at) = (present, self.now),
                Effect::Write(link, cmd) => self.deliver(1, |_| Event::ToDevice { link, cmd }),
                Effect::Trouble(Trouble::Clone | Trouble::MemoryLost { .. }) => {
                    panic!("{effect:?}: it is one device, and remembers")
                }
                Effect::Trouble(Trouble::EndedEarly { cmd_id, .. }) => {
                    let ended = self.device.runs.iter().any(|ran| ran.cmd_id == cmd_id && ran.ends <= self.now);
                    assert!(ended, "it runs on");
                    self.note("ended early");
                }
                Effect::Tell(DeviceEvent::State { run: None, .. }, _) | Effect::Close(_) | Effect::Dropped(_) => {}
            }
        }
    }

    fn feed(&mut self, event: PurchaseEvent) {
        let Some(p) = self.purchase.clone().filter(|_| self.talk.is_some()) else { return };
        let step = step::step(&p, &event, self.now);
        if let Some(change) = step.change {
            self.judge(&p, change, &event);
        }
        let next = step.next;
        let begins = next.exchange.first_sent.is_some() && next.exchange.first_sent == next.exchange.last_sent;
        self.purchase = next.state.open().then(|| next.clone());
        if p.state.undecided() && !next.state.undecided() {
            self.note(if p.created_at.ms_until(self.now) > 60_000 { "held for long" } else { "held shortly" });
        }
        if let Some(at) = step::wake_at(&next) {
            let life = self.life;
            self.after(self.now.ms_until(at).max(0), Event::Wake { life });
        }
        if let Some(op) = step.op {
            let (exp, duration_s) = (next.exp(), next.duration_s);
            let cmd = Command { idmesin: 1, cmd_id: next.cmd_id, epoch: next.epoch, op, duration_s, exp, held_here: false };
            self.converse(|talk, now| talk.say(&cmd, begins && op == Op::Start, now));
        }
    }

    /// Whether what is committed is true of what the device did.
    fn judge(&mut self, p: &Purchase, change: Change, event: &PurchaseEvent) {
        let ran = self.device.runs.iter().find(|ran| ran.cmd_id == p.cmd_id);
        match change {
            Change::Refuse | Change::Expire => {
                assert!(ran.is_none(), "the money is back though it ran: {event:?}");
                self.voided.insert(p.cmd_id);
            }
            Change::GiveUp => {
                self.voided.insert(p.cmd_id);
                self.note("given up");
            }
            Change::RunAndFinish { .. } => assert!(ran.is_some(), "paid, and never ran: {event:?}"),
            Change::Run { ends_at, .. } | Change::Sooner { ends_at, .. } => {
                let ran = ran.expect("paid, and never ran");
                let whole = ran.begins.ms_until(ran.ends) == p.duration_s * 1000;
                if *event != PurchaseEvent::Wake && whole {
                    let off_ms = ran.ends.ms_until(ends_at);
                    // It may be told later when even the shortest way was long, and never much sooner.
                    assert!(off_ms > -2_000, "sold before it is free by {off_ms}: {event:?}");
                    if off_ms > 5_000 {
                        self.note("countdown is late");
                    }
                }
            }
            Change::MarkSent | Change::MarkUnsure | Change::Finish => {}
            Change::Stop { .. } => {
                assert!(ran.is_some_and(|ran| ran.ends <= self.now), "stopped, and it runs on");
                self.note("stopped");
            }
        }
    }

    fn press(&mut self) {
        // What is stored of a link may be five seconds old.
        let shown = self.present || self.present_at.ms_until(self.now) < 5_000;
        if self.talk.is_none() || self.purchase.is_some() || !shown || self.device.run(self.now).is_some() {
            return;
        }
        self.epoch += 1;
        let cmd_id = Uuid::from_u128(self.rng.random());
        let duration_s = [60, 600, 1_800][self.rng.random_range(0..3)];
        self.purchase = Some(step::first(1, cmd_id, self.epoch, duration_s, self.now, self.now));
        self.note("bought");
        self.feed(PurchaseEvent::Wake);
        if self.rng.random_bool(0.4) {
            let at = self.up_to(12_000);
            self.after(at, Event::Fault);
        }
    }

    // --- the device ---

    fn device_hears(&mut self, cmd: &Cmd) {
        let up_ms = self.device.up_ms(self.now);
        let acts = self.device.model.hear(cmd, up_ms);
        self.device_does(acts);
    }

    fn device_ticks(&mut self) {
        self.device.ticks = false;
        if self.device.on {
            let up_ms = self.device.up_ms(self.now);
            let acts = self.device.model.tick(up_ms);
            self.device_does(acts);
        }
    }

    fn device_does(&mut self, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Save => self.device.journal = self.device.model.journal(),
                Act::Relay(true) => self.device_begins(),
                Act::Relay(false) => self.device_ends(),
                Act::Say(saying) => {
                    let word = self.device.word(saying, self.now);
                    self.device_says(word);
                }
            }
        }
        let up_ms = self.device.up_ms(self.now);
        if let Some(at) = self.device.model.tick_at().filter(|_| !self.device.ticks) {
            self.device.ticks = true;
            self.after((at - up_ms).max(1), Event::Tick);
        }
    }

    fn device_begins(&mut self) {
        let now = self.now;
        let run = self.device.run(now).expect("the relay is on for it");
        let ends = now.plus_ms(run.left_ms);
        if let Some(ran) = self.device.runs.iter_mut().find(|ran| ran.cmd_id == run.cmd_id) {
            assert!(std::mem::take(&mut ran.cut), "it runs twice");
            ran.ends = ends;
            return self.note("went on");
        }
        assert!(!self.voided.contains(&run.cmd_id), "it runs for nothing: {run:?}");
        self.device.runs.push(Ran { cmd_id: run.cmd_id, begins: now, ends, cut: false });
    }

    fn device_ends(&mut self) {
        if let Some(ran) = self.device.runs.last_mut() {
            ran.ends = ran.ends.min(self.now);
        }
    }

    fn device_says(&mut self, word: Word) {
        if let Some(link) = self.device.link {
            self.deliver(0, |_| Event::ToServer { link, word: word.clone() });
        }
    }

    /// On its way to the server (0) or to the device (1).
    fn deliver(&mut self, way: usize, what: impl Fn(()) -> Event) {
        if self.dead {
            return;
        }
        let slow = if !self.calm && self.rng.random_bool(0.05) { 4_000 } else { 150 };
        let delay_ms = 2 + self.up_to(slow);
        if self.route == Route::Broker {
            self.after(delay_ms, what(()));
            // Said again while the broker's acknowledgement is late.
            if !self.calm && self.rng.random_bool(0.05) {
                let later_ms = delay_ms + self.up_to(20_000);
                self.after(later_ms, what(()));
            }
            return;
        }
        let at = self.now.plus_ms(delay_ms).max(self.busy_until[way]);
        self.busy_until[way] = at;
        self.after(self.now.ms_until(at), what(()));
    }

    fn connect(&mut self) {
        if !self.device.on || self.device.link.is_some() {
            return;
        }
        if self.talk.is_none() && self.route == Route::Endpoint {
            let ms = 500 + self.up_to(15_000);
            return self.after(ms, Event::Connect);
        }
        self.links += 1;
        let link = LinkId(self.links);
        (self.device.link, self.dead, self.busy_until) = (Some(link), false, [self.now; 2]);
        self.device.model.connect();
        if self.route == Route::Endpoint {
            self.converse(|talk, now| talk.linked(link, now));
        }
        self.after(30_000, Event::Beat { link });
        self.device_does(vec![Act::Say(Saying::State)]);
    }

    /// The device has no line any more; after `noticed_ms` the other side knows.
    fn cut(&mut self, noticed_ms: i64) {
        let Some(link) = self.device.link.take() else { return };
        let stamp = self.device.model.will().stamp().clone();
        match self.route {
            Route::Endpoint => self.after(noticed_ms, Event::Closed { link }),
            Route::Broker => self.after(noticed_ms, Event::Will { stamp }),
        }
    }

    fn fault(&mut self) {
        match self.rng.random_range(0..6) {
            0 if self.talk.is_some() => {
                self.note("server down");
                self.talk = None;
                self.life += 1;
                self.present = false;
                if self.route == Route::Endpoint {
                    self.device.link = None;
                    let ms = self.up_to(5_000);
                    self.after(ms, Event::Connect);
                }
                let ms = 500 + self.up_to(60_000);
                self.after(ms, Event::ServerUp);
            }
            1 if self.device.on => {
                self.note("power cut");
                let noticed_ms = 10_000 + self.up_to(60_000);
                self.cut(noticed_ms);
                if let Some(run) = self.device.run(self.now) {
                    let exp = self.now.ms() / 1000;
                    let stop = Cmd { cmd_id: run.cmd_id, epoch: 0, op: Op::Stop, durasi_s: 0, exp, now_ms: 0, echo: None };
                    match self.rng.random_bool(0.5) {
                        true => self.device_hears(&stop),
                        false => self.device_ends(),
                    }
                    self.device.runs.iter_mut().for_each(|ran| ran.cut |= ran.cmd_id == run.cmd_id);
                }
                self.device.on = false;
                let ms = 1_000 + self.up_to(300_000);
                self.after(ms, Event::PowerOn);
            }
            2 | 3 if self.device.link.is_some() && !self.dead => {
                self.note("line dead");
                self.dead = true;
                let (noticed_ms, back_ms) = (10_000 + self.up_to(80_000), 500 + self.up_to(120_000));
                self.cut(noticed_ms);
                self.after(back_ms, Event::Connect);
            }
            _ if self.device.link.is_some() => {
                self.note("line cut");
                let (noticed_ms, back_ms) = (self.up_to(200), 100 + self.up_to(3_000));
                self.cut(noticed_ms);
                self.after(back_ms, Event::Connect);
            }
            _ => {}
        }
    }
}

fn all(route: Route, expected: &[&str]) {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..HISTORIES {
        let told = std::panic::catch_unwind(|| {
            let mut world = World::new(seed, route);
            world.run();
            world.seen
        });
        let Ok(told) = told else { panic!("history {seed} of {route:?} does not end well") };
        told.into_iter().for_each(|(what, n)| *seen.entry(what).or_default() += n);
    }
    let missing: Vec<&&str> = expected.iter().filter(|what| !seen.contains_key(**what)).collect();
    assert!(missing.is_empty(), "{missing:?} never happened: {seen:?}");
    assert!(!seen.contains_key("countdown is late"), "{seen:?}");
    println!("{route:?}: {seen:?}");
}

const BOTH: [&str; 10] = [
    "stopped",
    "decided by a run",
    "decided by the last command",
    "decided by the epoch",
    "ended early",
    "server down",
    "power cut",
    "went on",
    "line dead",
    "line cut",
];

#[test]
fn every_history_on_the_endpoint_ends_well() {
    all(Route::Endpoint, &[&BOTH[..], &["never written"]].concat());
}

#[test]
fn every_history_through_a_broker_ends_well() {
    all(Route::Broker, &[&BOTH[..], &["decided by an ack"]].concat());
}
