//! One subscription, and the rules of docs/contract.md §3 that its ticks must keep.

use super::clock::{ServerClock, Us};
use super::heartbeat::{Heartbeat, Snapshot};
use super::phase::Phase;
use super::stats::{Counters, Spans};

/// A phase tick this near to either end of a run is left out by the server.
const LEFT_OUT_MS: i64 = 200;
/// Within so much of that border a phase tick may come or not.
const BORDER_MS: i64 = 20;
const SECOND_MS: i64 = 1_000;
/// A final tick that is not here so long after the end is missing.
const FINAL_WITHIN_MS: i64 = 3_000;
/// A final tick may seem this much too early.
const EARLY_MS: i64 = 5;
/// No phase tick is counted before this is lowered.
const NEVER: i64 = i64::MAX;

/// What a tick was to the subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TickKind {
    Tick,
    Start,
    Final,
    GivenBack,
}

/// Which phase ticks count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// None: sessions still join, or the phases are being found.
    Not,
    /// Those of a window of so many milliseconds.
    Window { ms: i64 },
    /// All of every run that is seen.
    Runs,
}

/// Server times are epoch milliseconds, 0 where there is none.
#[derive(Debug, Clone)]
pub struct WatchedTopic {
    /// 0: free.
    pub idmesin: i64,
    /// Whose phase it has.
    pub group: u32,
    pub subscribed: bool,
    /// Phase ticks due after this count …
    from: i64,
    /// … up to this.
    until: i64,
    ends_at: i64,
    /// When the present run began, if its first tick was heard.
    started: i64,
    /// When its first tick is made no later than this, it may be the one of the start.
    joined_until: i64,
    /// `ends_at` of the last run that is over.
    ended: i64,
    /// `server_time` of the last phase tick of this run.
    last_phase: i64,
    /// `server_time` of the last tick of this run. Answers do not count: a tick made on another thread may come after one.
    last_time: i64,
    /// When that one was here; 0 when it was none of the phase for sure.
    last_arrival: Us,
    last_was_final: bool,
}

/// Where a subscription's findings go.
pub struct Books<'a> {
    pub counters: &'a mut Counters,
    pub spans: &'a mut Spans,
    pub clock: &'a ServerClock,
    pub counting: Counting,
}

impl WatchedTopic {
    pub fn new(idmesin: i64, group: u32) -> Self {
        Self {
            idmesin,
            group,
            subscribed: false,
            from: NEVER,
            until: NEVER,
            ends_at: 0,
            started: 0,
            joined_until: 0,
            ended: 0,
            last_phase: 0,
            last_time: 0,
            last_arrival: 0,
            last_was_final: false,
        }
    }

    /// The window begins at about `now`, as far from the ticks as can be.
    pub fn open_window(&mut self, now: i64, ms: i64, phase: &Phase) {
        self.from = phase.between(now);
        self.until = self.from + ms;
    }

    /// The window ends, at the latest at about `now`: what has not come by then is missing.
    pub fn close_window(&mut self, now: i64, phase: &Phase, books: &mut Books<'_>) {
        let whole = (now - self.from).div_euclid(phase.period_ms()) * phase.period_ms();
        self.until = self.until.min(self.from.saturating_add(whole.max(0)));
        self.settle(self.until, phase, books);
        self.from = NEVER;
    }

    /// The answer to a subscribe. Of one that was repeated on a live session nothing is learned: the ticks have to tell.
    pub fn acknowledged(&mut self, told: &Snapshot, phase: &Phase, books: &mut Books<'_>) {
        if std::mem::replace(&mut self.subscribed, true) {
            return;
        }
        let Some(now) = told.server_time else { return };
        match told.ends_at {
            Some(ends_at) if ends_at != self.ends_at => {
                self.leave_run(phase, books);
                self.enter_run(ends_at, 0);
                self.joined_until = now + LEFT_OUT_MS;
                if books.counting == Counting::Runs {
                    // It may have begun just now.
                    (self.from, self.until) = (now + LEFT_OUT_MS + BORDER_MS, NEVER);
                }
            }
            Some(_) => {}
            // It ended while this session was away: there is no final tick to wait for.
            None => self.leave_run(phase, books),
        }
    }

    /// `started`: when it began, 0 when it was joined later.
    fn enter_run(&mut self, ends_at: i64, started: i64) {
        self.ends_at = ends_at;
        self.started = started;
        self.last_time = 0;
        self.last_phase = 0;
        self.last_arrival = 0;
        self.last_was_final = false;
    }

    /// Every phase tick that the run still had is settled.
    fn leave_run(&mut self, phase: &Phase, books: &mut Books<'_>) {
        if self.ends_at != 0 {
            self.settle(self.ends_at - LEFT_OUT_MS - BORDER_MS, phase, books);
            self.ended = self.ends_at;
            self.ends_at = 0;
            if books.counting == Counting::Runs {
                self.from = NEVER;
            }
        }
    }

    /// Phase ticks due up to `until` that have not come are missing.
    fn settle(&mut self, until: i64, phase: &Phase, books: &mut Books<'_>) {
        let until = until.min(self.until);
        if self.from >= until {
            return;
        }
        let missing = if phase.is_known() {
            phase.last_due(until) - phase.last_due(self.from).max(self.last_index(phase))
        } else {
            (until - self.from).div_euclid(phase.period_ms())
        };
        let missing = u64::try_from(missing).unwrap_or(0);
        books.counters.expected += missing;
        books.counters.missed += missing;
        // What comes now is too late to count.
        self.from = until;
    }

    fn last_index(&self, phase: &Phase) -> i64 {
        if self.last_phase == 0 { i64::MIN } else { phase.index(self.last_phase) }
    }

    /// A tick that was here at `at`.
    pub fn heard(&mut self, tick: &Heartbeat, at: Us, phase: &mut Phase, books: &mut Books<'_>) -> TickKind {
        let Some(ends_at) = tick.ends_at else {
            books.counters.given_back += 1;
            books.counters.tl_wrong += u64::from(tick.tl != 0);
            self.leave_run(phase, books);
            return TickKind::GivenBack;
        };
        if tick.tl < 1 {
            self.final_tick(tick, ends_at, at, phase, books);
            return TickKind::Final;
        }
        books.counters.tl_wrong += u64::from(tick.tl != ends_at - tick.server_time);
        if ends_at == self.ended {
            books.counters.unexpected += 1;
            return TickKind::Tick;
        }
        if ends_at != self.ends_at {
            self.begins(tick, ends_at, phase, books);
            return TickKind::Start;
        }
        self.phase_tick(tick, ends_at, at, phase, books);
        TickKind::Tick
    }

    fn begins(&mut self, tick: &Heartbeat, ends_at: i64, phase: &Phase, books: &mut Books<'_>) {
        if tick.server_time <= self.ends_at {
            // The end of the run was moved before it had come; that is told outside the phase.
            (self.ends_at, self.last_time) = (ends_at, tick.server_time);
            return;
        }
        if self.ends_at != 0 {
            books.counters.finals_missing += 1;
        }
        self.leave_run(phase, books);
        // Services last whole seconds, and the first tick comes after the commit: the run began a little before it.
        let whole_s = (tick.tl + SECOND_MS - 1).div_euclid(SECOND_MS);
        self.enter_run(ends_at, ends_at - whole_s * SECOND_MS);
        self.last_time = tick.server_time;
        books.counters.starts += 1;
        if books.counting == Counting::Runs {
            self.from = tick.server_time.max(self.started + LEFT_OUT_MS + BORDER_MS);
            self.until = NEVER;
        }
    }

    fn phase_tick(&mut self, tick: &Heartbeat, ends_at: i64, at: Us, phase: &mut Phase, books: &mut Books<'_>) {
        // The tick of a start is made on another thread than the answer that told of the run, and may come after it, at any moment
        // of a period. Phase ticks that near to a start are left out: such a first tick says nothing about the phase.
        let may_be_start = self.last_time == 0 && tick.server_time <= self.joined_until;
        if !may_be_start {
            phase.learn(tick.server_time);
            phase.learn_from_two(self.last_phase, tick.server_time);
        }
        let index = phase.index(tick.server_time);
        let last = (self.last_phase != 0).then(|| phase.index(self.last_phase));
        if last == Some(index) {
            return self.again(tick, at, phase, books);
        }
        if tick.server_time <= self.last_time {
            // One of the past, which was judged already.
            books.counters.tl_not_falling += 1;
            return;
        }
        let due = phase.due(index);
        let near_start = self.started != 0 && due < self.started + LEFT_OUT_MS - BORDER_MS;
        if near_start || due > ends_at - LEFT_OUT_MS + BORDER_MS {
            books.counters.unexpected += 1;
        }
        if due > self.until {
            // Before the window is closed: this tick is beyond it, and says that the last ones of the window do not come any more.
            self.settle(self.until, phase, books);
        } else if due > self.from {
            let before = phase.last_due(self.from).max(self.last_index(phase));
            let gap = u64::try_from(index - before - 1).unwrap_or(0);
            books.counters.missed += gap;
            books.counters.expected += gap + 1;
            books.counters.deliveries += 1;
            if let Some(last) = last.filter(|_| self.last_arrival != 0) {
                let between = (index - last) * phase.period_ms() * 1000;
                books.spans.jitter.record((at - self.last_arrival - between).abs());
            }
            books.spans.late.record((tick.server_time - due) * 1000);
            if let Some(now) = books.clock.server_us(at) {
                books.spans.tick.record(now - due * 1000);
            }
        }
        self.last_phase = tick.server_time;
        self.last_time = tick.server_time;
        self.last_arrival = if may_be_start { 0 } else { at };
    }

    /// A second tick for the same moment. When the first seemed to be early, it was the very late one of the moment before, which
    /// is counted as missing; and while the phase is not settled, only the very same tick is a duplicate for sure.
    fn again(&mut self, tick: &Heartbeat, at: Us, phase: &Phase, books: &mut Books<'_>) {
        let first_was_late = self.last_phase < phase.due(phase.index(self.last_phase));
        if tick.server_time == self.last_phase || (phase.is_settled() && !first_was_late) {
            books.counters.duplicates += 1;
            return;
        }
        self.last_phase = tick.server_time;
        self.last_time = tick.server_time;
        self.last_arrival = at;
    }

    fn final_tick(&mut self, tick: &Heartbeat, ends_at: i64, at: Us, phase: &Phase, books: &mut Books<'_>) {
        books.counters.tl_wrong += u64::from(tick.tl < 0);
        if ends_at == self.ended && self.last_was_final {
            books.counters.finals_duplicate += 1;
            return;
        }
        books.counters.finals += 1;
        books.counters.finals_early += u64::from(tick.server_time + EARLY_MS < ends_at);
        if let Some(now) = books.clock.server_us(at) {
            books.spans.last.record(now - ends_at * 1000);
        }
        self.leave_run(phase, books);
        self.ended = ends_at;
        self.last_was_final = true;
    }

    /// Looks whether a final tick is overdue at `now`.
    pub fn check(&mut self, now: i64, phase: &Phase, books: &mut Books<'_>) {
        if self.subscribed && self.ends_at != 0 && now > self.ends_at + FINAL_WITHIN_MS {
            books.counters.finals_missing += 1;
            self.leave_run(phase, books);
            self.last_was_final = false;
        }
    }
}

#[cfg(test)]
mod tests;
