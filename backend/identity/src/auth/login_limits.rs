//! Wrong passwords, counted before they are hashed (docs/limits.md; `auth.wrong_logins_*` in config/default.toml). Ten in a quarter of
//! an hour are a customer's own mistakes. More are guesses: they cost no hash, and they do not lock out the number's owner.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nyala_cluster::Ownership;
use nyala_core::domain::address::Address;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::{Timestamp, seconds_up};
use nyala_core::rate_limit::{BucketLimits, SlidingWindow, TokenBuckets, WindowLimits};
use nyala_store::config;
use prometheus_client::metrics::counter::Counter;

use super::error::AuthError;
use super::known_phone::KnownPhone;

const WINDOW_MS: i64 = 15 * 60 * 1000;
/// Wrong passwords that are remembered, about 60 MiB: 290 a second for a quarter of an hour, more than most servers hash. The memory
/// includes as many attempts that were refunded; those evict no wrong one.
const MAX_FAILED: usize = 1 << 18;

/// Who enters a password.
#[derive(Debug, Clone)]
pub enum Who {
    /// A phone on which this customer has logged in since the last password change. Attempts of others do not count against it.
    Phone(KnownPhone),
    Stranger {
        number: Telp,
        address: Address,
    },
}

/// An attempt that counts as wrong until it is refunded.
#[derive(Debug)]
#[must_use = "the attempt of a right password is refunded"]
pub struct LoginAttempt {
    who: Who,
    id: u64,
}

/// Wrong passwords that are allowed in a quarter of an hour.
#[derive(Debug, Clone, Copy)]
struct MaxWrong {
    /// From one phone, or from one address for one number.
    per_phone: usize,
    /// For one number from all addresses together, at all servers.
    per_number: usize,
}

/// One instance for the whole process; a restart clears it. Each of several servers allows only its share of a number's attempts, so
/// guessing at all of them brings no more attempts. The limits of an address and of a known phone apply per server.
#[derive(Debug)]
pub struct LoginLimits {
    max: MaxWrong,
    servers: Ownership,
    failed: Mutex<FailedLogins>,
    refused: Counter,
}

#[derive(Debug)]
struct FailedLogins {
    numbers: SlidingWindow<Telp, Address>,
    phones: SlidingWindow<KnownPhone, ()>,
    addresses: AddressAttempts,
}

/// Addresses, and sites, with a bucket that is not empty; about 2 MiB each.
const MAX_ADDRESSES: usize = 1 << 16;

impl LoginLimits {
    pub fn new(config: &config::AuthSettings, servers: Ownership) -> Self {
        let addresses = AddressAttempts::new(AddressRate {
            burst: config.wrong_logins_per_address,
            refill_s: config.wrong_logins_address_refill_s,
        });
        let max = MaxWrong { per_phone: config.wrong_logins_per_phone, per_number: config.wrong_logins_per_number };
        Self::with(max, addresses, servers)
    }

    fn with(max: MaxWrong, addresses: AddressAttempts, servers: Ownership) -> Self {
        let (numbers, phones) = (
            SlidingWindow::new(WindowLimits { window_ms: WINDOW_MS, max_events: MAX_FAILED }),
            SlidingWindow::new(WindowLimits { window_ms: WINDOW_MS, max_events: MAX_FAILED }),
        );
        Self { max, servers, failed: Mutex::new(FailedLogins { numbers, phones, addresses }), refused: Counter::default() }
    }

    /// Checks whether the address may make an attempt. It runs before anything else is examined.
    ///
    /// # Errors
    /// `TooMany` with the seconds until it may.
    pub fn admit(&self, address: Address, now: Timestamp) -> Result<(), AuthError> {
        self.refuse(self.lock().addresses.wait_ms(address, now))
    }

    /// Counts an attempt as wrong in advance, so that parallel attempts learn no more than sequential ones.
    ///
    /// # Errors
    /// `TooMany` with the seconds until the next attempt.
    pub fn reserve(&self, who: Who, now: Timestamp) -> Result<LoginAttempt, AuthError> {
        let mut failed = self.lock();
        let id = match &who {
            Who::Phone(phone) => {
                self.refuse(failed.phones.wait_ms(phone, self.max.per_phone, now, |()| true))?;
                failed.phones.add(*phone, (), now)
            }
            Who::Stranger { number, address } => {
                let of_number = failed.numbers.wait_ms(number, self.servers.share_of(self.max.per_number), now, |_| true);
                let of_pair = failed.numbers.wait_ms(number, self.max.per_phone, now, |from| from == address);
                self.refuse(of_number.max(of_pair).max(failed.addresses.wait_ms(*address, now)))?;
                failed.addresses.take(*address, now);
                failed.numbers.add(number.clone(), *address, now)
            }
        };
        Ok(LoginAttempt { who, id })
    }

    /// The attempt does not count after all: the password was right, or was not compared.
    pub fn refund(&self, attempt: &LoginAttempt) {
        let mut failed = self.lock();
        match &attempt.who {
            Who::Phone(phone) => failed.phones.refund(phone, attempt.id),
            Who::Stranger { number, address } => {
                failed.numbers.refund(number, attempt.id);
                failed.addresses.refund(*address);
            }
        }
    }

    /// Takes an attempt of the address for an answer that reveals which numbers are customers; such an answer costs no hash.
    ///
    /// # Errors
    /// As [`LoginLimits::admit`].
    pub fn take(&self, address: Address, now: Timestamp) -> Result<(), AuthError> {
        let mut failed = self.lock();
        self.refuse(failed.addresses.wait_ms(address, now))?;
        failed.addresses.take(address, now);
        Ok(())
    }

    /// What [`LoginLimits::take`] took does not count after all: the answer revealed nothing.
    pub fn refund_take(&self, address: Address) {
        self.lock().addresses.refund(address);
    }

    /// Removes the wrong attempts at a number that has a new password: they no longer matter.
    pub fn forget(&self, number: &Telp) {
        self.lock().numbers.forget(number);
    }

    /// Number of refused attempts, for the metrics.
    pub fn refused(&self) -> &Counter {
        &self.refused
    }

    fn refuse(&self, wait_ms: i64) -> Result<(), AuthError> {
        if wait_ms <= 0 {
            return Ok(());
        }
        self.refused.inc();
        Err(AuthError::TooMany { retry_s: seconds_up(wait_ms) })
    }

    fn lock(&self) -> MutexGuard<'_, FailedLogins> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A /48 has this many times as many attempts as each /64 in it.
const SITE_FACTOR: usize = 4;

/// Attempts of an address: how many at once, and the time after which one more is allowed.
#[derive(Debug, Clone, Copy)]
struct AddressRate {
    burst: usize,
    refill_s: i64,
}

/// Attempts of addresses, and of the /48 around them.
#[derive(Debug)]
struct AddressAttempts {
    addresses: TokenBuckets<Address>,
    sites: TokenBuckets<u64>,
}

impl AddressAttempts {
    fn new(AddressRate { burst, refill_s }: AddressRate) -> Self {
        let (refill_ms, max_keys) = (refill_s.saturating_mul(1000), MAX_ADDRESSES);
        Self {
            addresses: TokenBuckets::new(BucketLimits { burst, refill_ms, max_keys }),
            sites: TokenBuckets::new(BucketLimits {
                burst: burst.saturating_mul(SITE_FACTOR),
                refill_ms: refill_ms / SITE_FACTOR as i64,
                max_keys,
            }),
        }
    }

    fn wait_ms(&self, address: Address, now: Timestamp) -> i64 {
        let of_site = address.site().map_or(0, |site| self.sites.wait_ms(site, now));
        self.addresses.wait_ms(address, now).max(of_site)
    }

    fn take(&mut self, address: Address, now: Timestamp) {
        self.addresses.take(address, now);
        if let Some(site) = address.site() {
            self.sites.take(site, now);
        }
    }

    fn refund(&mut self, address: Address) {
        self.addresses.refund(address);
        if let Some(site) = address.site() {
            self.sites.refund(site);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nyala_core::domain::id::CustomerId;

    const MINUTE_MS: i64 = 60_000;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(1_795_000_000_000 + ms)
    }

    fn limits(per_phone: usize, per_number: usize, per_address: usize) -> LoginLimits {
        let addresses = AddressAttempts::new(AddressRate { burst: per_address, refill_s: 3 });
        LoginLimits::with(MaxWrong { per_phone, per_number }, addresses, Ownership::default())
    }

    fn stranger(number: &str, address: u32) -> Who {
        Who::Stranger { number: Telp::from_stored(number.to_owned()), address: Address::V4(address) }
    }

    fn phone(device: u8) -> Who {
        Who::Phone(KnownPhone { customer: CustomerId::new(7), version: 1, device: [device; 16] })
    }

    /// Seconds to wait; 0 when the attempt was allowed.
    fn wrong(limits: &LoginLimits, who: Who, ms: i64) -> u32 {
        match limits.reserve(who, at(ms)) {
            Ok(_) => 0,
            Err(AuthError::TooMany { retry_s }) => retry_s,
            Err(e) => panic!("{e}"),
        }
    }

    #[test]
    fn a_number_waits_only_at_the_address_that_guessed() {
        let limits = limits(2, 50, 1000);
        assert_eq!((wrong(&limits, stranger("811", 1), 0), wrong(&limits, stranger("811", 1), 1000)), (0, 0));
        assert_eq!(wrong(&limits, stranger("811", 1), 60_000), 840);
        assert_eq!(wrong(&limits, stranger("811", 2), 60_000), 0);
        assert_eq!(wrong(&limits, stranger("812", 1), 60_000), 0);
        assert_eq!(wrong(&limits, stranger("811", 1), 15 * MINUTE_MS), 0);
    }

    #[test]
    fn many_addresses_share_what_a_number_has_and_a_known_phone_does_not() {
        let limits = limits(2, 5, 1000);
        for address in 0..5 {
            assert_eq!(wrong(&limits, stranger("811", address), 0), 0);
        }
        assert_eq!(wrong(&limits, stranger("811", 9), MINUTE_MS), 840);
        assert_eq!((wrong(&limits, phone(1), MINUTE_MS), wrong(&limits, phone(1), MINUTE_MS)), (0, 0));
        assert_eq!(wrong(&limits, phone(1), MINUTE_MS), 900);
        assert_eq!(wrong(&limits, phone(2), MINUTE_MS), 0);
        limits.forget(&Telp::from_stored("811".to_owned()));
        assert_eq!(wrong(&limits, stranger("811", 9), MINUTE_MS), 0);
    }

    #[test]
    fn an_address_has_a_bucket_into_which_one_comes_back_every_three_seconds() {
        let limits = limits(100, 100, 3);
        for number in ["811", "812", "813"] {
            assert_eq!(wrong(&limits, stranger(number, 1), 0), 0);
        }
        assert_eq!(wrong(&limits, stranger("814", 1), 0), 3);
        assert_eq!(wrong(&limits, stranger("814", 2), 0), 0);
        assert!(limits.admit(Address::V4(1), at(2_999)).is_err());
        limits.take(Address::V4(1), at(3_000)).unwrap();
        assert_eq!(wrong(&limits, stranger("814", 1), 4_500), 2);
        for number in ["811", "812", "813"] {
            assert_eq!(wrong(&limits, stranger(number, 1), MINUTE_MS), 0, "no more than full");
        }
        assert_eq!(wrong(&limits, stranger("814", 1), MINUTE_MS), 3);
    }

    #[test]
    fn a_right_password_costs_nothing() {
        let limits = limits(1, 1, 1);
        for who in [stranger("811", 1), phone(1)] {
            for _ in 0..10 {
                let attempt = limits.reserve(who.clone(), at(0)).unwrap();
                limits.reserve(who.clone(), at(0)).unwrap_err();
                limits.refund(&attempt);
            }
        }
    }

    #[test]
    fn right_passwords_evict_no_wrong_ones() {
        let limits = limits(2, 50, usize::MAX >> 32);
        assert_eq!((wrong(&limits, stranger("811", 1), 0), wrong(&limits, stranger("811", 1), 0)), (0, 0));
        let own = stranger("812", 1);
        for _ in 0..MAX_FAILED {
            let attempt = limits.reserve(own.clone(), at(1)).unwrap();
            limits.refund(&attempt);
        }
        assert_eq!(wrong(&limits, stranger("811", 1), 1_000), 899);
    }

    #[test]
    fn memory_is_bounded() {
        let limits = limits(10, 50, 2);
        let max = u32::try_from(MAX_ADDRESSES).unwrap();
        (0..max).for_each(|address| limits.take(Address::V4(address), at(0)).unwrap());
        limits.take(Address::V4(max), at(1)).unwrap();
        assert_eq!(limits.lock().addresses.addresses.keys(), 1);
    }
}
