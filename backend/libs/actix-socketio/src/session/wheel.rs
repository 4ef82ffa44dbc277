//! One timing wheel per thread for the heartbeats and deadlines of all its sessions: no timer per session, and never a
//! sweep of all of them at once.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use super::wire::Wire;
use crate::vital;

/// Precision of deadlines: a visit is never early, and at most this late if the thread is not busy.
pub(super) const STEP: Duration = Duration::from_millis(5);
/// One turn of the wheel is 41 s; later deadlines stay for further turns.
const SLOTS: usize = 8192;
/// Steps that the wheel sleeps if no deadline is due in them. A nearer deadline that is set during this sleep is late by up to as
/// much.
const SLEEP_STEPS: u64 = 4;
/// Number of sessions visited before other tasks of the thread run.
const SLICE: usize = 256;

struct Wheel {
    origin: Instant,
    /// Completed steps since the origin.
    done: u64,
    slots: Vec<Vec<Entry>>,
    entries: usize,
    running: bool,
}

struct Entry {
    step: u64,
    wire: Weak<Wire>,
}

thread_local!(static WHEEL: RefCell<Wheel> = RefCell::new(Wheel::new()));

impl Wheel {
    fn new() -> Self {
        Self { origin: Instant::now(), done: 0, slots: Vec::new(), entries: 0, running: false }
    }

    fn insert(&mut self, entry: Entry) {
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, Vec::new);
        }
        if let Some(slot) = self.slots.get_mut(entry.step as usize % SLOTS) {
            slot.push(entry);
            self.entries += 1;
        }
    }

    /// When to wake next: at the next step with entries, or after a few steps.
    fn wake_at(&self) -> Instant {
        let next = (self.done + 1..self.done + SLEEP_STEPS)
            .find(|step| self.slots.get(*step as usize % SLOTS).is_some_and(|slot| !slot.is_empty()))
            .unwrap_or(self.done + SLEEP_STEPS);
        self.time_of(next)
    }

    fn time_of(&self, step: u64) -> Instant {
        let nanos = STEP.as_nanos() as u64; // with 64 bits enough for centuries
        self.origin + Duration::from_nanos(nanos.saturating_mul(step))
    }

    /// The entries of the next step that `now` has reached.
    fn advance(&mut self, now: Instant) -> Option<Vec<Entry>> {
        if now < self.time_of(self.done + 1) {
            return None;
        }
        self.done += 1;
        let done = self.done;
        let slot = self.slots.get_mut(done as usize % SLOTS)?;
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(slot).into_iter().partition(|e| e.step <= done);
        *slot = later;
        self.entries -= due.len();
        Some(due)
    }
}

/// Schedules a visit of `wire` at `at`, or up to one step later.
pub(super) fn visit_at(wire: &Rc<Wire>, at: Instant) {
    WHEEL.with_borrow_mut(|wheel| {
        if !wheel.running {
            wheel.running = true;
            wheel.origin = Instant::now();
            wheel.done = 0;
            vital::spawn("wheel", turn_wheel());
        }
        let steps = at.saturating_duration_since(wheel.origin).as_nanos().div_ceil(STEP.as_nanos());
        let step = u64::try_from(steps).unwrap_or(u64::MAX).max(wheel.done + 1);
        wheel.insert(Entry { step, wire: Rc::downgrade(wire) });
    });
}

/// Clears the wheel at the end of the runtime: the next runtime of this thread (tests start several) starts its own.
struct Stopped;

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = WHEEL.try_with(|wheel| *wheel.borrow_mut() = Wheel::new());
    }
}

/// Runs while the wheel has entries.
async fn turn_wheel() {
    let _stopped = Stopped;
    while WHEEL.with_borrow(|wheel| wheel.entries > 0) {
        let wake_at = WHEEL.with_borrow(Wheel::wake_at);
        tokio::time::sleep_until(wake_at.into()).await;
        while let Some(due) = WHEEL.with_borrow_mut(|wheel| wheel.advance(Instant::now())) {
            for (i, entry) in due.iter().enumerate() {
                if let Some(wire) = entry.wire.upgrade() {
                    wire.visit(Instant::now());
                }
                if i % SLICE == SLICE - 1 {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps at which entries come out.
    fn due_steps(wheel: &mut Wheel, until: u64) -> Vec<(u64, usize)> {
        let now = wheel.origin + STEP * u32::try_from(until).unwrap();
        let mut out = Vec::new();
        while let Some(due) = wheel.advance(now) {
            if !due.is_empty() {
                out.push((wheel.done, due.len()));
            }
        }
        out
    }

    #[test]
    fn entries_come_at_their_step_even_after_a_whole_turn() {
        let mut wheel = Wheel::new();
        let slots = SLOTS as u64;
        for step in [1, 7, 7, slots - 1, slots, slots + 7, 3 * slots + 1] {
            wheel.insert(Entry { step, wire: Weak::new() });
        }
        assert_eq!(due_steps(&mut wheel, 6), [(1, 1)]);
        assert_eq!(due_steps(&mut wheel, slots), [(7, 2), (slots - 1, 1), (slots, 1)]);
        assert_eq!(due_steps(&mut wheel, 4 * slots), [(slots + 7, 1), (3 * slots + 1, 1)]);
        assert_eq!(wheel.entries, 0);
    }
}
