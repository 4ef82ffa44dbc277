//! Course of a corrected clock: it follows the boot clock, and during a correction it runs a permille faster or slower. It never steps and never
//! goes back, because countdowns are deadlines on it (docs/decisions/0016-a-countdown-is-a-deadline.md).

/// One nanosecond is corrected in this many nanoseconds.
const SLEW: i64 = 1_000;

/// A reading of the boot clock, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct BootNs(pub i64);

/// Relation of the clock to the boot clock. All values are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Course {
    /// The clock's time at 0 of the boot clock, without the correction.
    pub base: i64,
    /// Time of the boot clock at which the correction begins.
    pub since: BootNs,
    /// The correction; negative values slow the clock down.
    pub left: i64,
}

impl Course {
    /// A clock without a correction that shows `now` when the boot clock shows `boot`.
    pub const fn straight(now: i64, boot: BootNs) -> Self {
        Self { base: now - boot.0, since: boot, left: 0 }
    }

    /// The clock's time when the boot clock shows `boot`, which is not before `since`.
    pub fn at(self, boot: BootNs) -> i64 {
        let at_most = ((boot.0 - self.since.0) / SLEW).max(0);
        boot.0 + self.base + self.left.clamp(-at_most, at_most)
    }

    /// From this moment on the clock is corrected by `ahead`; what was left of the previous correction is dropped.
    pub fn corrected(self, boot: BootNs, ahead: i64) -> Self {
        Self { left: ahead, ..Self::straight(self.at(boot), boot) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const S: i64 = 1_000 * MS;

    #[test]
    fn a_correction_takes_a_thousand_times_its_length_and_no_more() {
        for ahead in [7 * MS, -7 * MS] {
            let course = Course::straight(0, BootNs(0)).corrected(BootNs(S), ahead);
            let ahead_ns = [0, 1, 3, 7, 8, 1_000].map(|s| course.at(BootNs(S + s * S)) - (S + s * S));
            assert_eq!(ahead_ns.map(i64::abs), [0, MS, 3 * MS, 7 * MS, 7 * MS, 7 * MS]);
            assert!(ahead_ns.iter().all(|ahead_ns| ahead_ns * ahead >= 0));
        }
    }

    #[test]
    fn it_never_goes_back_and_never_runs_more_than_a_permille_off() {
        let mut course = Course::straight(1_795_000_000 * S, BootNs(5 * S));
        let (mut boot, mut before) = (5 * S, course.at(BootNs(5 * S)));
        let mut seed: i64 = 1;
        for _ in 0..200_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let passed = (seed >> 33).rem_euclid([1, 50, 999, 1_001, 40 * MS][(seed >> 20).rem_euclid(5) as usize]) + 1;
            boot += passed;
            let now = course.at(BootNs(boot));
            assert!((now - before - passed).abs() <= passed / SLEW + 1 && now >= before, "{passed} ns were {}", now - before);
            before = now;
            if seed.rem_euclid(7) == 0 {
                course = course.corrected(BootNs(boot), (seed >> 30).rem_euclid(20 * S) - 10 * S);
                assert_eq!(course.at(BootNs(boot)), now, "a correction is no step");
            }
        }
    }

    /// A boot clock that is 50 ppm slow, looked at every 30 s with up to 0.08 ms of error: the figures of docs/cluster.md.
    #[test]
    fn a_clock_that_drifts_is_held_within_two_milliseconds() {
        let mut course = Course::straight(0, BootNs(0));
        let true_time = |boot: i64| boot + boot / 20_000;
        let worst = (1..=24 * 120)
            .map(|round| {
                let boot = round * 30 * S;
                let error = [80, -80, 20, -50][round as usize % 4] * 1_000;
                let off = true_time(boot) - course.at(BootNs(boot));
                course = course.corrected(BootNs(boot), off + error);
                off.abs()
            })
            .max();
        assert!(worst < Some(2 * MS), "{worst:?} ns");
    }

    #[test]
    fn an_hour_is_made_up_in_forty_two_days_and_not_at_once() {
        let course = Course::straight(0, BootNs(0)).corrected(BootNs(0), 3_600 * S);
        assert_eq!(course.at(BootNs(30 * S)), 30 * S + 30 * MS);
        assert_eq!(course.at(BootNs(42 * 86_400 * S)), (42 * 86_400 + 3_600) * S);
    }
}
