//! The content of countdown messages, and when they are due (docs/contract.md §3).

use nyala_core::domain::id::OutletId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::CycleChange;
use nyala_core::purchase::step::Cycle;

use super::alarm::STEP_MS;

const SECOND_MS: i64 = 1000;
/// Least distance of a phase tick from the start or the end of the run; a closer one is skipped.
const MARGIN_MS: i64 = 200;

/// `tl` is `ends_at - server_time`, in milliseconds, never a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    pub tl: i64,
    /// Null when a hold was voided: there was no run.
    pub ends_at: Option<i64>,
    pub server_time: i64,
}

impl Tick {
    /// Tick for a change that watchers must know.
    pub fn of(change: CycleChange, now: Timestamp) -> Self {
        match change {
            CycleChange::Runs(cycle) => Self::running(cycle, now),
            CycleChange::Over { ends_at } => Self::over(ends_at, now),
            CycleChange::Voided => Self::voided(now),
        }
    }

    /// Tick of a running cycle.
    pub fn running(cycle: Cycle, now: Timestamp) -> Self {
        let ends_at = cycle.shown_end(now);
        Self { tl: now.ms_until(ends_at), ends_at: Some(ends_at.ms()), server_time: now.ms() }
    }

    /// Tick for the end of a run.
    pub const fn over(ends_at: Timestamp, now: Timestamp) -> Self {
        Self { tl: 0, ends_at: Some(ends_at.ms()), server_time: now.ms() }
    }

    /// Tick for a hold that was voided.
    pub const fn voided(now: Timestamp) -> Self {
        Self { tl: 0, ends_at: None, server_time: now.ms() }
    }
}

/// Moments at which an outlet's machines tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cadence {
    every_ms: i64,
    phase_ms: i64,
}

/// Whether a tick at `now` would be too close to the end of a run.
pub fn is_near_end(now: Timestamp, ends_at: Timestamp) -> bool {
    now.ms_until(ends_at) < MARGIN_MS
}

impl Cadence {
    /// Cadence of once a second, or `per_second` times for measurements. Outlets are spread over the second, in the wheel's steps.
    pub fn of(idoutlet: OutletId, per_second: i64) -> Self {
        // Fibonacci hashing: neighbouring ids land far apart.
        let spread = idoutlet.get().unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let every_ms = SECOND_MS / per_second.max(1);
        Self { every_ms, phase_ms: i64::try_from(spread % 100).unwrap_or(0) * STEP_MS % every_ms }
    }

    /// Offset from each whole tick interval, in milliseconds.
    pub const fn phase_ms(self) -> i64 {
        self.phase_ms
    }

    /// The next phase tick of a run after `now`, `None` when no more follow.
    pub fn next_after(self, now: Timestamp, started_at: Timestamp, ends_at: Timestamp) -> Option<Timestamp> {
        let earliest = (now.ms() + 1).max(started_at.ms() + MARGIN_MS);
        let at = Timestamp::from_ms(earliest + (self.phase_ms - earliest).rem_euclid(self.every_ms));
        (!is_near_end(at, ends_at)).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_come_in_the_phase_of_the_outlet_and_keep_off_both_ends() {
        let (start, end) = (Timestamp::from_ms(10_150), Timestamp::from_ms(15_100));
        let cadence = |phase_ms| Cadence { every_ms: SECOND_MS, phase_ms };
        let mut at = Vec::new();
        let mut now = start;
        while let Some(next) = cadence(300).next_after(now, start, end) {
            at.push(next.ms());
            now = next;
        }
        assert_eq!(at, [11_300, 12_300, 13_300, 14_300]);
        assert_eq!(cadence(340).next_after(start, start, end).map(Timestamp::ms), Some(11_340));
        assert_eq!(cadence(350).next_after(start, start, end).map(Timestamp::ms), Some(10_350));
        assert_eq!(cadence(901).next_after(Timestamp::from_ms(14_000), start, end), None);
    }

    fn cycle(started_ms: i64, ends_ms: i64) -> Cycle {
        Cycle { started_at: Timestamp::from_ms(started_ms), ends_at: Timestamp::from_ms(ends_ms) }
    }

    #[test]
    fn a_cycle_that_starts_in_the_future_shows_its_duration_and_no_more() {
        let tick = Tick::running(cycle(9_000, 12_000), Timestamp::from_ms(1_500));
        assert_eq!((tick.tl, tick.ends_at), (3_000, Some(4_500)));
    }

    #[test]
    fn outlets_are_spread_over_the_second() {
        let mut seen: Vec<i64> = (1..=1_000).map(|idoutlet| Cadence::of(OutletId::new(idoutlet), 1).phase_ms).collect();
        assert!(seen.iter().all(|p| (0..1000).contains(p) && p % STEP_MS == 0));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 100);
    }
}
