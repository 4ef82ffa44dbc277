//! Deadlines of a session: its heartbeat, and the one alarm that its actor may set.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::wheel::STEP;

/// A visit of the wheel that comes this late shows that the thread stalled.
const STALL: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Deadlines {
    heartbeat: Cell<Heartbeat>,
    alarm: Cell<Option<Instant>>,
    /// Time of the wheel's next visit.
    armed: Cell<Option<Instant>>,
}

#[derive(Debug, Clone, Copy)]
enum Heartbeat {
    /// The next heartbeat is sent at this time.
    Ping(Instant),
    /// The answer to the last heartbeat is due by this time.
    Pong(Instant),
}

/// Action that the heartbeat needs now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    /// Send a ping; the time for its answer starts now.
    Ping,
    /// The answer did not come in time.
    Missed,
}

impl Deadlines {
    pub fn new(first_ping: Instant) -> Self {
        Self { heartbeat: Cell::new(Heartbeat::Ping(first_ping)), alarm: Cell::new(None), armed: Cell::new(None) }
    }

    pub fn ping_at(&self, at: Instant) {
        self.heartbeat.set(Heartbeat::Ping(at));
    }

    /// Time at which the session is lost unless its client answers.
    pub fn pong_by(&self, timeout: Duration) -> Instant {
        match self.heartbeat.get() {
            Heartbeat::Ping(at) => at + timeout,
            Heartbeat::Pong(by) => by,
        }
    }

    pub fn poll_heartbeat(&self, now: Instant, timeout: Duration) -> Due {
        match self.heartbeat.get() {
            Heartbeat::Ping(at) if at <= now => {
                // The answer's deadline counts from when the heartbeat was due, so that the wheel's step does not delay it.
                let sent = now.checked_sub(STEP).map_or(at, |earliest| at.max(earliest));
                self.heartbeat.set(Heartbeat::Pong(sent + timeout));
                Due::Ping
            }
            Heartbeat::Pong(by) if by + STALL <= now => {
                // The thread stalled: the answer may have arrived and not be read yet.
                self.heartbeat.set(Heartbeat::Pong(now + STALL));
                Due::Nothing
            }
            Heartbeat::Pong(by) if by <= now => Due::Missed,
            Heartbeat::Ping(_) | Heartbeat::Pong(_) => Due::Nothing,
        }
    }

    /// Sets the alarm, unless an earlier one is set.
    pub fn set_alarm(&self, at: Instant) {
        if self.alarm.get().is_none_or(|before| at < before) {
            self.alarm.set(Some(at));
        }
    }

    /// Whether the alarm is due. It is due only once.
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

    /// Time of the visit to arm, unless an earlier one is armed. Without a heartbeat only the alarm counts.
    pub fn arm(&self, heartbeat: bool) -> Option<Instant> {
        let (Heartbeat::Ping(heartbeat_at) | Heartbeat::Pong(heartbeat_at)) = self.heartbeat.get();
        let next = [heartbeat.then_some(heartbeat_at), self.alarm.get()].into_iter().flatten().min()?;
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
        assert_eq!(deadlines.poll_heartbeat(start, TIMEOUT), Due::Nothing);
        assert_eq!(deadlines.poll_heartbeat(start + TIMEOUT, TIMEOUT), Due::Ping);
        assert_eq!(deadlines.poll_heartbeat(start + TIMEOUT + STEP, TIMEOUT), Due::Nothing);
        assert_eq!(deadlines.poll_heartbeat(start + 2 * TIMEOUT, TIMEOUT), Due::Missed);
        deadlines.ping_at(start + 3 * TIMEOUT);
        assert_eq!(deadlines.poll_heartbeat(start + 2 * TIMEOUT, TIMEOUT), Due::Nothing);
    }

    #[test]
    fn a_stall_of_the_thread_is_no_fault_of_the_client() {
        let start = Instant::now();
        let deadlines = Deadlines::new(start);
        assert_eq!(deadlines.poll_heartbeat(start, TIMEOUT), Due::Ping);
        let late = start + TIMEOUT + 10 * STALL;
        assert_eq!(deadlines.poll_heartbeat(late, TIMEOUT), Due::Nothing);
        assert_eq!(deadlines.poll_heartbeat(late + STALL, TIMEOUT), Due::Missed);
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
