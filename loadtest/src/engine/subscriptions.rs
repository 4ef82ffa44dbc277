//! Subscriptions of all sessions, and the check of their ticks. It has no socket and no clock: callers pass the time, so a test can play
//! an hour in a second.

use super::clock::{ServerClock, Us};
use super::heartbeat::{self, Snapshot};
use super::phase::Phase;
use super::stats::Second;
use super::watch::{Counting, Findings, TickKind, WatchedTopic};
use super::{Plan, Topic};

/// Subscriptions in one list, `width` for each session.
pub struct Subscriptions {
    width: usize,
    watches: Vec<WatchedTopic>,
    /// Whether the scenario wants reports of a subscription.
    is_reported: Vec<bool>,
    /// For each session, the subscription to which its next tick probably belongs.
    next: Vec<u16>,
    phases: Vec<Phase>,
    period_ms: i64,
    counting: Counting,
    /// The server answers no subscribe: the first tick counts as the answer.
    bare: bool,
}

/// Meaning of a text frame that looks like a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticked {
    Unreadable,
    /// A tick of a machine that the session does not watch.
    NotAsked {
        idmesin: i64,
    },
    Of {
        idmesin: i64,
        what: TickKind,
        /// Whether it counts as the answer to the subscribe.
        is_answer: bool,
        /// Whether the scenario wants a report of it.
        is_reported: bool,
    },
}

/// Subscription of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    pub idmesin: i64,
    /// Whether it is the subscription's first answer on this connection.
    pub is_first: bool,
    /// Whether the scenario wants a report of it.
    pub is_reported: bool,
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
            is_reported: vec![false; watches.len()],
            watches,
            next: vec![0; sessions],
            phases: vec![Phase::new(plan.period_ms); plan.groups],
            period_ms: plan.period_ms,
            counting: Counting::Not,
            bare: plan.bare,
        }
    }

    /// Number of slots of a session.
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

    /// Processes a text frame that `session` received at `at`.
    pub fn tick(&mut self, session: usize, payload: &[u8], at: Us, clock: &mut ServerClock, second: &mut Second) -> Ticked {
        second.counters.frames += 1;
        let Some(tick) = heartbeat::parse(payload) else { return Ticked::Unreadable };
        let first = session * self.width;
        let mine = &mut self.watches[first..first + self.width];
        // The server sends ticks in a fixed order, so this one probably belongs to the next subscription.
        let next = usize::from(self.next[session]);
        let slot = match mine.get(next).filter(|w| w.idmesin == tick.idmesin) {
            Some(_) => Some(next),
            None => mine.iter().position(|w| w.idmesin == tick.idmesin),
        };
        let Some(slot) = slot else { return Ticked::NotAsked { idmesin: tick.idmesin } };
        self.next[session] = u16::try_from(if slot + 1 < self.width { slot + 1 } else { 0 }).unwrap_or(0);
        let watch = &mut mine[slot];
        let is_answer = self.bare && !watch.subscribed;
        clock.received(at, tick.server_time);
        let mut findings = Findings { counters: &mut second.counters, spans: &mut second.spans, clock, counting: self.counting };
        let what = watch.on_tick(&tick, at, &mut self.phases[watch.group as usize], &mut findings);
        watch.subscribed |= is_answer;
        Ticked::Of { idmesin: tick.idmesin, what, is_answer, is_reported: self.is_reported[first + slot] }
    }

    /// Processes the answer to a subscribe that `session` sent at `asked`; `None` when the slot has no subscription.
    pub fn answer(
        &mut self,
        session: usize,
        slot: usize,
        snapshot: &Snapshot,
        (asked, at): (Us, Us),
        clock: &mut ServerClock,
        second: &mut Second,
    ) -> Option<Answered> {
        let place = session * self.width + slot;
        let watch = self.watches.get_mut(place).filter(|w| slot < self.width && w.idmesin != 0)?;
        if snapshot.status != 200 {
            second.errors.add(&format!("subscribe refused: {}", snapshot.status), 1);
        }
        if let Some(server_time) = snapshot.server_time {
            clock.answered(asked, at, server_time);
        }
        second.spans.subscribe.record(at - asked);
        let is_first = !watch.subscribed;
        let mut findings = Findings { counters: &mut second.counters, spans: &mut second.spans, clock, counting: self.counting };
        watch.acknowledged(snapshot, &self.phases[watch.group as usize], &mut findings);
        Some(Answered { idmesin: watch.idmesin, is_first, is_reported: self.is_reported[place] })
    }

    /// Lets a session watch one more machine. Returns the slot, or `None` when all are in use.
    pub fn add(&mut self, session: usize, topic: Topic) -> Option<usize> {
        let first = session * self.width;
        let slot = self.watches[first..first + self.width].iter().position(|w| w.idmesin == 0)?;
        self.watches[first + slot] = WatchedTopic::new(topic.idmesin, topic.group);
        self.is_reported[first + slot] = true;
        Some(slot)
    }

    /// Ends a subscription. Returns whether the session had it.
    pub fn remove(&mut self, session: usize, idmesin: i64) -> bool {
        let Some((slot, _)) = self.of(session).find(|(_, of)| *of == idmesin) else { return false };
        let place = session * self.width + slot;
        self.watches[place] = WatchedTopic::new(0, 0);
        self.is_reported[place] = false;
        true
    }

    /// Records that the session's connection is lost, and its subscriptions with it.
    pub fn lost(&mut self, session: usize) {
        let first = session * self.width;
        self.watches[first..first + self.width].iter_mut().for_each(|w| w.subscribed = false);
    }

    /// Slot and machine of a subscription whose subscribe may be repeated to compare the clocks.
    pub fn to_compare(&self, session: usize) -> Option<(usize, i64)> {
        let first = session * self.width;
        let (slot, idmesin) = self.of(session).find(|(slot, _)| self.watches[first + slot].subscribed)?;
        (!self.is_reported[first + slot]).then_some((slot, idmesin))
    }

    /// Records that all sessions have joined. Ticks were late in that time, so phases that are not in use yet are measured again.
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

    /// Ends the window and counts its missing ticks.
    pub fn close_window(&mut self, now: i64, clock: &ServerClock, second: &mut Second) {
        self.each(clock, second, |watch, phase, findings| watch.close_window(now, phase, findings));
        self.counting = Counting::Not;
    }

    /// Counts the ticks of every run from now on.
    pub fn count_runs(&mut self) {
        self.counting = Counting::Runs;
    }

    /// Checks for final ticks that are overdue at `now`.
    pub fn check(&mut self, now: i64, clock: &ServerClock, second: &mut Second) {
        self.each(clock, second, |watch, phase, findings| watch.check(now, phase, findings));
    }

    fn each(
        &mut self,
        clock: &ServerClock,
        second: &mut Second,
        mut act: impl FnMut(&mut WatchedTopic, &Phase, &mut Findings<'_>),
    ) {
        let mut findings = Findings { counters: &mut second.counters, spans: &mut second.spans, clock, counting: self.counting };
        for watch in self.watches.iter_mut().filter(|w| w.idmesin != 0) {
            act(watch, &self.phases[watch.group as usize], &mut findings);
        }
    }
}
