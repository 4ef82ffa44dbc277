//! Machine behind a played device that wants coins: it runs its own cycle once it has its pulses and its Start is pressed.

use std::ops::{Range, RangeInclusive};

use rand::Rng;

use super::fault::{Fault, Faults};

/// From the last pulse until Start is pressed …
const START_MS: RangeInclusive<i64> = 2_000..=10_000;
/// … and with the fault `slow-start`.
const SLOW_START_MS: RangeInclusive<i64> = 130_000..=140_000;
/// Cycle of the machine, in percent of what was paid for …
const CYCLE: RangeInclusive<i64> = 90..=100;
/// … and with the fault `long-cycle`.
const LONG_CYCLE: RangeInclusive<i64> = 120..=150;
const HOUR_MS: i64 = 3_600_000;

/// All times are the fleet's.
#[derive(Debug, Default)]
pub(super) struct Machine {
    runs: Option<Range<i64>>,
    /// Level of the sensor that the board has seen.
    pub seen: bool,
    pub next_coin: Option<i64>,
}

impl Machine {
    /// It has got its pulses at `now`, for a cycle of `paid_ms`.
    pub fn credit(&mut self, paid_ms: i64, faults: Faults, now: i64, rng: &mut impl Rng) {
        if faults.has(Fault::NeverRuns) {
            return;
        }
        let from = now + rng.random_range(if faults.has(Fault::SlowStart) { SLOW_START_MS } else { START_MS });
        let percent = rng.random_range(if faults.has(Fault::LongCycle) { LONG_CYCLE } else { CYCLE });
        self.runs = Some(from..from + paid_ms * percent / 100);
    }

    /// What its sensor says.
    pub fn level(&self, faults: Faults, now: i64) -> bool {
        faults.has(Fault::StuckSensor) || self.runs.as_ref().is_some_and(|runs| runs.contains(&now))
    }

    /// When the board must look at it next.
    pub fn due(&self, faults: Faults) -> Option<i64> {
        let flank = self.runs.as_ref().filter(|_| !faults.has(Fault::StuckSensor));
        let flank = flank.map(|runs| if self.seen { runs.end } else { runs.start });
        flank.into_iter().chain(self.next_coin).min()
    }

    /// Forgets a cycle that is over.
    pub fn rest(&mut self, now: i64) {
        self.runs.take_if(|runs| runs.end <= now);
    }

    /// Plans the next coin, of about `an_hour` in an hour.
    pub fn plan_coin(&mut self, an_hour: i64, now: i64, rng: &mut impl Rng) {
        self.next_coin = (an_hour > 0).then(|| now + rng.random_range(0..=2 * HOUR_MS / an_hour));
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;

    fn cycle(fault: Option<Fault>) -> Option<Range<i64>> {
        let (mut machine, mut faults) = (Machine::default(), Faults::default());
        fault.into_iter().for_each(|fault| faults.set(fault, true));
        machine.credit(600_000, faults, 1_000, &mut StdRng::seed_from_u64(7));
        machine.runs
    }

    #[test]
    fn it_runs_a_while_after_its_pulses_for_its_own_cycle() {
        let runs = cycle(None).unwrap();
        assert!((3_000..=11_000).contains(&runs.start) && (540_000..=600_000).contains(&(runs.end - runs.start)), "{runs:?}");
        assert_eq!(cycle(Some(Fault::NeverRuns)), None);
        assert!(cycle(Some(Fault::SlowStart)).unwrap().start >= 121_000);
        let long = cycle(Some(Fault::LongCycle)).unwrap();
        assert!(long.end - long.start >= 720_000, "{long:?}");
    }

    #[test]
    fn its_sensor_follows_the_cycle_unless_it_is_stuck() {
        let (mut machine, mut faults) = (Machine { runs: Some(10..20), ..Machine::default() }, Faults::default());
        assert_eq!((machine.level(faults, 9), machine.due(faults)), (false, Some(10)));
        machine.seen = machine.level(faults, 10);
        assert_eq!((machine.seen, machine.due(faults)), (true, Some(20)));
        assert!(!machine.level(faults, 20));
        machine.rest(19);
        assert!(machine.runs.is_some());
        machine.rest(20);
        assert_eq!(machine.due(faults), None);
        faults.set(Fault::StuckSensor, true);
        assert_eq!((machine.level(faults, 30), machine.due(faults)), (true, None));
    }

    #[test]
    fn coins_fall_by_chance() {
        let (mut machine, mut rng) = (Machine::default(), StdRng::seed_from_u64(7));
        machine.plan_coin(0, 5, &mut rng);
        assert_eq!(machine.next_coin, None);
        machine.plan_coin(60, 5, &mut rng);
        assert!(machine.due(Faults::default()).is_some_and(|at| (5..=120_005).contains(&at)));
    }
}
