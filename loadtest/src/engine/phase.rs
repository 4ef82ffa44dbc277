//! Moment within each period at which a group of machines ticks. The server chooses it, so it is measured.

/// A tick that seems early by up to this share of a period belongs to the next moment. No tick is really early, so the measured phase is
/// a little late.
const EARLY_SHARE: i64 = 20;
/// Ticks that seem early by up to this share of a period move the phase, when one comes in each period, none of them in time …
const MOVING_SHARE: i64 = 4;
/// … and this number of them follow each other. A single one may be a very late tick. A phase that followed each of them would drift
/// over hours.
const MOVING_TICKS: usize = 3;
/// Number of ticks from which the phase is measured.
const SAMPLES: usize = 16;
/// Greatest lateness that counts: one tick after a stall says little about the phase.
const LATE_MS: i64 = 50;

/// Moments at which the machines of one outlet tick. Times are the server's, in epoch milliseconds.
#[derive(Debug, Clone)]
pub struct Phase {
    period_ms: i64,
    offset_ms: Option<i64>,
    /// Offsets within the period; empty when the phase is settled.
    samples: Vec<i64>,
    last_sample: i64,
    settled: bool,
    /// How early ticks seemed, in milliseconds, one for each period since the last tick in time.
    early: Vec<i64>,
}

impl Phase {
    pub fn new(period_ms: i64) -> Self {
        Self { period_ms, offset_ms: None, samples: Vec::new(), last_sample: 0, settled: false, early: Vec::new() }
    }

    pub fn period_ms(&self) -> i64 {
        self.period_ms
    }

    pub fn is_known(&self) -> bool {
        self.offset_ms.is_some()
    }

    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Learns from a tick. Ticks are late and never early, so the phase is the offset with the least lateness in total.
    pub fn learn(&mut self, server_time: i64) {
        let within = server_time.rem_euclid(self.period_ms);
        if self.settled {
            return self.follow(server_time, within);
        }
        if server_time == self.last_sample {
            return;
        }
        self.last_sample = server_time;
        self.samples.push(within);
        let lateness =
            |from: i64, max: i64| -> i64 { self.samples.iter().map(|at| (at - from).rem_euclid(self.period_ms).min(max)).sum() };
        // Of two candidates each may make the other late by more than `LATE_MS`; then the whole lateness decides.
        let least = |from: &i64| (lateness(*from, LATE_MS), lateness(*from, self.period_ms));
        self.offset_ms = self.samples.iter().copied().min_by_key(least);
        if self.samples.len() >= SAMPLES {
            self.settle();
        }
    }

    /// Moves a settled phase. It moves backwards only: forwards, late ticks would count as punctual.
    fn follow(&mut self, server_time: i64, within: i64) {
        let early = self.offset_ms.map_or(0, |offset| (offset - within).rem_euclid(self.period_ms));
        let late = (self.period_ms - early) % self.period_ms;
        if late <= LATE_MS.min(self.period_ms / EARLY_SHARE) {
            // A tick in time confirms the phase, so earlier ticks that seemed early do not count.
            self.early.clear();
            return;
        }
        if early > self.period_ms / MOVING_SHARE {
            return;
        }
        if server_time - self.last_sample > self.period_ms / 2 {
            self.last_sample = server_time;
            self.early.push(early);
            if self.early.len() == MOVING_TICKS {
                let back = self.early.drain(..).min().unwrap_or(0);
                self.offset_ms = self.offset_ms.map(|offset| (offset - back).rem_euclid(self.period_ms));
            }
        }
    }

    /// Learns from two ticks of one subscription that seem to belong to one moment. When they are nearly a period apart they belong to two:
    /// the first was late, and the phase was measured from other late ticks.
    pub fn learn_from_two(&mut self, first: i64, second: i64) {
        let nearly_a_period = self.period_ms - self.period_ms / MOVING_SHARE;
        if self.index(first) == self.index(second) && (nearly_a_period..self.period_ms).contains(&(second - first)) {
            self.early = Vec::new();
            self.offset_ms = Some(second.rem_euclid(self.period_ms));
        }
    }

    /// Ends the measurement; a phase that is known stays.
    pub fn settle(&mut self) {
        if self.is_known() {
            self.settled = true;
            self.samples = Vec::new();
        }
    }

    /// Index of the tick with this `server_time`; 0 while the phase is unknown.
    pub fn index(&self, server_time: i64) -> i64 {
        self.last_due(server_time + self.period_ms / EARLY_SHARE)
    }

    /// Index of the last tick that is due at `time` or before.
    pub fn last_due(&self, time: i64) -> i64 {
        self.offset_ms.map_or(0, |offset| (time - offset).div_euclid(self.period_ms))
    }

    /// Time at which tick `index` is due.
    pub fn due(&self, index: i64) -> i64 {
        self.offset_ms.map_or(0, |offset| offset + index * self.period_ms)
    }

    /// Middle between the tick before `time` and the next one; `time` when the phase is unknown.
    pub fn between(&self, time: i64) -> i64 {
        if self.is_known() { self.due(self.last_due(time)) + self.period_ms / 2 } else { time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_is_found_though_ticks_are_late() {
        let mut phase = Phase::new(1000);
        // Due at 980 of each second: the first is 600 ms late, others wrap around the second.
        for at in [2_580, 2_983, 4_040, 4_980, 6_001, 6_985] {
            phase.learn(at);
        }
        assert_eq!(phase.due(phase.index(10_985)), 10_980);
        assert_eq!(phase.index(10_979), phase.index(11_900), "920 ms late");
        assert_eq!(phase.index(10_920) + 1, phase.index(10_980));
        assert_eq!(phase.between(10_985), 11_480);
    }

    #[test]
    fn of_two_ticks_the_one_that_makes_the_other_less_late_has_the_phase() {
        for two in [[1_550, 2_400], [1_400, 2_550]] {
            let mut phase = Phase::new(1000);
            two.into_iter().for_each(|at| phase.learn(at));
            assert_eq!(phase.due(phase.index(9_400)), 9_400, "{two:?}");
        }
    }

    #[test]
    fn a_stall_does_not_move_the_phase() {
        let mut phase = Phase::new(1000);
        // After the third tick nothing for 2,500 ms, then a tick 96 ms before the next is due.
        for at in [1_405, 2_404, 3_409, 6_304, 6_409] {
            phase.learn(at);
        }
        assert_eq!(phase.due(phase.index(6_409)), 6_404);
        assert_eq!(phase.index(6_304) + 1, phase.index(6_409));
    }

    #[test]
    fn a_settled_phase_moves_back_by_a_little_only() {
        let mut phase = Phase::new(1000);
        for n in 0..20 {
            phase.learn(n * 1000 + 503);
        }
        for early in [30_500, 31_400] {
            phase.learn(early);
            assert_eq!(phase.due(phase.index(31_499)), 31_503, "one tick moves nothing");
            phase.learn(31_503);
        }
        [32_500, 33_500, 34_500].into_iter().for_each(|at| phase.learn(at));
        assert_eq!(phase.due(phase.index(35_500)), 35_500, "three in a row do");
    }

    #[test]
    fn a_phase_that_was_found_from_late_ticks_is_put_right() {
        let mut phase = Phase::new(1000);
        (0..20).for_each(|n| phase.learn(n * 1000 + 560));
        // The true offset is 500.
        (20..23).for_each(|n| phase.learn(n * 1000 + 500 + n % 2));
        assert_eq!(phase.due(phase.index(30_500)), 30_501);
    }

    #[test]
    fn odd_ticks_between_good_ones_move_nothing_however_many_they_are() {
        let mut phase = Phase::new(1000);
        (0..3_600).for_each(|n| phase.learn(n * 1000 + if n % 60 == 59 { 380 } else { 501 }));
        assert_eq!(phase.due(phase.index(3_600_501)), 3_600_501);
        // Each is 3 ms before the one before it.
        (3_600..7_200).for_each(|n| phase.learn(n * 1000 + if n % 60 == 59 { 501 - (n - 3_540) / 60 * 3 } else { 501 }));
        assert_eq!(phase.due(phase.index(7_200_501)), 7_200_501);
    }
}
