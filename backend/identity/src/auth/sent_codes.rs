//! Number of codes that were sent (docs/limits.md). A code counts in the pot of its address, in those of the blocks around it, and in
//! the pot of all strangers or of all known phones. PostgreSQL counts for all servers: each code takes the next number of its pots
//! (`kode_terkirim`). Whether the last `max` codes fill a window is therefore one read of one row. Each server also remembers what it
//! has sent to addresses itself, and refuses a flood from one of them without a query.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deadpool_postgres::GenericClient;
use nyala_core::domain::address::Address;
use nyala_core::domain::timestamp::{Timestamp, seconds_up};
use nyala_core::rate_limit::{SlidingWindow, WindowLimits};
use nyala_store::config::AuthSettings;
use nyala_store::db::Store;
use nyala_store::db::clock::Ahead;
use nyala_store::db::error::DbError;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::code_purpose::{Asker, CodePurpose};
use super::error::AuthError;

pub const HOUR_MS: i64 = 60 * 60 * 1000;
pub const DAY_MS: i64 = 24 * HOUR_MS;
/// Codes that a server remembers, once for each pot of an address: about 8 MiB. Beyond that, only the rows decide.
const MAX_REMEMBERED: usize = 1 << 16;
/// Requests of a server that hold or wait for the lock of the counts; each uses a connection.
const MAX_IN_LOCK: usize = 2;
/// Requests of a server that wait to be among those, without a connection, and their longest wait.
const MAX_WAITING: usize = 128;
const MAX_WAIT: Duration = Duration::from_secs(10);
const RETRY_S: u32 = 1;

const STRANGERS: &str = "strangers";
const KNOWN: &str = "known";
/// Reset codes that strangers requested: few are sent while codes are guessed.
const RESETS: &str = "resets";

/// At most `max` codes in a sliding window.
#[derive(Debug, Clone, Copy)]
struct CodeRate {
    max: i64,
    window_ms: i64,
}

impl CodeRate {
    const fn per_hour(max: i64) -> Self {
        Self { max, window_ms: HOUR_MS }
    }

    const fn per_day(max: i64) -> Self {
        Self { max, window_ms: DAY_MS }
    }
}

/// The limit of the pot `name`.
#[derive(Debug)]
pub struct SentLimit {
    name: String,
    rate: CodeRate,
    /// Codes from before this time do not count.
    since: Timestamp,
}

impl SentLimit {
    fn new(name: impl Into<String>, rate: CodeRate, now: Timestamp) -> Self {
        Self { name: name.into(), rate, since: now.plus_ms(-rate.window_ms) }
    }
}

/// A code in the memory of the server that sent it, by pot.
#[derive(Debug)]
pub struct Remembered(Vec<(String, u64)>);

/// Used part of the limits over all requesters.
pub type UsedRatio = Family<PotLabel, Ahead>;

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct PotLabel {
    pot: &'static str,
}

/// One instance for the whole process.
#[derive(Debug)]
pub struct SentCodes {
    settings: AuthSettings,
    sent: Mutex<SlidingWindow<String, ()>>,
    in_lock: Semaphore,
    waiting: Semaphore,
    used: UsedRatio,
}

impl SentCodes {
    pub fn new(settings: &AuthSettings) -> Self {
        Self {
            settings: settings.clone(),
            sent: Mutex::new(SlidingWindow::new(WindowLimits { window_ms: HOUR_MS, max_events: MAX_REMEMBERED })),
            in_lock: Semaphore::new(MAX_IN_LOCK),
            waiting: Semaphore::new(MAX_WAITING),
            used: UsedRatio::default(),
        }
    }

    /// The limits that a code for `purpose` counts against. `alarm_since`: start of the alarm over guessed reset codes.
    pub fn limits(&self, purpose: CodePurpose, by: Asker, alarm_since: Option<Timestamp>, now: Timestamp) -> Vec<SentLimit> {
        let Asker::Address(address) = by else { return vec![self.known_limit(now)] };
        let mut limits = self.address_limits(address, now);
        limits.extend(self.strangers_limits(now));
        if purpose == CodePurpose::ForgotPassword {
            let hour = SentLimit::new(RESETS, CodeRate::per_hour(self.settings.reset_alarm_codes_per_hour), now);
            // Without an alarm they are counted and not limited: an alarm may start within the hour.
            let since = alarm_since.map_or(now, |since| since.max(hour.since));
            limits.push(SentLimit { since, ..hour });
        }
        limits
    }

    fn address_limits(&self, address: Address, now: Timestamp) -> Vec<SentLimit> {
        let settings = &self.settings;
        let blocks: &[(u32, i64)] = match address {
            Address::V4(_) => &[(32, 1), (24, settings.otp_factor_v4_24)],
            Address::V6(_) => &[(64, 1), (56, settings.otp_factor_v6_56), (48, settings.otp_factor_v6_48)],
        };
        let limit = |(bits, factor): &(u32, i64)| {
            SentLimit::new(address.block(*bits), CodeRate::per_hour(settings.otp_per_ip_hour.saturating_mul(*factor)), now)
        };
        blocks.iter().map(limit).collect()
    }

    fn strangers_limits(&self, now: Timestamp) -> [SentLimit; 2] {
        let per_hour = self.settings.otp_per_hour;
        let per_day = per_hour.saturating_mul(self.settings.otp_factor_day);
        [CodeRate::per_hour(per_hour), CodeRate::per_day(per_day)].map(|rate| SentLimit::new(STRANGERS, rate, now))
    }

    fn known_limit(&self, now: Timestamp) -> SentLimit {
        SentLimit::new(KNOWN, CodeRate::per_hour(self.settings.otp_known_per_hour), now)
    }

    /// Checks the codes that this server itself has sent to `address` and the blocks around it.
    ///
    /// # Errors
    /// `TooMany` with the seconds until the next one may be sent.
    pub fn admit(&self, address: Address, now: Timestamp) -> Result<(), AuthError> {
        let limits = self.address_limits(address, now);
        let mut sent = self.lock();
        let wait_ms = limits.iter().map(|limit| {
            let max = usize::try_from(limit.rate.max).unwrap_or(usize::MAX);
            sent.wait_ms(&limit.name, max, now, |()| true)
        });
        refuse(wait_ms.max().unwrap_or(0))
    }

    /// Remembers a code that was counted.
    pub fn remember(&self, by: Asker, now: Timestamp) -> Remembered {
        let Asker::Address(address) = by else { return Remembered(Vec::new()) };
        let mut sent = self.lock();
        let pots = self.address_limits(address, now).into_iter().map(|limit| {
            let id = sent.add(limit.name.clone(), (), now);
            (limit.name, id)
        });
        Remembered(pots.collect())
    }

    /// Removes a code that was not sent after all.
    pub fn forget(&self, code: &Remembered) {
        let mut sent = self.lock();
        code.0.iter().for_each(|(pot, id)| sent.refund(pot, *id));
    }

    /// A slot among the few requests that hold or wait for the lock of the counts. A request without a slot holds no connection.
    ///
    /// # Errors
    /// `TooMany` when too many requests wait, or the wait is too long.
    pub async fn place_in_lock(&self) -> Result<SemaphorePermit<'_>, AuthError> {
        let busy = || AuthError::TooMany { retry_s: RETRY_S };
        let _waiting = self.waiting.try_acquire().map_err(|_| busy())?;
        tokio::time::timeout(MAX_WAIT, self.in_lock.acquire()).await.map_err(|_| busy())?.map_err(AuthError::broken)
    }

    /// The same, for a code that was not sent: its request was admitted before.
    ///
    /// # Errors
    /// None while the process runs.
    pub async fn place_to_settle(&self) -> Result<SemaphorePermit<'_>, AuthError> {
        self.in_lock.acquire().await.map_err(AuthError::broken)
    }

    /// Used part of the limits over all requesters, for the metrics.
    pub fn used(&self) -> &UsedRatio {
        &self.used
    }

    /// Reads the used part of the limits over all requesters.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn measure(&self, store: &Store) -> Result<(), DbError> {
        let now = store.now();
        let [hour, day] = self.strangers_limits(now);
        let client = store.get().await?;
        let stmt = client
            .prepare_cached(
                "SELECT (SELECT max(no) FROM kode_terkirim WHERE pot = $1)
                     - (SELECT no FROM kode_terkirim WHERE pot = $1 AND created_at > $2 ORDER BY created_at, no LIMIT 1) + 1",
            )
            .await?;
        for (pot, limit) in [("strangers_hour", hour), ("strangers_day", day), ("known_hour", self.known_limit(now))] {
            let sent: Option<i64> = client.query_one(&stmt, &[&limit.name, &limit.since]).await?.try_get(0)?;
            self.used.get_or_create(&PotLabel { pot }).set(sent.unwrap_or(0) as f64 / limit.rate.max as f64);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, SlidingWindow<String, ()>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `Err` with the seconds when the requester has to wait.
///
/// # Errors
/// `TooMany`.
pub fn refuse(wait_ms: i64) -> Result<(), AuthError> {
    if wait_ms > 0 { Err(AuthError::TooMany { retry_s: seconds_up(wait_ms) }) } else { Ok(()) }
}

/// Milliseconds until none of `limits` is full.
///
/// # Errors
/// When the database does not answer.
pub async fn wait_ms(client: &impl GenericClient, limits: &[SentLimit], now: Timestamp) -> Result<i64, AuthError> {
    // For each full limit: when the code was sent that must leave its window first.
    let stmt = client
        .prepare_cached(
            "SELECT l.i, k.created_at FROM unnest($1::TEXT[], $2::BIGINT[], $3::TIMESTAMPTZ[]) WITH ORDINALITY AS l (pot, max, since, i)
             JOIN kode_terkirim k ON k.pot = l.pot AND k.created_at > l.since
              AND k.no = (SELECT max(no) FROM kode_terkirim m WHERE m.pot = l.pot) - l.max + 1",
        )
        .await?;
    let names: Vec<&str> = limits.iter().map(|limit| limit.name.as_str()).collect();
    let max: Vec<i64> = limits.iter().map(|limit| limit.rate.max).collect();
    let since: Vec<Timestamp> = limits.iter().map(|limit| limit.since).collect();
    let mut longest = 0;
    for row in client.query(&stmt, &[&names, &max, &since]).await? {
        let at = row.try_get::<_, i64>(0)?;
        let full = usize::try_from(at - 1).ok().and_then(|i| limits.get(i));
        let window_ms = full.map_or(0, |limit| limit.rate.window_ms);
        // At most the window, even if the clock was ahead when that code was sent.
        longest = longest.max(now.ms_until(row.try_get::<_, Timestamp>(1)?.plus_ms(window_ms)).min(window_ms));
    }
    Ok(longest)
}

/// Counts one more code in the pots of `limits`. Requires the lock of the counts.
///
/// # Errors
/// When the database does not answer.
pub async fn count(client: &impl GenericClient, limits: &[SentLimit], now: Timestamp) -> Result<(), AuthError> {
    let stmt = client
        .prepare_cached(
            "INSERT INTO kode_terkirim (pot, no, created_at)
             SELECT p, COALESCE((SELECT max(no) FROM kode_terkirim k WHERE k.pot = p), 0) + 1, $2 FROM unnest($1::TEXT[]) p",
        )
        .await?;
    client.execute(&stmt, &[&pots(limits), &now]).await?;
    Ok(())
}

/// Counts one code less in the pots of `limits`. It deletes their newest number, so the numbers stay without gaps. Requires the lock.
///
/// # Errors
/// When the database does not answer.
pub async fn uncount(client: &impl GenericClient, limits: &[SentLimit]) -> Result<(), AuthError> {
    let stmt = client
        .prepare_cached(
            "DELETE FROM kode_terkirim k USING unnest($1::TEXT[]) p
             WHERE k.pot = p AND k.no = (SELECT max(no) FROM kode_terkirim m WHERE m.pot = p)",
        )
        .await?;
    client.execute(&stmt, &[&pots(limits)]).await?;
    Ok(())
}

/// Each pot once: the pot of all strangers has two limits.
fn pots(limits: &[SentLimit]) -> Vec<&str> {
    let mut pots: Vec<&str> = limits.iter().map(|limit| limit.name.as_str()).collect();
    pots.sort_unstable();
    pots.dedup();
    pots
}
