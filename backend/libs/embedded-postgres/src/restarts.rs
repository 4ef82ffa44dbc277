//! When a database that died is started again. One that is killed now and then, however often, always comes back; one that cannot
//! stay up is tried less and less often, and at last given up.

use std::time::{Duration, Instant};

/// A database that has served for so long works: whatever ended it came from outside.
const SERVED: Duration = Duration::from_secs(10);
/// Deaths in a row before that. With the pauses below they take more than half a minute.
const MAX_EARLY: u32 = 10;
/// Before the second start of a row; each further one waits twice as long, up to `LONGEST`.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(8);

/// The deaths of one database. Has no clock of its own.
#[derive(Debug, Clone)]
pub struct Restarts {
    serves_since: Option<Instant>,
    early: u32,
}

impl Restarts {
    /// Of a database that takes connections since `now`.
    pub fn serving(now: Instant) -> Self {
        Self { serves_since: Some(now), early: 0 }
    }

    /// It takes connections again.
    pub fn came_back(&mut self, now: Instant) {
        self.serves_since = Some(now);
    }

    /// It died, or did not come back. How long to wait before it is started again: the first time not at all. `None`: it cannot stay
    /// up, and has to be looked at.
    pub fn died(&mut self, now: Instant) -> Option<Duration> {
        let served = self.serves_since.take().is_some_and(|since| now.saturating_duration_since(since) >= SERVED);
        self.early = if served { 0 } else { self.early + 1 };
        match self.early {
            0 | 1 => Some(Duration::ZERO),
            n if n > MAX_EARLY => None,
            n => Some(FIRST_PAUSE.saturating_mul(1 << (n - 2)).min(LONGEST)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lives and dies again and again after `life` each, `times` at most; the pauses.
    fn lives(life: Duration, times: usize) -> Vec<Option<Duration>> {
        let mut now = Instant::now();
        let mut restarts = Restarts::serving(now);
        (0..times)
            .map(|_| {
                now += life;
                let pause = restarts.died(now);
                now += pause.unwrap_or_default();
                restarts.came_back(now);
                pause
            })
            .collect()
    }

    #[test]
    fn one_that_served_comes_back_at_once_however_often_it_is_killed() {
        assert_eq!(lives(Duration::from_secs(10), 1_000), [Some(Duration::ZERO); 1_000]);
    }

    #[test]
    fn one_that_cannot_stay_up_is_given_up_after_growing_pauses() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let pauses = lives(Duration::from_millis(9_999), 11);
        let growing =
            [ms(0), ms(250), ms(500), ms(1_000), ms(2_000), ms(4_000), ms(8_000), ms(8_000), ms(8_000), ms(8_000), None];
        assert_eq!(pauses, growing);
    }

    #[test]
    fn one_that_does_not_come_back_counts_as_dead_and_one_that_served_ends_the_row() {
        let start = Instant::now();
        let mut restarts = Restarts::serving(start);
        let later = start + Duration::from_secs(60);
        assert_eq!(restarts.died(later), Some(Duration::ZERO));
        assert_eq!(restarts.died(later), Some(Duration::ZERO), "the first of a row");
        assert_eq!(restarts.died(later), Some(FIRST_PAUSE), "however long ago it began");
        restarts.came_back(later);
        assert_eq!(restarts.died(later + SERVED), Some(Duration::ZERO));
    }
}
