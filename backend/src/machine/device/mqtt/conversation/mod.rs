//! The conversation with one device (docs/contract.md §6), decided: which of its connections counts, which of its words, what they mean
//! for the open purchase, and what is said to it when. No clock, no line and no waiting in here: words, commands and the time come in,
//! effects go out. What is known of the open purchase is what its commands tell, so nobody needs to ask its machine's actor.

mod open;
mod order;
#[cfg(test)]
mod tests;
mod way;

use uuid::Uuid;

use self::open::{EARLY_MS, Open};
use self::order::{Order, Place};
use self::way::Way;
use super::word::{Ack, Beat, Cmd, Run, Stamp, State, Word};
use crate::domain::timestamp::Timestamp;
use crate::purchase::device::{Command, DeviceEvent, DeviceRun};
use crate::purchase::state::PurchaseState;
use crate::purchase::step::{AckResult, Op, Purchase};

/// Connections of a device that may have subscribed to its commands.
const LINKS: usize = 4;
/// A device is told the time after its first state of a connection, and after the first one each so many milliseconds.
const EXCHANGE_MS: i64 = 10 * 60_000;
/// How long a start waits for a connection's first state, without whose `echo` the device may have no clock to take it by.
const FIRST_STATE_MS: i64 = 2_000;
/// A device keeps a clock that it was told by an exchange which took no longer than [`TAKEN_MS`], and somewhat longer than this.
const CLOCK_KEPT_MS: i64 = 55 * 60_000;
const TAKEN_MS: i64 = 2_000;
/// A device is not asked again for a state that is wanted for the time before this has passed.
const ASK_AGAIN_MS: i64 = 10_000;
/// Behind a broker a connection is no line that costs something: a device that counts one for each word is not answered each time.
const ANSWER_AGAIN_MS: i64 = 1_000;
/// The end of a run is told again when it is so much sooner.
const WORTH_MS: i64 = 100;
/// A word this young is as good as a new one for who scans the machine.
const FRESH_MS: i64 = 3_000;
/// How long somebody who scans it waits for the device.
pub const PROBE_MS: i64 = 1_500;

/// A connection. One that came later has a higher number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u64);

/// What lies between the server and the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Nothing: its connections are the server's own.
    Endpoint,
    /// A broker: the one link is the server's with that, and words come in any order, twice, and late.
    Broker,
}

impl Route {
    /// How long devices take to come back when the server begins: at once, or behind a broker with their next heartbeat.
    pub const fn grace_ms(self) -> i64 {
        match self {
            Self::Endpoint => 15_000,
            Self::Broker => 45_000,
        }
    }

    /// After so long without a sign of life the device is not there.
    pub const fn silence_ms(self) -> i64 {
        match self {
            Self::Endpoint => 45_000,
            Self::Broker => 90_000,
        }
    }
}

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Bring this to the machine's actor.
    Tell(DeviceEvent, Grounds),
    /// Whether the device can be reached is another than before.
    Presence(bool),
    /// Publish it as the device's `cmd`, on this connection.
    Write(LinkId, Cmd),
    /// Nobody is at the other end.
    Close(LinkId),
    /// Somebody must look at the machine, and it goes on record.
    Trouble(Trouble),
    /// The word was not believed.
    Dropped(Why),
}

/// What a word for the actor is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grounds {
    Ack,
    /// The run of a state, or that there is none.
    Run,
    /// The `last` of a state.
    Last,
    /// The `epoch` of a state: the start never arrived, and now it is too late.
    Epoch,
    /// The start never left.
    NotWritten,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The device knew a higher epoch: it has forgotten what it ran.
    MemoryLost { before: i64, now: i64 },
    /// Two devices have one key.
    Clone,
    /// It stopped long before the end, and nobody had asked for it.
    EndedEarly { cmd_id: Uuid, left_ms: i64 },
}

/// Why a word is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// There are newer ones, or a newer connection.
    Stale,
    /// A will of a connection that is not the last word's.
    Will,
    /// The broker kept it; it is a reason to ask.
    Retained,
}

/// What somebody who scans a machine is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// It was heard just now.
    Here,
    /// Write this, and wait up to [`PROBE_MS`] until it [is no more asked](Conversation::is_asked).
    Ask(LinkId, Cmd),
    /// It is asked already: wait.
    Asked,
    /// There is nobody to ask.
    Away,
}

/// What is known of a device; see the module.
#[derive(Debug)]
pub struct Conversation {
    route: Route,
    /// Those that subscribed to `cmd`, the newest last: that one counts.
    links: Vec<LinkId>,
    /// When the newest did.
    linked_at: Timestamp,
    /// The last sign of life.
    alive_at: Timestamp,
    /// The last word that was believed.
    word_at: Option<Timestamp>,
    /// What was last told of its presence.
    present: Option<bool>,
    order: Order,
    way: Way,
    /// The `up_ms` of its last state on this connection.
    echo: Option<i64>,
    /// When a state of this connection was last answered with the time; `None` before its first.
    answered_at: Option<Timestamp>,
    /// The `up_ms` of that state.
    answered: Option<i64>,
    /// It has connected again too soon after that to be answered at once.
    anew: bool,
    /// When it was last seen to have taken the time from that.
    clock_at: Option<Timestamp>,
    /// It was asked for a state, and has said nothing since.
    asked_at: Option<Timestamp>,
    /// The epoch of its last state.
    epoch: Option<i64>,
    /// What it runs by that, and the uptime when it said so.
    run: Option<(Run, Option<i64>)>,
    /// What the actor was last told that it runs.
    told: Option<Uuid>,
    /// And until when.
    told_end: Timestamp,
    /// The actor wants to know what it runs, although it be nothing new.
    wanted: bool,
    open: Option<Open>,
    out: Vec<Effect>,
}

impl Conversation {
    /// One that has not begun.
    pub fn new(route: Route) -> Self {
        Self {
            route,
            links: Vec::new(),
            linked_at: Timestamp::default(),
            alive_at: Timestamp::default(),
            word_at: None,
            present: None,
            order: Order::default(),
            way: Way::default(),
            echo: None,
            answered_at: None,
            answered: None,
            anew: false,
            clock_at: None,
            asked_at: None,
            epoch: None,
            run: None,
            told: None,
            told_end: Timestamp::default(),
            wanted: false,
            open: None,
            out: Vec::new(),
        }
    }

    /// The machine's open purchase as it was found in the store, or the last one where staff are waited for: that is the fence. Whatever
    /// was said of it before counts as written. Of a run that was heard of here more is known than is stored.
    pub fn recall(&mut self, idmesin: i64, p: &Purchase) {
        if p.state == PurchaseState::Running && self.open.as_ref().is_some_and(|open| open.is(p.cmd_id) && open.ran) {
            return;
        }
        self.open = Some(Open::stored(idmesin, p));
    }

    // --- connections ---

    /// A connection has subscribed to `cmd`; behind a broker: the server's own with that is there.
    pub fn linked(&mut self, link: LinkId, now: Timestamp) -> Vec<Effect> {
        let before = self.link();
        // The server's own line is told of again with every word.
        if self.route == Route::Broker && before != Some(link) {
            self.links.clear();
            self.linked_at = now;
        }
        if let Err(at) = self.links.binary_search(&link) {
            self.links.insert(at, link);
        }
        if self.links.len() > LINKS {
            self.links.remove(0);
        }
        self.newest_since(before, now);
        self.done()
    }

    /// A connection is closed.
    pub fn unlinked(&mut self, link: LinkId, now: Timestamp) -> Vec<Effect> {
        self.drop_link(link, now);
        self.done()
    }

    /// Any packet on a connection is a sign of life; this is for those that are no word.
    pub fn alive(&mut self, link: LinkId, now: Timestamp) -> Vec<Effect> {
        self.lives(link, now);
        self.ask_for_the_time(now);
        self.done()
    }

    /// When [`Conversation::wake`] is due: nobody is there then.
    pub fn silent_at(&self) -> Option<Timestamp> {
        (self.present == Some(true)).then(|| self.alive_at.plus_ms(self.route.silence_ms()))
    }

    /// Looks whether the device has been silent for too long.
    pub fn wake(&mut self, now: Timestamp) -> Vec<Effect> {
        if self.silent_at().is_some_and(|at| at <= now) {
            match (self.route, self.link()) {
                (Route::Endpoint, Some(link)) => {
                    self.out.push(Effect::Close(link));
                    self.drop_link(link, now);
                }
                _ => self.present(false),
            }
        }
        self.done()
    }

    pub fn is_present(&self) -> bool {
        self.present == Some(true)
    }

    fn link(&self) -> Option<LinkId> {
        self.links.last().copied()
    }

    fn drop_link(&mut self, link: LinkId, now: Timestamp) {
        let before = self.link();
        self.links.retain(|l| *l != link);
        self.newest_since(before, now);
    }

    /// After the connections are others than before: on the endpoint the newest is the device's presence, and begins from nothing.
    fn newest_since(&mut self, before: Option<LinkId>, now: Timestamp) {
        let link = self.link();
        if self.route == Route::Broker || link == before {
            return;
        }
        (self.linked_at, self.alive_at) = (now, now);
        (self.echo, self.answered_at, self.answered, self.asked_at) = (None, None, None, None);
        self.present(link.is_some());
    }

    fn present(&mut self, present: bool) {
        if self.present != Some(present) {
            self.present = Some(present);
            self.out.push(Effect::Presence(present));
        }
    }

    /// The device is at the other end of that connection, or behind the broker.
    fn lives(&mut self, link: LinkId, now: Timestamp) {
        if self.route == Route::Broker || self.link() == Some(link) {
            self.alive_at = now;
            self.present(true);
        }
    }

    // --- what it says ---

    /// The device says something on a connection; `from` need not be one that subscribed to `cmd`.
    pub fn hear(&mut self, from: LinkId, word: &Word, now: Timestamp) -> Vec<Effect> {
        match word {
            Word::Ack(ack) => self.hear_ack(from, ack, now),
            Word::Gone(stamp) => self.hear_gone(stamp),
            Word::State(state) => match self.believe(from, &state.stamp, now) {
                true => self.hear_state(state, now),
                false => self.out.push(Effect::Dropped(Why::Stale)),
            },
            Word::Beat(Beat { stamp, .. }) => match self.believe(from, stamp, now) {
                true => self.ask_for_the_time(now),
                false => self.out.push(Effect::Dropped(Why::Stale)),
            },
        }
        self.done()
    }

    /// The broker gives a word that it kept, of whatever age.
    pub fn hear_kept(&mut self, now: Timestamp) -> Vec<Effect> {
        self.out.push(Effect::Dropped(Why::Retained));
        if !self.is_fresh(now) && !self.is_asked(now) {
            self.ask(now);
        }
        self.done()
    }

    /// What became of a command stays true however late it is heard.
    fn hear_ack(&mut self, from: LinkId, ack: &Ack, now: Timestamp) {
        if self.route == Route::Endpoint {
            self.spoke(now);
            self.lives(from, now);
        }
        if let Some(up_ms) = ack.stamp.up_ms.filter(|_| self.order.is_current(&ack.stamp)) {
            self.arrived(up_ms, now);
        }
        if let Some(open) = self.open.as_mut().filter(|open| open.is(ack.cmd_id)) {
            open.hear(ack.result);
        }
        // An ack does not say since when. Who asks although a state has told that was not reached by it.
        if ack.result == AckResult::Started && self.run.is_some_and(|(run, _)| run.cmd_id == ack.cmd_id) {
            return self.tell_run(now);
        }
        self.out.push(Effect::Tell(DeviceEvent::Ack { cmd_id: ack.cmd_id, result: ack.result }, Grounds::Ack));
    }

    fn hear_gone(&mut self, stamp: &Stamp) {
        if self.word_at.is_some() && self.order.is_last(stamp) {
            self.present(false);
        } else {
            self.out.push(Effect::Dropped(Why::Will));
        }
    }

    /// Whether a word is to be believed: the newest connection's, and newer than any before.
    fn believe(&mut self, from: LinkId, stamp: &Stamp, now: Timestamp) -> bool {
        let broker = self.route == Route::Broker;
        if !broker && self.links.contains(&from) && self.link() != Some(from) {
            return false;
        }
        match self.order.take(stamp, broker, now) {
            Place::Stale => return false,
            Place::Newest => {}
            Place::Connection => self.connected(now),
            Place::Boot { clone } => {
                if clone {
                    self.out.push(Effect::Trouble(Trouble::Clone));
                }
                (self.way, self.run, self.clock_at) = (Way::default(), None, None);
                self.connected(now);
            }
        }
        if self.anew && self.is_answered_again(now) {
            (self.answered_at, self.answered, self.anew) = (None, None, false);
        }
        self.spoke(now);
        self.lives(from, now);
        if let Some(up_ms) = stamp.up_ms {
            self.arrived(up_ms, now);
        }
        true
    }

    /// Something that counts was heard. Who needs the time is waited for until it says a state.
    fn spoke(&mut self, now: Timestamp) {
        self.word_at = Some(now);
        if self.has_clock(now) {
            self.asked_at = None;
        }
    }

    /// Behind a broker only its words tell that the device has connected anew.
    fn connected(&mut self, now: Timestamp) {
        match self.route {
            Route::Endpoint => {}
            Route::Broker if self.is_answered_again(now) => {
                (self.echo, self.answered_at, self.answered, self.anew) = (None, None, None, false);
            }
            Route::Broker => self.anew = true,
        }
    }

    fn is_answered_again(&self, now: Timestamp) -> bool {
        self.answered_at.is_none_or(|at| at.ms_until(now) >= ANSWER_AGAIN_MS)
    }

    /// A word has told its uptime. When ways were so much longer before, the end of a run is sooner than was told.
    fn arrived(&mut self, up_ms: i64, now: Timestamp) {
        if self.way.has_wrapped(up_ms) {
            self.run = None;
        }
        self.way.heard(up_ms, now);
        if self.ends_at(now).is_some_and(|ends_at| ends_at > now && ends_at.ms_until(self.told_end) > WORTH_MS) {
            self.tell_run(now);
        }
    }

    /// When what it runs ends, by its uptime and the shortest way.
    fn ends_at(&self, now: Timestamp) -> Option<Timestamp> {
        let (run, up_ms) = self.run?;
        let said_at = up_ms.and_then(|up_ms| self.way.said_at(up_ms)).map_or(now, |at| at.min(now));
        Some(said_at.plus_ms(run.left_ms()))
    }

    fn hear_state(&mut self, state: &State, now: Timestamp) {
        let said_at = state.stamp.up_ms.and_then(|up_ms| self.way.said_at(up_ms));
        self.remember_epoch(state.epoch);
        self.decide(state, said_at);
        self.run = state.run.map(|run| (run, state.stamp.up_ms));
        match state.run {
            Some(_) => self.tell_run(now),
            None => self.runs_nothing(said_at, now),
        }
        (self.echo, self.asked_at) = (state.stamp.up_ms, None);
        // Asked by the answer to that other state, it says this one: so it had the answer in time.
        if self.echo.zip(self.answered).is_some_and(|(up_ms, answered)| (0..TAKEN_MS).contains(&(up_ms - answered))) {
            self.clock_at = Some(now);
        }
        let first = self.answered_at.is_none();
        if self.answered_at.is_none_or(|at| at.ms_until(now) >= EXCHANGE_MS) {
            (self.answered_at, self.answered) = (Some(now), self.echo);
            // What the state did not decide, the answer to this does.
            let unsure = self.open.as_ref().filter(|open| open.is_unsure(now)).map(Open::query);
            self.write(unsure.map_or_else(|| nil_query(now), |query| Cmd::new(&query, now, None)), now);
        }
        if first && self.open.as_ref().is_some_and(|open| !open.answered) {
            self.start_if_due(now);
        }
    }

    fn remember_epoch(&mut self, epoch: Option<i64>) {
        if let Some((before, now)) = self.epoch.zip(epoch).filter(|(before, now)| now < before) {
            self.out.push(Effect::Trouble(Trouble::MemoryLost { before, now }));
            if let Some(open) = &mut self.open {
                open.forgotten = true;
            }
        }
        self.epoch = epoch.or(self.epoch);
    }

    /// What a state says of the open purchase beside what runs.
    fn decide(&mut self, state: &State, said_at: Option<Timestamp>) {
        let last = state.last.filter(|last| last.result != AckResult::Started);
        let Some(open) = &mut self.open else {
            // No command has told of a purchase yet; whose it was, if it is open, its actor knows.
            self.out.extend(last.map(|last| {
                let said = DeviceEvent::Ack { cmd_id: last.cmd_id, result: last.result };
                Effect::Tell(said, Grounds::Last)
            }));
            return;
        };
        if let Some(last) = last.filter(|last| open.is(last.cmd_id)) {
            open.hear(last.result);
            self.out.push(Effect::Tell(open.ack(last.result), Grounds::Last));
        } else if state.last.is_some_and(|last| open.is(last.cmd_id)) {
            // That it has started is told by what runs, with the time that is left; when nothing does, it is asked.
            open.ran = true;
        } else if let Some((epoch, said_at)) = state.epoch.zip(said_at)
            // Until a word has come in time nobody knows how long they are on their way: this one perhaps since before the start.
            && self.way.is_known_since(open.cmd.exp)
            && open.never_ran(epoch, said_at)
        {
            open.answered = true;
            self.out.push(Effect::Tell(open.ack(AckResult::Expired), Grounds::Epoch));
        }
    }

    /// Tells what runs, and how long still.
    fn tell_run(&mut self, now: Timestamp) {
        let Some(((run, _), ends_at)) = self.run.zip(self.ends_at(now)) else { return };
        if let Some(open) = self.open.as_mut().filter(|open| open.is(run.cmd_id)) {
            open.hear(AckResult::Started);
            open.ends_at = Some(ends_at);
        }
        self.told_end = ends_at;
        let left_ms = now.ms_until(ends_at).max(0);
        self.tell(Some(DeviceRun { cmd_id: run.cmd_id, left_ms }));
    }

    fn runs_nothing(&mut self, said_at: Option<Timestamp>, now: Timestamp) {
        let said_at = said_at.unwrap_or(now);
        // What a broker has kept back since before the start: the first that a new process hears.
        let before_it = self.route == Route::Broker && self.is_below_fence();
        if let Some(open) = self.open.as_mut().filter(|_| !before_it) {
            if open.stop_at.is_some_and(|stop| stop <= said_at) {
                open.hear(AckResult::Done);
                self.out.push(Effect::Tell(open.ack(AckResult::Done), Grounds::Run));
            } else if let Some(ends_at) = open.ends_at.take() {
                let left_ms = said_at.ms_until(ends_at);
                if left_ms > EARLY_MS {
                    self.out.push(Effect::Trouble(Trouble::EndedEarly { cmd_id: open.cmd.cmd_id, left_ms }));
                    // That it is free takes the flag off again: the next state says so, for which it is asked as long as staff are waited for.
                    return;
                }
            }
        }
        // While a start of that epoch may still come to it, it is not known to stay free.
        if !self.is_below_fence() && (self.wanted || self.told.is_some()) {
            self.tell(None);
        }
    }

    fn tell(&mut self, run: Option<DeviceRun>) {
        (self.told, self.wanted) = (run.map(|run| run.cmd_id), false);
        self.out.push(Effect::Tell(DeviceEvent::State { online: true, run }, Grounds::Run));
    }

    /// Whether it says that it has not seen the epoch of the last purchase.
    fn is_below_fence(&self) -> bool {
        self.open.as_ref().is_some_and(|open| self.epoch.is_some_and(|epoch| epoch < open.cmd.epoch))
    }

    // --- what is said to it ---

    /// The machine gives a command. `begins`: it is a start, and the first time that anybody sends it; a process that has found the
    /// purchase in the store never says so.
    pub fn say(&mut self, cmd: &Command, begins: bool, now: Timestamp) -> Vec<Effect> {
        self.learn(cmd, begins, now);
        match cmd.op {
            Op::Start => self.start_if_due(now),
            Op::Query => self.query(cmd, now),
            Op::Stop => {
                self.wanted = true;
                self.write(Cmd::new(cmd, now, None), now);
            }
        }
        self.done()
    }

    fn learn(&mut self, cmd: &Command, begins: bool, now: Timestamp) {
        if cmd.cmd_id.is_nil() {
            return;
        }
        match &mut self.open {
            Some(open) if open.is(cmd.cmd_id) => open.cmd = cmd.clone(),
            Some(open) if cmd.epoch <= open.cmd.epoch => return,
            _ => self.open = Some(Open::begin(cmd, begins)),
        }
        if let Some(open) = self.open.as_mut().filter(|_| cmd.op == Op::Stop) {
            open.stop_at.get_or_insert(now);
        }
    }

    /// Says the open purchase's start, unless the connection's first state is about to come.
    fn start_if_due(&mut self, now: Timestamp) {
        let ready = !self.is_state_awaited(now);
        let Some(cmd) = self.open.as_ref().filter(|open| open.is_to_start(now)).map(|open| Cmd::new(&open.cmd, now, None)) else {
            return;
        };
        if ready
            && self.write(cmd, now)
            && let Some(open) = &mut self.open
        {
            open.written = true;
        }
    }

    fn query(&mut self, cmd: &Command, now: Timestamp) {
        self.wanted = true;
        let Some(open) = &mut self.open else {
            self.write(Cmd::new(cmd, now, None), now);
            return;
        };
        if open.is(cmd.cmd_id) && open.is_void(now) {
            open.answered = true;
            self.out.push(Effect::Tell(open.ack(AckResult::Expired), Grounds::NotWritten));
            return;
        }
        // Who asks what it runs for no purchase's sake wants to know that it stays free: the fence is what makes sure of that.
        let fence = Some(open.query()).filter(|fence| cmd.cmd_id.is_nil() && now >= fence.exp && self.is_below_fence());
        self.write(Cmd::new(fence.as_ref().unwrap_or(cmd), now, None), now);
    }

    /// Asks for a state, when somebody scans the machine: money is held only for a device that was heard just now.
    pub fn probe(&mut self, now: Timestamp) -> Probe {
        match self.link().filter(|_| self.present == Some(true)) {
            None => Probe::Away,
            Some(_) if self.is_fresh(now) && self.has_clock(now) => Probe::Here,
            Some(_) if self.is_asked(now) => Probe::Asked,
            Some(_) if self.is_state_awaited(now) => {
                // Asked for another one it would take the answer to the first for a late one.
                self.asked_at = Some(now);
                Probe::Asked
            }
            Some(link) => {
                self.asked_at = Some(now);
                Probe::Ask(link, Cmd { echo: self.echo, ..nil_query(now) })
            }
        }
    }

    /// Whether somebody waits for a word that was asked for.
    pub fn is_asked(&self, now: Timestamp) -> bool {
        self.asked_at.is_some_and(|at| at.ms_until(now) < PROBE_MS)
    }

    fn is_fresh(&self, now: Timestamp) -> bool {
        self.word_at.is_some_and(|at| at.ms_until(now) <= FRESH_MS)
    }

    /// After a question that was not answered: whether it was only asked for the time, so that it is there all the same.
    pub fn was_fresh(&self, now: Timestamp) -> bool {
        self.present == Some(true) && self.word_at.is_some_and(|at| at.ms_until(now) <= FRESH_MS + PROBE_MS)
    }

    /// Whether it takes a start without being told the time, as far as anybody knows.
    fn has_clock(&self, now: Timestamp) -> bool {
        !self.way.is_known() || self.clock_at.is_some_and(|at| at.ms_until(now) < CLOCK_KEPT_MS)
    }

    /// Whether the first state of a connection is about to come.
    fn is_state_awaited(&self, now: Timestamp) -> bool {
        self.answered_at.is_none() && self.linked_at.ms_until(now) < FIRST_STATE_MS
    }

    /// A device that was told the time long ago is asked for a state, which is answered with it. So is one whose first state was lost, or
    /// came after a later word of it: behind a broker, or when it speaks on connections of their own.
    fn ask_for_the_time(&mut self, now: Timestamp) {
        let due = match self.answered_at {
            Some(at) => self.echo.is_some() && at.ms_until(now) >= EXCHANGE_MS,
            None => self.way.is_known() && !self.is_state_awaited(now),
        };
        if due && self.asked_at.is_none_or(|at| at.ms_until(now) >= ASK_AGAIN_MS) {
            self.ask(now);
        }
    }

    fn ask(&mut self, now: Timestamp) {
        if self.write(nil_query(now), now) {
            self.asked_at = Some(now);
        }
    }

    /// Writes to the newest connection; false: there is none.
    fn write(&mut self, cmd: Cmd, now: Timestamp) -> bool {
        let Some(link) = self.link() else { return false };
        self.out.push(Effect::Write(link, Cmd { now_ms: now.ms(), echo: self.echo, ..cmd }));
        true
    }

    fn done(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.out)
    }
}

/// A query for no command's sake: only a state answers it.
fn nil_query(now: Timestamp) -> Cmd {
    let exp = now.ms().div_euclid(1000);
    Cmd { cmd_id: Uuid::nil(), epoch: 0, op: Op::Query, durasi_s: 0, exp, now_ms: now.ms(), echo: None }
}
