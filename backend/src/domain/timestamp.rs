//! Instants and the clock that every rule gets them from.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::BytesMut;
use serde::{Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

/// Milliseconds between the Unix epoch and PostgreSQL's (2000-01-01).
const PG_EPOCH_MS: i64 = 946_684_800_000;

/// An instant in epoch milliseconds; `timestamptz` in PostgreSQL, RFC 3339 UTC in JSON (docs/contract.md §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Epoch milliseconds, as `ends_at`, `server_time` and `masa_aktif` are told.
    pub const fn ms(self) -> i64 {
        self.0
    }

    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `self` until `later`; negative when it is past.
    pub const fn ms_until(self, later: Self) -> i64 {
        later.0.saturating_sub(self.0)
    }

    pub fn rfc3339(self) -> String {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .ok()
            .and_then(|t| t.format(&Rfc3339).ok())
            .unwrap_or_default()
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.rfc3339())
    }
}

type SqlError = Box<dyn std::error::Error + Sync + Send>;

impl ToSql for Timestamp {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, SqlError> {
        let micros = (self.0 - PG_EPOCH_MS).checked_mul(1000).ok_or("instant out of range")?;
        out.extend_from_slice(&micros.to_be_bytes());
        Ok(IsNull::No)
    }
    accepts!(TIMESTAMPTZ);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Timestamp {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, SqlError> {
        let micros = i64::from_be_bytes(raw.try_into()?);
        Ok(Self(micros.div_euclid(1000) + PG_EPOCH_MS))
    }
    accepts!(TIMESTAMPTZ);
}

/// The clock: an instant read once, carried on by the kernel's boot clock. That one never steps with the wall clock, so no
/// countdown jumps, and it goes on while the machine is suspended. Cheap to clone; every clone tells the same time.
#[derive(Debug, Clone)]
pub struct Clock(Arc<ClockInner>);

#[derive(Debug)]
struct ClockInner {
    /// Epoch milliseconds at boot-clock zero, or the time itself when the clock stands.
    base_ms: AtomicI64,
    /// False in tests: time moves only by `set` and `advance_ms`.
    runs: bool,
}

impl Clock {
    /// A running clock that says `now` at this moment.
    pub fn running_from(now: Timestamp) -> Self {
        Self(Arc::new(ClockInner { base_ms: AtomicI64::new(now.ms() - boot_ms()), runs: true }))
    }

    /// A clock that stands still until told otherwise.
    pub fn standing_at(now: Timestamp) -> Self {
        Self(Arc::new(ClockInner { base_ms: AtomicI64::new(now.ms()), runs: false }))
    }

    pub fn now(&self) -> Timestamp {
        Timestamp(self.0.base_ms.load(Ordering::Relaxed) + self.elapsed_ms())
    }

    /// Makes this moment `now` for everybody who holds the clock.
    pub fn set(&self, now: Timestamp) {
        self.0.base_ms.store(now.ms() - self.elapsed_ms(), Ordering::Relaxed);
    }

    pub fn advance_ms(&self, ms: i64) {
        self.0.base_ms.fetch_add(ms, Ordering::Relaxed);
    }

    fn elapsed_ms(&self) -> i64 {
        if self.0.runs { boot_ms() } else { 0 }
    }
}

/// Milliseconds since the machine booted, suspends included (CLOCK_BOOTTIME).
fn boot_ms() -> i64 {
    // Linux has this clock since 2.6.39, so the fallback is never taken.
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_BOOTTIME).map_or(0, |t| t.tv_sec() * 1000 + t.tv_nsec() / 1_000_000)
}

/// The operating system's wall clock.
pub fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Whole seconds, rounded up, so that waiting them is enough.
pub fn seconds_up(ms: i64) -> u32 {
    u32::try_from(ms.saturating_add(999) / 1000).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc3339_is_utc() {
        assert_eq!(Timestamp::from_ms(1_795_000_000_123).rfc3339(), "2026-11-18T11:06:40.123Z");
    }

    #[test]
    fn a_standing_clock_moves_only_when_told() {
        let clock = Clock::standing_at(Timestamp::from_ms(1000));
        let other = clock.clone();
        clock.advance_ms(250);
        assert_eq!(other.now(), Timestamp::from_ms(1250));
        other.set(Timestamp::from_ms(99));
        assert_eq!(clock.now(), Timestamp::from_ms(99));
    }
}
