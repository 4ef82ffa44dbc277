//! One subscription, and the rules of docs/contract.md §3 for its ticks.

use super::clock::{ServerClock, Us};
use super::heartbeat::{Heartbeat, Snapshot};
use super::phase::Phase;
use super::stats::{Counters, Spans};

/// The server leaves out phase ticks that are this near to either end of a run.
const LEFT_OUT_MS: i64 = 200;
/// Tolerance at that limit, in which a phase tick may come or not.
const BORDER_MS: i64 = 20;
const SECOND_MS: i64 = 1_000;
/// A final tick that has not arrived this long after the end is missing.
const FINAL_WITHIN_MS: i64 = 3_000;
/// Tolerance for a final tick that seems early.
const EARLY_MS: i64 = 5;
/// Value of `from` with which no phase tick counts.
const NEVER: i64 = i64::MAX;

/// Kind of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TickKind {
    Tick,
    Start,
    Final,
    GivenBack,
}

/// Phase ticks that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// None: sessions still join, or the phases are being measured.
    Not,
    /// Those of a window of `ms` milliseconds.
    Window { ms: i64 },
    /// Those of every run.
    Runs,
}

/// Subscription to a machine. Server times are epoch milliseconds; 0 means that there is none.
#[derive(Debug, Clone)]
pub struct WatchedTopic {
    /// Machine; 0: the slot is free.
    pub idmesin: i64,
    /// Group of machines that share a phase.
    pub group: u32,
    pub subscribed: bool,
    /// Phase ticks due after this count …
    from: i64,
    /// … up to this.
    until: i64,
    ends_at: i64,
    /// Start of the present run, when its first tick was received.
    started: i64,
    /// A first tick with a `server_time` up to this may be the tick of the start.
    joined_until: i64,
    /// `ends_at` of the previous run.
    ended: i64,
    /// `server_time` of the last phase tick of this run.
    last_phase: i64,
    /// `server_time` of the last tick of this run. Answers do not count: an older tick of another thread may arrive after one.
    last_time: i64,
    /// When that tick arrived; 0 when it may be no phase tick.
    last_arrival: Us,
    last_was_final: bool,
}

/// Counters and times that a subscription updates.
pub struct Findings<'a> {
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

    /// Begins the window near `now`, in the middle between two ticks.
    pub fn open_window(&mut self, now: i64, ms: i64, phase: &Phase) {
        self.from = phase.between(now);
        self.until = self.from + ms;
    }

    /// Ends the window near `now` at the latest. Ticks that have not arrived by then are missing.
    pub fn close_window(&mut self, now: i64, phase: &Phase, findings: &mut Findings<'_>) {
        let whole = (now - self.from).div_euclid(phase.period_ms()) * phase.period_ms();
        self.until = self.until.min(self.from.saturating_add(whole.max(0)));
        self.settle(self.until, phase, findings);
        self.from = NEVER;
    }

    /// Processes the answer to a subscribe. The answer to a repeated one on a live session is ignored, because the ticks are to be checked.
    pub fn acknowledged(&mut self, snapshot: &Snapshot, phase: &Phase, findings: &mut Findings<'_>) {
        if std::mem::replace(&mut self.subscribed, true) {
            return;
        }
        let Some(now) = snapshot.server_time else { return };
        match snapshot.ends_at {
            Some(ends_at) if ends_at != self.ends_at => {
                self.leave_run(phase, findings);
                self.enter_run(ends_at, 0);
                self.joined_until = now + LEFT_OUT_MS;
                if findings.counting == Counting::Runs {
                    // The run may have begun just now.
                    (self.from, self.until) = (now + LEFT_OUT_MS + BORDER_MS, NEVER);
                }
            }
            Some(_) => {}
            // The run ended while this session was not connected, so no final tick follows.
            None => self.leave_run(phase, findings),
        }
    }

    /// Begins to follow a run. `started`: its start, or 0 when the session subscribed later.
    fn enter_run(&mut self, ends_at: i64, started: i64) {
        self.ends_at = ends_at;
        self.started = started;
        self.last_time = 0;
        self.last_phase = 0;
        self.last_arrival = 0;
        self.last_was_final = false;
    }

    /// Stops following the run, after all its phase ticks were counted.
    fn leave_run(&mut self, phase: &Phase, findings: &mut Findings<'_>) {
        if self.ends_at != 0 {
            self.settle(self.ends_at - LEFT_OUT_MS - BORDER_MS, phase, findings);
            self.ended = self.ends_at;
            self.ends_at = 0;
            if findings.counting == Counting::Runs {
                self.from = NEVER;
            }
        }
    }

    /// Counts phase ticks as missing that were due up to `until` and have not arrived.
    fn settle(&mut self, until: i64, phase: &Phase, findings: &mut Findings<'_>) {
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
        findings.counters.expected += missing;
        findings.counters.missed += missing;
        // Ticks that arrive from now on are too late to count.
        self.from = until;
    }

    fn last_index(&self, phase: &Phase) -> i64 {
        if self.last_phase == 0 { i64::MIN } else { phase.index(self.last_phase) }
    }

    /// Processes a tick that arrived at `at`.
    pub fn on_tick(&mut self, tick: &Heartbeat, at: Us, phase: &mut Phase, findings: &mut Findings<'_>) -> TickKind {
        let Some(ends_at) = tick.ends_at else {
            findings.counters.given_back += 1;
            findings.counters.tl_wrong += u64::from(tick.tl != 0);
            self.leave_run(phase, findings);
            return TickKind::GivenBack;
        };
        if tick.tl < 1 {
            self.final_tick(tick, ends_at, at, phase, findings);
            return TickKind::Final;
        }
        findings.counters.tl_wrong += u64::from(tick.tl != ends_at - tick.server_time);
        if ends_at == self.ended {
            findings.counters.unexpected += 1;
            return TickKind::Tick;
        }
        if ends_at != self.ends_at {
            self.begins(tick, ends_at, phase, findings);
            return TickKind::Start;
        }
        self.phase_tick(tick, ends_at, at, phase, findings);
        TickKind::Tick
    }

    fn begins(&mut self, tick: &Heartbeat, ends_at: i64, phase: &Phase, findings: &mut Findings<'_>) {
        if tick.server_time <= self.ends_at {
            // The end of the run was moved before it was reached. The server reports that outside of the phase.
            (self.ends_at, self.last_time) = (ends_at, tick.server_time);
            return;
        }
        if self.ends_at != 0 {
            findings.counters.finals_missing += 1;
        }
        self.leave_run(phase, findings);
        // Services last whole seconds, and the first tick comes after the commit: the run began a little before it.
        let whole_s = (tick.tl + SECOND_MS - 1).div_euclid(SECOND_MS);
        self.enter_run(ends_at, ends_at - whole_s * SECOND_MS);
        self.last_time = tick.server_time;
        findings.counters.starts += 1;
        if findings.counting == Counting::Runs {
            self.from = tick.server_time.max(self.started + LEFT_OUT_MS + BORDER_MS);
            self.until = NEVER;
        }
    }

    fn phase_tick(&mut self, tick: &Heartbeat, ends_at: i64, at: Us, phase: &mut Phase, findings: &mut Findings<'_>) {
        // Another thread than that of the answer makes the tick of a start, so it may arrive after the answer, at any moment of a period.
        // Phase ticks that near to a start are left out: such a first tick says nothing about the phase.
        let may_be_start = self.last_time == 0 && tick.server_time <= self.joined_until;
        if !may_be_start {
            phase.learn(tick.server_time);
            phase.learn_from_two(self.last_phase, tick.server_time);
        }
        let index = phase.index(tick.server_time);
        let last = (self.last_phase != 0).then(|| phase.index(self.last_phase));
        if last == Some(index) {
            return self.again(tick, at, phase, findings);
        }
        if tick.server_time <= self.last_time {
            // An older tick, whose moment was counted already.
            findings.counters.tl_not_falling += 1;
            return;
        }
        let due = phase.due(index);
        let near_start = self.started != 0 && due < self.started + LEFT_OUT_MS - BORDER_MS;
        if near_start || due > ends_at - LEFT_OUT_MS + BORDER_MS {
            findings.counters.unexpected += 1;
        }
        if due > self.until {
            // This tick is beyond the window, which is still open: the missing ticks of the window will not arrive any more.
            self.settle(self.until, phase, findings);
        } else if due > self.from {
            let before = phase.last_due(self.from).max(self.last_index(phase));
            let gap = u64::try_from(index - before - 1).unwrap_or(0);
            findings.counters.missed += gap;
            findings.counters.expected += gap + 1;
            findings.counters.deliveries += 1;
            if let Some(last) = last.filter(|_| self.last_arrival != 0) {
                let between = (index - last) * phase.period_ms() * 1000;
                findings.spans.jitter.record((at - self.last_arrival - between).abs());
            }
            findings.spans.late.record((tick.server_time - due) * 1000);
            if let Some(now) = findings.clock.server_us(at) {
                findings.spans.tick.record(now - due * 1000);
            }
        }
        self.last_phase = tick.server_time;
        self.last_time = tick.server_time;
        self.last_arrival = if may_be_start { 0 } else { at };
    }

    /// Processes a second tick for the same moment. When the first seemed early, it was the very late one of the moment before, which
    /// counts as missing. While the phase is not settled, only an identical tick is certainly a duplicate.
    fn again(&mut self, tick: &Heartbeat, at: Us, phase: &Phase, findings: &mut Findings<'_>) {
        let first_was_late = self.last_phase < phase.due(phase.index(self.last_phase));
        if tick.server_time == self.last_phase || (phase.is_settled() && !first_was_late) {
            findings.counters.duplicates += 1;
            return;
        }
        self.last_phase = tick.server_time;
        self.last_time = tick.server_time;
        self.last_arrival = at;
    }

    fn final_tick(&mut self, tick: &Heartbeat, ends_at: i64, at: Us, phase: &Phase, findings: &mut Findings<'_>) {
        findings.counters.tl_wrong += u64::from(tick.tl < 0);
        if ends_at == self.ended && self.last_was_final {
            findings.counters.finals_duplicate += 1;
            return;
        }
        findings.counters.finals += 1;
        findings.counters.finals_early += u64::from(tick.server_time + EARLY_MS < ends_at);
        if let Some(now) = findings.clock.server_us(at) {
            findings.spans.last.record(now - ends_at * 1000);
        }
        self.leave_run(phase, findings);
        self.ended = ends_at;
        self.last_was_final = true;
    }

    /// Checks whether a final tick is overdue at `now`.
    pub fn check(&mut self, now: i64, phase: &Phase, findings: &mut Findings<'_>) {
        if self.subscribed && self.ends_at != 0 && now > self.ends_at + FINAL_WITHIN_MS {
            findings.counters.finals_missing += 1;
            self.leave_run(phase, findings);
            self.last_was_final = false;
        }
    }
}

#[cfg(test)]
mod tests;
