//! How many purchases a customer may ask for in a minute (docs/contract.md §7): each that is refused leaves a row behind.

use std::sync::{Mutex, PoisonError};

use super::{SlidingWindow, WindowLimits};
use crate::domain::id::CustomerId;
use crate::domain::timestamp::Timestamp;

const WINDOW_MS: i64 = 60_000;
/// Orders that are remembered of all customers together: 4,000 a second for a minute, in about 30 MiB.
const MAX_ORDERS: usize = 1 << 18;

/// The customer has asked for as many as a minute allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooSoon {
    pub wait_ms: i64,
}

/// The orders of the last minute, each with the digits of its receipt number.
#[derive(Debug)]
pub struct PurchaseRate {
    per_customer: usize,
    orders: Mutex<SlidingWindow<CustomerId, u64>>,
}

impl PurchaseRate {
    pub fn new(per_customer: usize) -> Self {
        Self {
            per_customer,
            orders: Mutex::new(SlidingWindow::new(WindowLimits { window_ms: WINDOW_MS, max_events: MAX_ORDERS })),
        }
    }

    /// Counts the order of a receipt that is not decided yet; a repeat counts once.
    ///
    /// # Errors
    /// [`TooSoon`] until the customer may ask for another.
    pub fn admit(&self, id_customer_global: CustomerId, receipt: u64, now: Timestamp) -> Result<(), TooSoon> {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        if orders.wait_ms(&id_customer_global, 1, now, |counted| *counted == receipt) > 0 {
            return Ok(());
        }
        match orders.wait_ms(&id_customer_global, self.per_customer, now, |_| true) {
            0 => {
                orders.add(id_customer_global, receipt, now);
                Ok(())
            }
            wait_ms => Err(TooSoon { wait_ms }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn a_minute_slides_and_repeats_are_free() {
        let rate = PurchaseRate::new(2);
        rate.admit(CustomerId::new(1), 10, at(0)).unwrap();
        rate.admit(CustomerId::new(1), 11, at(30_000)).unwrap();
        rate.admit(CustomerId::new(1), 10, at(30_000)).unwrap();
        rate.admit(CustomerId::new(2), 10, at(30_000)).unwrap();
        let refused = rate.admit(CustomerId::new(1), 12, at(30_001)).unwrap_err();
        assert_eq!(refused, TooSoon { wait_ms: 29_999 });
        rate.admit(CustomerId::new(1), 12, at(60_000)).unwrap();
        let refused = rate.admit(CustomerId::new(1), 13, at(60_000)).unwrap_err();
        assert_eq!(refused, TooSoon { wait_ms: 30_000 });
    }
}
