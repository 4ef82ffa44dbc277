//! How often a customer may download all that is stored of them (docs/limits.md).

use std::sync::{Mutex, PoisonError};

use super::purchases::TooSoon;
use super::{SlidingWindow, WindowLimits};
use crate::domain::id::CustomerId;
use crate::domain::timestamp::Timestamp;

const WINDOW_MS: i64 = 24 * 60 * 60 * 1000;
const PER_CUSTOMER: usize = 3;
/// Downloads that are remembered of all customers together.
const MAX_DOWNLOADS: usize = 1 << 16;

/// The downloads of the last 24 hours.
#[derive(Debug)]
pub struct DownloadRate(Mutex<SlidingWindow<CustomerId, ()>>);

impl Default for DownloadRate {
    fn default() -> Self {
        Self(Mutex::new(SlidingWindow::new(WindowLimits { window_ms: WINDOW_MS, max_events: MAX_DOWNLOADS })))
    }
}

impl DownloadRate {
    /// Counts a download.
    ///
    /// # Errors
    /// [`TooSoon`] until the customer may ask for another.
    pub fn admit(&self, customer: CustomerId, now: Timestamp) -> Result<(), TooSoon> {
        let mut downloads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match downloads.wait_ms(&customer, PER_CUSTOMER, now, |()| true) {
            0 => {
                downloads.add(customer, (), now);
                Ok(())
            }
            wait_ms => Err(TooSoon { wait_ms }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_customer_has_three_a_day() {
        let rate = DownloadRate::default();
        let at = |s: i64| Timestamp::from_ms(s * 1_000);
        let admit = |customer, s| rate.admit(CustomerId::new(customer), at(s)).map_err(|soon| soon.wait_ms / 1_000);
        assert_eq!([admit(1, 0), admit(1, 10), admit(1, 20)], [Ok(()); 3]);
        assert_eq!((admit(1, 30), admit(2, 30)), (Err(86_370), Ok(())));
        assert_eq!((admit(1, 86_400), admit(1, 86_401)), (Ok(()), Err(9)));
    }
}
