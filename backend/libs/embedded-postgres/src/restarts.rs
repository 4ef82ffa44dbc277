//! Restart policy for a database that ended. One that is killed from time to time is always restarted. One that cannot stay up is
//! restarted after growing pauses, and after a maximum number of attempts no more.

use std::time::{Duration, Instant};

/// A database that has served this long works: the reason of its end came from outside.
const SERVED: Duration = Duration::from_secs(10);
/// Maximum number of consecutive ends before [`SERVED`]. With the pauses below they take more than half a minute.
const MAX_EARLY: u32 = 10;
/// Pause before the second consecutive restart. Each further pause is twice as long, up to `LONGEST`.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(8);

/// Counts the ends of one database. The caller provides the time.
#[derive(Debug, Clone)]
pub struct Restarts {
    serves_since: Option<Instant>,
    early: u32,
}

impl Restarts {
    /// Policy for a database that accepts connections since `now`.
    pub fn serving(now: Instant) -> Self {
        Self { serves_since: Some(now), early: 0 }
    }

    /// The database accepts connections again.
    pub fn came_back(&mut self, now: Instant) {
        self.serves_since = Some(now);
    }

    /// The database ended, or a restart failed. Returns the pause before the next start; the first pause is zero. `None`: it cannot
    /// stay up, and the operator has to look at it.
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

    /// The pauses of a database that ends `times` times, each time after serving for `served`.
    fn pauses_after(served: Duration, times: usize) -> Vec<Option<Duration>> {
        let mut now = Instant::now();
        let mut restarts = Restarts::serving(now);
        (0..times)
            .map(|_| {
                now += served;
                let pause = restarts.died(now);
                now += pause.unwrap_or_default();
                restarts.came_back(now);
                pause
            })
            .collect()
    }

    #[test]
    fn one_that_served_comes_back_at_once_however_often_it_is_killed() {
        assert_eq!(pauses_after(Duration::from_secs(10), 1_000), [Some(Duration::ZERO); 1_000]);
    }

    #[test]
    fn one_that_cannot_stay_up_is_given_up_after_growing_pauses() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let pauses = pauses_after(Duration::from_millis(9_999), 11);
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
