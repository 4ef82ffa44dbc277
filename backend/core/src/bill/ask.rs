//! When a provider is asked about a bill: notifications may never come.

use crate::domain::timestamp::Timestamp;

/// Pause between two questions about a bill.
pub const EVERY_MS: i64 = 30_000;
/// The same, while the bill is being viewed.
pub const WATCHED_MS: i64 = 3_000;
/// For how long after its expiry a bill is asked about: a payment may be late.
const LATE_MS: i64 = 15 * 60_000;
/// Pause when the provider is silent after that time, and for how long after its expiry such a bill is asked about at most.
const SILENT_MS: i64 = 5 * 60_000;
const GIVE_UP_MS: i64 = 7 * 24 * 3_600_000;

/// Whether a payment is no longer waited for.
pub fn is_over(expires_at: Timestamp, now: Timestamp) -> bool {
    expires_at.ms_until(now) >= LATE_MS
}

/// When to ask next, after a question at `now`. `None`: never again.
pub fn next(expires_at: Timestamp, now: Timestamp, was_answered: bool) -> Option<Timestamp> {
    let end = expires_at.plus_ms(LATE_MS);
    if now < end {
        return Some(now.plus_ms(EVERY_MS).min(end));
    }
    (!was_answered && expires_at.ms_until(now) < GIVE_UP_MS).then(|| now.plus_ms(SILENT_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_is_asked_about_until_a_quarter_of_an_hour_after_its_expiry_and_then_until_there_is_an_answer() {
        const MINUTE: i64 = 60_000;
        let expires_at = Timestamp::from_ms(1_795_000_000_000);
        for (now, was_answered, expected) in [
            (-10 * MINUTE, true, Some(-10 * MINUTE + EVERY_MS)),
            (-10 * MINUTE, false, Some(-10 * MINUTE + EVERY_MS)),
            (14 * MINUTE, true, Some(14 * MINUTE + EVERY_MS)),
            (15 * MINUTE - 1_000, true, Some(15 * MINUTE)),
            (15 * MINUTE, true, None),
            (15 * MINUTE, false, Some(20 * MINUTE)),
            (GIVE_UP_MS - 1, false, Some(GIVE_UP_MS - 1 + SILENT_MS)),
            (GIVE_UP_MS, false, None),
        ] {
            let asked = next(expires_at, expires_at.plus_ms(now), was_answered);
            assert_eq!(asked, expected.map(|ms| expires_at.plus_ms(ms)), "{now} {was_answered}");
        }
    }
}
