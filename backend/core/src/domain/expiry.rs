//! Expiry of an account. The account is valid up to and including the instant itself. SQL statements use `nyala_ledger::expiry` for the same
//! rule.

use super::timestamp::Timestamp;

pub fn has_expired(expires_at: Timestamp, now: Timestamp) -> bool {
    expires_at < now
}
