//! Waiting time after wrong PINs (docs/till.md).

use nyala_core::domain::timestamp::Timestamp;

pub(super) const WINDOW_MS: i64 = 15 * 60 * 1000;
pub(super) const PER_WINDOW: i64 = 5;

/// Older wrong PINs cause no wait now.
pub(super) fn counts_since(now: Timestamp) -> Timestamp {
    now.plus_ms(-2 * WINDOW_MS)
}

/// Milliseconds until the next attempt, 0 for now. `wrong`: times of wrong PINs, newest first. Five in a quarter of an hour cause a wait
/// of a quarter of an hour from the last one.
pub(super) fn wait_after(wrong: &[Timestamp], now: Timestamp) -> i64 {
    let five = usize::try_from(PER_WINDOW).unwrap_or(usize::MAX);
    match (wrong.first(), wrong.get(five - 1)) {
        (Some(newest), Some(fifth)) if fifth.ms_until(*newest) < WINDOW_MS => {
            now.ms_until(newest.plus_ms(WINDOW_MS)).clamp(0, WINDOW_MS)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: &[i64]) -> Vec<Timestamp> {
        minutes.iter().map(|m| Timestamp::from_ms(m * 60_000)).collect()
    }

    #[test]
    fn five_in_a_quarter_of_an_hour_wait_as_long_from_the_last() {
        let now = |minute: i64| Timestamp::from_ms(minute * 60_000);
        assert_eq!(wait_after(&at(&[24, 23, 22, 21]), now(24)), 0);
        assert_eq!(wait_after(&at(&[24, 23, 22, 21, 10]), now(24)), WINDOW_MS);
        assert_eq!(wait_after(&at(&[24, 23, 22, 21, 10]), now(30)), 9 * 60_000);
        assert_eq!(wait_after(&at(&[24, 23, 22, 21, 10]), now(39)), 0);
        assert_eq!(wait_after(&at(&[24, 23, 22, 21, 9]), now(24)), 0, "not within a quarter of an hour");
    }
}
