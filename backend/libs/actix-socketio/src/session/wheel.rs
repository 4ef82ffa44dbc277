//! One timing wheel per thread for the heartbeats and deadlines of all its sessions: no timer per session, and never a
//! sweep of all of them at once.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use super::wire::Wire;
use crate::vital;
use crate::wheel::Wheel;

const STEP_MS: i64 = 5;
/// Precision of deadlines: a visit is never early, and at most this late if the thread is not busy.
pub(super) const STEP: Duration = Duration::from_millis(STEP_MS.unsigned_abs());
/// Longest sleep of the wheel. A nearer deadline that is set during this sleep is late by up to as much.
const MAX_SLEEP_MS: i64 = 4 * STEP_MS;
/// Number of sessions visited before other tasks of the thread run.
const SLICE: usize = 256;

/// Visits by the milliseconds since `origin`.
struct Visits {
    origin: Instant,
    wheel: Wheel<Weak<Wire>>,
}

thread_local!(static VISITS: RefCell<Option<Visits>> = const { RefCell::new(None) });

/// Schedules a visit of `wire` at `at`, or up to one step later.
pub(super) fn visit_at(wire: &Rc<Wire>, at: Instant) {
    VISITS.with_borrow_mut(|visits| {
        let Visits { origin, wheel } = visits.get_or_insert_with(|| {
            vital::spawn("wheel", turn_wheel());
            Visits { origin: Instant::now(), wheel: Wheel::new(STEP, 0) }
        });
        let due_ms = at.saturating_duration_since(*origin).as_nanos().div_ceil(1_000_000);
        wheel.insert(i64::try_from(due_ms).unwrap_or(i64::MAX), Rc::downgrade(wire));
    });
}

/// Clears the wheel at the end of the runtime: the next runtime of this thread (tests start several) starts its own.
struct VisitsStopped;

impl Drop for VisitsStopped {
    fn drop(&mut self) {
        let _ = VISITS.try_with(|visits| visits.take());
    }
}

/// Runs while the wheel has entries.
async fn turn_wheel() {
    let _stopped = VisitsStopped;
    let mut due = Vec::new();
    while let Some(wake_at) = VISITS.with_borrow(|visits| visits.as_ref().and_then(Visits::wake_at)) {
        tokio::time::sleep_until(wake_at.into()).await;
        VISITS.with_borrow_mut(|visits| {
            if let Some(Visits { origin, wheel }) = visits {
                wheel.advance(elapsed_ms(*origin), |wire| due.push(wire));
            }
        });
        for (i, wire) in due.drain(..).enumerate() {
            if let Some(wire) = wire.upgrade() {
                wire.visit(Instant::now());
            }
            if i % SLICE == SLICE - 1 {
                tokio::task::yield_now().await;
            }
        }
    }
}

impl Visits {
    /// When to look for due visits next; `None` when the wheel is empty.
    fn wake_at(&self) -> Option<Instant> {
        let next_ms = self.wheel.next_visit_ms()?.min(elapsed_ms(self.origin) + MAX_SLEEP_MS);
        Some(self.origin + Duration::from_millis(next_ms.unsigned_abs()))
    }
}

fn elapsed_ms(since: Instant) -> i64 {
    i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX)
}
