//! When an account has expired. It is good up to and including the instant itself. A statement that has to decide this says it with
//! `nyala_ledger::expiry`.

use super::timestamp::Timestamp;

pub fn has_expired(expires_at: Timestamp, now: Timestamp) -> bool {
    expires_at < now
}
