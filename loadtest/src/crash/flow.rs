//! What is under way in a round, and how much of it the kills met.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Shared by the customers of a round.
#[derive(Debug, Default)]
pub struct Flow {
    closed: AtomicBool,
    begun: AtomicU64,
    in_flight: AtomicU64,
}

impl Flow {
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Nobody begins anything more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// A new receipt.
    pub fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// A payment leaves, until it is answered or broken off.
    pub fn leaves(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    pub fn arrived(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// Waits until so many purchases were begun; whether they were in time.
    pub async fn begun(&self, purchases: u64, within: Duration) -> bool {
        let since = Instant::now();
        while self.begun.load(Ordering::Relaxed) < purchases {
            if since.elapsed() > within {
                return false;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        true
    }
}

/// How much the kills of all rounds met.
#[derive(Debug, Default)]
pub struct Kills {
    /// Purchases begun before each kill, and payments in flight at it, the fewest first.
    begun: Vec<u64>,
    in_flight: Vec<u64>,
}

impl Kills {
    /// Something is killed now.
    pub fn add(&mut self, flow: &Flow) {
        for (all, now) in [(&mut self.begun, &flow.begun), (&mut self.in_flight, &flow.in_flight)] {
            let now = now.load(Ordering::Relaxed);
            all.insert(all.partition_point(|n| *n < now), now);
        }
    }
}

impl fmt::Display for Kills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = |all: &[u64]| all.first().copied().unwrap_or(0);
        let middle = |all: &[u64]| all.get(all.len() / 2).copied().unwrap_or(0);
        let (begun, in_flight) = (&self.begun, &self.in_flight);
        write!(f, "begun before a kill: at least {}, mostly {}; ", least(begun), middle(begun))?;
        write!(f, "in flight at it: at least {}, mostly {}", least(in_flight), middle(in_flight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kills_met_is_told() {
        let (flow, mut kills) = (Flow::default(), Kills::default());
        for in_flight in 1..=3 {
            flow.begin();
            flow.begin();
            flow.leaves();
            kills.add(&flow);
            assert_eq!(kills.in_flight.len(), in_flight);
        }
        flow.arrived();
        kills.add(&flow);
        let told = "begun before a kill: at least 2, mostly 6; in flight at it: at least 1, mostly 2";
        assert_eq!(kills.to_string(), told);
    }
}
