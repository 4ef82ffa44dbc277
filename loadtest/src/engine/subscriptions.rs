//! What all sessions watch, and what their ticks say. No sockets, and no time but what the caller says: an hour can be played in a
//! second.

use super::clock::{ServerClock, Us};
use super::heartbeat::{self, Snapshot};
use super::phase::Phase;
use super::stats::Second;
use super::watch::{Books, Counting, TickKind, WatchedTopic};
use super::{Plan, Topic};

/// `width` of them a session, one after the other.
pub struct Subscriptions {
    width: usize,
    watches: Vec<WatchedTopic>,
    /// Which of them the scenario wants to hear of.
    told: Vec<bool>,
    /// By session: which of its subscriptions the next tick is probably of.
    next: Vec<u16>,
    phases: Vec<Phase>,
    period_ms: i64,
    counting: Counting,
    /// Nothing is answered: a first tick counts as the answer.
    bare: bool,
}

/// What a text frame that looks like a tick was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticked {
    Unreadable,
    /// Of a machine that the session does not watch.
    NotAsked {
        idmesin: i64,
    },
    Of {
        idmesin: i64,
        what: TickKind,
        /// It counts as the answer of its subscription.
        is_answer: bool,
        /// The scenario wants to hear of it.
        is_told: bool,
    },
}

/// What an answer was to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    pub idmesin: i64,
    /// The first one of the subscription on this connection.
    pub is_first: bool,
    /// The scenario wants to hear of it.
    pub is_told: bool,
}

impl Subscriptions {
    pub fn new(plan: &Plan) -> Self {
        let (sessions, width) = (plan.tokens.len(), plan.topics_per_session);
        let mut watches = vec![WatchedTopic::new(0, 0); sessions * width];
        for (session, topics) in plan.topics.iter().enumerate() {
            for (slot, topic) in topics.iter().take(width).enumerate() {
                watches[session * width + slot] = WatchedTopic::new(topic.idmesin, topic.group);
            }
        }
        Self {
            width,
            told: vec![false; watches.len()],
            watches,
            next: vec![0; sessions],
            phases: vec![Phase::new(plan.period_ms); plan.groups],
            period_ms: plan.period_ms,
            counting: Counting::Not,
            bare: plan.bare,
        }
    }

    /// Slots of a session.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Slot and machine of everything that a session watches.
    pub fn of(&self, session: usize) -> impl Iterator<Item = (usize, i64)> {
        self.watches[session * self.width..(session + 1) * self.width]
            .iter()
            .enumerate()
            .filter(|(_, watch)| watch.idmesin != 0)
            .map(|(slot, watch)| (slot, watch.idmesin))
    }

    /// A text frame of `session` that was here at `at`.
    pub fn tick(&mut self, session: usize, payload: &[u8], at: Us, clock: &mut ServerClock, second: &mut Second) -> Ticked {
        second.counters.frames += 1;
        let Some(tick) = heartbeat::parse(payload) else { return Ticked::Unreadable };
        let first = session * self.width;
        let mine = &mut self.watches[first..first + self.width];
        // Ticks of a room come in one order, so the next is probably the next one's.
        let next = usize::from(self.next[session]);
        let slot = match mine.get(next).filter(|w| w.idmesin == tick.idmesin) {
            Some(_) => Some(next),
            None => mine.iter().position(|w| w.idmesin == tick.idmesin),
        };
        let Some(slot) = slot else { return Ticked::NotAsked { idmesin: tick.idmesin } };
        self.next[session] = u16::try_from(if slot + 1 < self.width { slot + 1 } else { 0 }).unwrap_or(0);
        let watch = &mut mine[slot];
        let is_answer = self.bare && !watch.subscribed;
        clock.heard(at, tick.server_time);
        let mut books = Books { counters: &mut second.counters, spans: &mut second.spans, clock, counting: self.counting };
        let what = watch.heard(&tick, at, &mut self.phases[watch.group as usize], &mut books);
        watch.subscribed |= is_answer;
        Ticked::Of { idmesin: tick.idmesin, what, is_answer, is_told: self.told[first + slot] }
    }

    /// The answer to a subscribe that `session` sent at `asked`; `None` when nothing was asked with that slot.
    pub fn answer(
        &mut self,
        session: usize,
        slot: usize,
        told: &Snapshot,
        (asked, at): (Us, Us),
        clock: &mut ServerClock,
        second: &mut Second,
    ) -> Option<Answered> {
        let place = session * self.width + slot;
        let watch = self.watches.get_mut(place).filter(|w| slot < self.width && w.idmesin != 0)?;
        if told.status != 200 {
            second.errors.add(&format!("subscribe refused: {}", told.status), 1);
        }
        if let Some(server_time) = told.server_time {
            clock.answered(asked, at, server_time);
        }
        second.spans.subscribe.record(at - asked);
        let is_first = !watch.subscribed;
        let mut books = Books { counters: &mut second.counters, spans: &mut second.spans, clock, counting: self.counting };
        watch.acknowledged(told, &self.phases[watch.group as usize], &mut books);
        Some(Answered { idmesin: watch.idmesin, is_first, is_told: self.told[place] })
    }

    /// Lets a session watch one more machine; its slot, or `None` when none is free.
    pub fn add(&mut self, session: usize, topic: Topic) -> Option<usize> {
        let first = session * self.width;
        let slot = self.watches[first..first + self.width].iter().position(|w| w.idmesin == 0)?;
        self.watches[first + slot] = WatchedTopic::new(topic.idmesin, topic.group);
        self.told[first + slot] = true;
        Some(slot)
    }

    /// Whether the session did watch it.
    pub fn remove(&mut self, session: usize, idmesin: i64) -> bool {
        let Some((slot, _)) = self.of(session).find(|(_, of)| *of == idmesin) else { return false };
        let place = session * self.width + slot;
        self.watches[place] = WatchedTopic::new(0, 0);
        self.told[place] = false;
        true
    }

    /// The session's connection is gone: nothing is subscribed until it is answered again.
    pub fn lost(&mut self, session: usize) {
        let first = session * self.width;
        self.watches[first..first + self.width].iter_mut().for_each(|w| w.subscribed = false);
    }

    /// Slot and machine of a subscription that may be asked for once more, to compare the clocks.
    pub fn to_compare(&self, session: usize) -> Option<(usize, i64)> {
        let first = session * self.width;
        let (slot, idmesin) = self.of(session).find(|(slot, _)| self.watches[first + slot].subscribed)?;
        (!self.told[first + slot]).then_some((slot, idmesin))
    }

    /// All have joined. While they did, ticks were later than they are from now on, so phases are found anew, unless they are in use.
    pub fn all_joined(&mut self) {
        if self.counting == Counting::Not {
            self.phases.fill(Phase::new(self.period_ms));
        }
    }

    /// Counts the phase ticks of a window of `ms` from `now` on; server times in epoch milliseconds.
    pub fn open_window(&mut self, now: i64, ms: i64) {
        self.counting = Counting::Window { ms };
        self.phases.iter_mut().for_each(Phase::settle);
        for watch in self.watches.iter_mut().filter(|w| w.idmesin != 0) {
            watch.open_window(now, ms, &self.phases[watch.group as usize]);
        }
    }

    /// Judges the window.
    pub fn close_window(&mut self, now: i64, clock: &ServerClock, second: &mut Second) {
        self.each(clock, second, |watch, phase, books| watch.close_window(now, phase, books));
        self.counting = Counting::Not;
    }

    /// Counts every run that is seen from now on.
    pub fn count_runs(&mut self) {
        self.counting = Counting::Runs;
    }

    /// Looks which final ticks are overdue at `now`.
    pub fn check(&mut self, now: i64, clock: &ServerClock, second: &mut Second) {
        self.each(clock, second, |watch, phase, books| watch.check(now, phase, books));
    }

    fn each(&mut self, clock: &ServerClock, second: &mut Second, mut act: impl FnMut(&mut WatchedTopic, &Phase, &mut Books<'_>)) {
        let mut books = Books { counters: &mut second.counters, spans: &mut second.spans, clock, counting: self.counting };
        for watch in self.watches.iter_mut().filter(|w| w.idmesin != 0) {
            act(watch, &self.phases[watch.group as usize], &mut books);
        }
    }
}
