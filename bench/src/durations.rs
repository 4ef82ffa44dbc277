//! How long calls took.

use std::time::Duration;

/// Every single time, because there are few.
#[derive(Debug, Clone, Default)]
pub struct Durations(Vec<Duration>);

impl Durations {
    pub fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many took no longer than `limit`.
    pub fn within(&self, limit: Duration) -> usize {
        self.0.iter().filter(|took| **took <= limit).count()
    }

    /// Milliseconds that the share `quantile` (0 to 1) of all does not exceed; 0 without durations.
    pub fn ms(&self, quantile: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = (quantile * sorted.len() as f64).ceil() as usize;
        sorted.get(at.saturating_sub(1)).map_or(0.0, |d| d.as_secs_f64() * 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_time_that_was_there() {
        let mut times = Durations::default();
        assert!(times.is_empty() && times.ms(0.5) == 0.0);
        (1..=200).rev().for_each(|ms| times.add(Duration::from_millis(ms)));
        assert_eq!((times.ms(0.0), times.ms(0.5), times.ms(0.99), times.ms(1.0)), (1.0, 100.0, 198.0, 200.0));
        assert_eq!(times.within(Duration::from_millis(50)), 50);
    }
}
