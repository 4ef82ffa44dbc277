//! Time at which a device sent a message, on the server's clock, estimated from its uptime and the shortest delay.

use nyala_core::domain::timestamp::Timestamp;

use super::order::wrapped;

/// How long the shortest delay is used, and up to twice as long: as long as a device keeps the clock that it received. It must expire,
/// because a crystal drifts by 30 s a week.
const KEPT_MS: i64 = 60 * 60_000;

/// Filter for message delays. The time of arrival minus the uptime in the message is the moment of the boot plus the delay, never less.
/// So the least of these values is the best estimate of the boot.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// Least boot moments of this period and of the one before.
    least: Option<i64>,
    before: Option<i64>,
    began: Timestamp,
    up_ms: i64,
}

impl Way {
    /// Records a message that arrived.
    pub(super) fn heard(&mut self, up_ms: i64, now: Timestamp) {
        if self.has_wrapped(up_ms) {
            *self = Self::default();
        }
        self.up_ms = up_ms;
        let lasted = self.began.ms_until(now);
        if lasted >= KEPT_MS {
            self.before = self.least.take().filter(|_| lasted < 2 * KEPT_MS);
            self.began = now;
        }
        let boot_ms = now.ms() - up_ms;
        self.least = Some(self.least.map_or(boot_ms, |least| least.min(boot_ms)));
    }

    /// Whether the uptime counter wrapped around since the previous message: earlier uptimes belong to another count.
    pub(super) fn has_wrapped(&self, up_ms: i64) -> bool {
        wrapped(self.up_ms, up_ms)
    }

    /// Whether a message arrived before `at`, so that the delay of later ones can be measured.
    pub(super) fn is_known_since(&self, at: Timestamp) -> bool {
        self.began < at
    }

    /// Whether the device reports its uptime.
    pub(super) fn is_known(&self) -> bool {
        self.boot_ms().is_some()
    }

    /// When the device had this uptime. The true time is earlier by at most the shortest delay.
    pub(super) fn said_at(&self, up_ms: i64) -> Option<Timestamp> {
        self.boot_ms().map(|boot_ms| Timestamp::from_ms(boot_ms).plus_ms(up_ms))
    }

    fn boot_ms(&self) -> Option<i64> {
        [self.least, self.before].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: i64 = 1_800_000_000_000;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(T0 + ms)
    }

    #[test]
    fn a_late_message_moves_nothing_and_a_faster_one_does() {
        let mut way = Way::default();
        assert_eq!(way.said_at(0), None);
        way.heard(1_000, at(1_900));
        assert_eq!(way.said_at(1_000), Some(at(1_900)));
        way.heard(2_000, at(7_000));
        assert_eq!(way.said_at(2_000), Some(at(2_900)));
        way.heard(9_000, at(9_050));
        assert_eq!(way.said_at(9_000), Some(at(9_050)));
    }

    #[test]
    fn a_crystal_that_is_slow_is_followed() {
        let mut way = Way::default();
        let week = 7 * 86_400_000;
        for up_ms in (0..week).step_by(30_000) {
            // A drift of 50 in a million: 30 s a week.
            let true_ms = up_ms + up_ms / 20_000;
            way.heard(up_ms, at(true_ms + 50));
            let off_ms = way.said_at(up_ms).unwrap().ms() - T0 - true_ms;
            assert!((-400..=50).contains(&off_ms), "{off_ms} after {up_ms}");
        }
    }

    #[test]
    fn an_uptime_that_wraps_around_starts_a_new_count() {
        let mut way = Way::default();
        way.heard(4_294_967_000, at(0));
        way.heard(704, at(1_000));
        assert_eq!(way.said_at(704), Some(at(1_000)));
    }
}
