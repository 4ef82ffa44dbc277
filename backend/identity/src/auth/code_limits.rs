//! Failed attempts at codes, by address and by /48 (docs/limits.md).

use std::sync::{Mutex, MutexGuard, PoisonError};

use nyala_core::domain::address::Address;
use nyala_core::domain::timestamp::{Timestamp, seconds_up};
use nyala_core::rate_limit::{SlidingWindow, WindowLimits};
use nyala_store::config;

use super::error::AuthError;

const HOUR_MS: i64 = 60 * 60 * 1000;
/// Failed attempts that are remembered, about 15 MiB: 70 a second.
const MAX_FAILED: usize = 1 << 18;

/// Failed attempts that are allowed in an hour.
#[derive(Debug, Clone, Copy)]
struct MaxFailed {
    per_address: usize,
    /// For the /48 around an address.
    per_site: usize,
}

/// One instance for the whole process; a restart clears it.
#[derive(Debug)]
pub struct CodeLimits {
    max: MaxFailed,
    failed: Mutex<FailedCodes>,
}

#[derive(Debug)]
struct FailedCodes {
    addresses: SlidingWindow<Address, ()>,
    sites: SlidingWindow<u64, ()>,
}

/// An attempt that counts as failed until it is refunded.
#[derive(Debug)]
#[must_use = "the attempt of a right code is refunded"]
pub struct CodeTry {
    address: Address,
    id: u64,
    site: Option<(u64, u64)>,
}

impl CodeLimits {
    pub fn new(config: &config::AuthSettings) -> Self {
        Self::with(MaxFailed { per_address: config.wrong_codes_per_address_hour, per_site: config.wrong_codes_per_site_hour })
    }

    fn with(max: MaxFailed) -> Self {
        let failed = FailedCodes {
            addresses: SlidingWindow::new(WindowLimits { window_ms: HOUR_MS, max_events: MAX_FAILED }),
            sites: SlidingWindow::new(WindowLimits { window_ms: HOUR_MS, max_events: MAX_FAILED }),
        };
        Self { max, failed: Mutex::new(failed) }
    }

    /// Counts an attempt as failed in advance, so that parallel attempts learn no more than sequential ones.
    ///
    /// # Errors
    /// `TooMany` with the seconds until the next attempt.
    pub fn reserve(&self, address: Address, now: Timestamp) -> Result<CodeTry, AuthError> {
        let mut failed = self.lock();
        let mut wait_ms = failed.addresses.wait_ms(&address, self.max.per_address, now, |()| true);
        if let Some(site) = address.site() {
            wait_ms = wait_ms.max(failed.sites.wait_ms(&site, self.max.per_site, now, |()| true));
        }
        if wait_ms > 0 {
            return Err(AuthError::TooMany { retry_s: seconds_up(wait_ms) });
        }
        let site = address.site().map(|site| (site, failed.sites.add(site, (), now)));
        Ok(CodeTry { address, id: failed.addresses.add(address, (), now), site })
    }

    /// The attempt does not count after all: the code was right, or was not compared.
    pub fn refund(&self, tried: &CodeTry) {
        let mut failed = self.lock();
        failed.addresses.refund(&tried.address, tried.id);
        if let Some((site, id)) = tried.site {
            failed.sites.refund(&site, id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, FailedCodes> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(1_795_000_000_000 + ms)
    }

    /// Seconds to wait; 0 when the attempt was allowed.
    fn failed(limits: &CodeLimits, address: Address, ms: i64) -> u32 {
        match limits.reserve(address, at(ms)) {
            Ok(_) => 0,
            Err(AuthError::TooMany { retry_s }) => retry_s,
            Err(e) => panic!("{e}"),
        }
    }

    #[test]
    fn an_address_and_a_site_have_their_failed_tries_an_hour() {
        let limits = CodeLimits::with(MaxFailed { per_address: 2, per_site: 3 });
        let v6 = |subnet: u64| Address::V6(0x2001_0db8_0001_0000 | subnet);
        assert_eq!((failed(&limits, v6(1), 0), failed(&limits, v6(1), 1_000)), (0, 0));
        assert_eq!(failed(&limits, v6(1), 2_000), 3_598);
        assert_eq!(failed(&limits, v6(2), 2_000), 0);
        assert_eq!(failed(&limits, v6(3), 3_000), 3_597, "of the same /48");
        assert_eq!(failed(&limits, Address::V6(0x2001_0db8_0002_0001), 3_000), 0);
        assert_eq!(failed(&limits, Address::V4(1), 3_000), 0);
        assert_eq!(failed(&limits, v6(3), HOUR_MS), 0);
    }

    #[test]
    fn a_right_code_costs_nothing() {
        let limits = CodeLimits::with(MaxFailed { per_address: 1, per_site: 1 });
        for address in [Address::V6(1 << 16), Address::V4(1)] {
            for _ in 0..10 {
                let tried = limits.reserve(address, at(0)).unwrap();
                limits.reserve(address, at(0)).unwrap_err();
                limits.refund(&tried);
            }
        }
    }
}
