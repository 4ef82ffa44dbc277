//! Sensor of a machine that runs its own cycle (docs/contract.md §6): when a level counts, and how it moves the end of a run.

use nyala_machines::device::memory::PulseRun;

/// How long a level must last before it counts.
const STABLE_MS: i64 = 2_000;
/// Time for which the machine must have run before the sensor may end its run.
const RAN_MS: i64 = 60_000;
/// With this much time left, a machine that still runs moves the end …
const NEAR_END_MS: i64 = 10_000;
/// … by this much …
const LATER_MS: i64 = 60_000;
/// … and by this much in all.
const MAX_ADDED_S: i64 = 3_600;

/// All times are the device's uptime.
#[derive(Debug, Clone)]
pub(super) struct Sensor {
    raw: bool,
    raw_since_ms: i64,
    /// The level that counts: high while the machine runs.
    high: bool,
    since_ms: i64,
    /// Until when the time at high is counted.
    counted_ms: i64,
}

impl Sensor {
    /// At a boot nothing is known of the level yet.
    pub const fn at_boot() -> Self {
        Self { raw: false, raw_since_ms: 0, high: false, since_ms: STABLE_MS, counted_ms: 0 }
    }

    pub const fn is_high(&self) -> bool {
        self.high
    }

    /// Whether the machine may run, as its level says before it counts.
    pub const fn may_run(&self) -> bool {
        self.high || self.raw
    }

    pub const fn set_raw(&mut self, high: bool, up_ms: i64) {
        if high != self.raw {
            (self.raw, self.raw_since_ms) = (high, up_ms);
        }
    }

    /// Lets time pass, also for the run that pulses have started and its end. Returns whether the level that counts has changed, and the run
    /// if it has.
    pub fn pass_time(&mut self, run: Option<(PulseRun, i64)>, up_ms: i64) -> (bool, Option<(PulseRun, i64)>) {
        let high_ms = if self.high { up_ms - self.counted_ms } else { 0 };
        self.counted_ms = up_ms;
        let changed = self.stable_at().is_some_and(|at| at <= up_ms);
        if changed {
            (self.high, self.since_ms) = (self.raw, up_ms);
        }
        let sensed = run.map(|mut run| {
            run.0.ran_ms = (run.0.ran_ms + high_ms).min(RAN_MS);
            // The first rise begins the cycle, so its time begins now.
            if self.high && !run.0.has_run {
                run.0.has_run = true;
                let waited_ms = run.0.duration_ms - (run.1 - up_ms).max(0);
                end_later(&mut run, waited_ms, up_ms);
            }
            if self.later_at(run).is_some_and(|at| at <= up_ms) {
                end_later(&mut run, LATER_MS, up_ms);
            }
            run
        });
        (changed, sensed)
    }

    /// When the present level of the board counts.
    pub fn stable_at(&self) -> Option<i64> {
        (self.raw != self.high).then_some(self.raw_since_ms + STABLE_MS)
    }

    /// When the run is over, because the machine ran and has stopped.
    pub fn over_at(&self, (run, _): (PulseRun, i64)) -> Option<i64> {
        (!self.high && run.ran_ms >= RAN_MS).then_some(self.since_ms + run.sense_ms)
    }

    /// When the end of the run is moved, because the machine still runs then.
    pub fn later_at(&self, (run, ends_ms): (PulseRun, i64)) -> Option<i64> {
        (self.high && run.added_s < MAX_ADDED_S).then_some(ends_ms - NEAR_END_MS)
    }
}

/// By whole seconds, as `tambah_s` says.
fn end_later((run, ends_ms): &mut (PulseRun, i64), ms: i64, up_ms: i64) {
    let ms = ms.min((MAX_ADDED_S - run.added_s) * 1000) / 1000 * 1000;
    *ends_ms = (*ends_ms).max(up_ms) + ms;
    run.added_s += ms / 1000;
}
