//! When a session is due for what: its heartbeat, and the one alarm that its actor may set.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::wheel::STEP;

/// A visit that is this late says that the thread did not run for a while.
const STALL: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Deadlines {
    beat: Cell<Beat>,
    alarm: Cell<Option<Instant>>,
    /// When the wheel visits next.
    armed: Cell<Option<Instant>>,
}

#[derive(Debug, Clone, Copy)]
enum Beat {
    /// The next heartbeat goes out at.
    Ping(Instant),
    /// The answer to the last one is due by.
    Pong(Instant),
}

/// What the heartbeat asks for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    /// A ping goes out; its answer is waited for from now on.
    Ping,
    /// The answer did not come.
    Missed,
}

impl Deadlines {
    pub fn new(first_ping: Instant) -> Self {
        Self { beat: Cell::new(Beat::Ping(first_ping)), alarm: Cell::new(None), armed: Cell::new(None) }
    }

    pub fn ping_at(&self, at: Instant) {
        self.beat.set(Beat::Ping(at));
    }

    /// When the session is lost without an answer of its client.
    pub fn pong_by(&self, timeout: Duration) -> Instant {
        match self.beat.get() {
            Beat::Ping(at) => at + timeout,
            Beat::Pong(by) => by,
        }
    }

    pub fn beat(&self, now: Instant, timeout: Duration) -> Due {
        match self.beat.get() {
            Beat::Ping(at) if at <= now => {
                // The wheel's step is not the client's: a heartbeat counts from when it was due.
                let sent = now.checked_sub(STEP).map_or(at, |earliest| at.max(earliest));
                self.beat.set(Beat::Pong(sent + timeout));
                Due::Ping
            }
            Beat::Pong(by) if by + STALL <= now => {
                // This thread did not run for a while: the answer may be there and not be read yet.
                self.beat.set(Beat::Pong(now + STALL));
                Due::Nothing
            }
            Beat::Pong(by) if by <= now => Due::Missed,
            Beat::Ping(_) | Beat::Pong(_) => Due::Nothing,
        }
    }

    /// Sets the alarm, unless it rings earlier already.
    pub fn set_alarm(&self, at: Instant) {
        if self.alarm.get().is_none_or(|before| at < before) {
            self.alarm.set(Some(at));
        }
    }

    /// Whether the alarm rings; it does so once.
    pub fn alarm(&self, now: Instant) -> bool {
        let rings = self.alarm.get().is_some_and(|at| at <= now);
        if rings {
            self.alarm.set(None);
        }
        rings
    }

    /// Whether this is the visit that was armed last.
    pub fn is_visit(&self, now: Instant) -> bool {
        let visit = self.armed.get().is_some_and(|at| at <= now);
        if visit {
            self.armed.set(None);
        }
        visit
    }

    /// When to visit, unless an earlier visit is armed. Without a heartbeat only the alarm counts.
    pub fn arm(&self, heartbeat: bool) -> Option<Instant> {
        let (Beat::Ping(beat) | Beat::Pong(beat)) = self.beat.get();
        let next = [heartbeat.then_some(beat), self.alarm.get()].into_iter().flatten().min()?;
        if self.armed.get().is_some_and(|at| at <= next) {
            return None;
        }
        self.armed.set(Some(next));
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(20);

    #[test]
    fn a_heartbeat_is_due_then_answered_or_missed() {
        let start = Instant::now();
        let deadlines = Deadlines::new(start + TIMEOUT);
        assert_eq!(deadlines.beat(start, TIMEOUT), Due::Nothing);
        assert_eq!(deadlines.beat(start + TIMEOUT, TIMEOUT), Due::Ping);
        assert_eq!(deadlines.beat(start + TIMEOUT + STEP, TIMEOUT), Due::Nothing);
        assert_eq!(deadlines.beat(start + 2 * TIMEOUT, TIMEOUT), Due::Missed);
        deadlines.ping_at(start + 3 * TIMEOUT);
        assert_eq!(deadlines.beat(start + 2 * TIMEOUT, TIMEOUT), Due::Nothing);
    }

    #[test]
    fn a_stall_of_the_thread_is_no_fault_of_the_client() {
        let start = Instant::now();
        let deadlines = Deadlines::new(start);
        assert_eq!(deadlines.beat(start, TIMEOUT), Due::Ping);
        let late = start + TIMEOUT + 10 * STALL;
        assert_eq!(deadlines.beat(late, TIMEOUT), Due::Nothing);
        assert_eq!(deadlines.beat(late + STALL, TIMEOUT), Due::Missed);
    }

    #[test]
    fn the_earliest_deadline_is_armed_once() {
        let start = Instant::now();
        let deadlines = Deadlines::new(start + 2 * STALL);
        assert_eq!(deadlines.arm(true), Some(start + 2 * STALL));
        assert_eq!(deadlines.arm(true), None);
        deadlines.set_alarm(start + 3 * STALL);
        assert_eq!(deadlines.arm(true), None);
        deadlines.set_alarm(start + STALL);
        assert_eq!(deadlines.arm(true), Some(start + STALL));
        assert!(!deadlines.is_visit(start));
        assert!(deadlines.is_visit(start + STALL));
        assert!(deadlines.alarm(start + STALL) && !deadlines.alarm(start + STALL));
        assert_eq!(deadlines.arm(false), None, "a closed session has no heartbeat");
    }
}
