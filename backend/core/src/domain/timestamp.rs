//! Instants.

use serde::{Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// An instant in epoch milliseconds; `timestamptz` in PostgreSQL, RFC 3339 UTC in JSON (docs/contract.md §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Epoch milliseconds, the form of `ends_at`, `server_time` and `masa_aktif` in messages.
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

    /// `None` unless `text` is an instant of RFC 3339 with its zone. Parts of a millisecond are cut off.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let parsed = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        i64::try_from(parsed.unix_timestamp_nanos().div_euclid(1_000_000)).ok().map(Self)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.rfc3339())
    }
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
}
