//! Purchases of a round that are in progress, and how many of them the kills interrupted.

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

    /// Customers and cashiers begin nothing more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Counts a new receipt.
    pub fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a payment that is sent, until it is answered or its connection breaks.
    pub fn payment_sent(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    pub fn payment_ended(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// Waits until this number of purchases has begun. Returns whether that was in time.
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

/// Purchases that the kills of all rounds interrupted.
#[derive(Debug, Default)]
pub struct Kills {
    /// Purchases begun before each kill, and payments in flight at it, in ascending order.
    begun: Vec<u64>,
    in_flight: Vec<u64>,
}

impl Kills {
    /// Records a kill that happens now.
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
    fn kills_report_what_they_interrupted() {
        let (flow, mut kills) = (Flow::default(), Kills::default());
        for in_flight in 1..=3 {
            flow.begin();
            flow.begin();
            flow.payment_sent();
            kills.add(&flow);
            assert_eq!(kills.in_flight.len(), in_flight);
        }
        flow.payment_ended();
        kills.add(&flow);
        let report = "begun before a kill: at least 2, mostly 6; in flight at it: at least 1, mostly 2";
        assert_eq!(kills.to_string(), report);
    }
}
