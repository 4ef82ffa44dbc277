//! Evaluation of message stamps: the order of a device's messages and boots, and the time at which a message was sent.

use nyala_core::domain::timestamp::Timestamp;

use crate::device::mqtt::message::{BootId, Stamp};

/// Two boots that replace each other this often within `CLONE_MS` are two devices with one key.
const CLONE_TAKEOVERS: usize = 3;
const CLONE_MS: i64 = 60_000;

/// A measured delay is used for one to two periods of this length, in milliseconds. It must expire, because a crystal drifts by 30 s a week.
const KEPT_MS: i64 = 60 * 60_000;

/// Order of messages and boots. Boots themselves have no order, so a boot counts from its first message until a message of another boot
/// arrives.
#[derive(Debug, Default)]
pub(super) struct MessageOrder {
    current: Option<BootProgress>,
    /// The boot that the current one replaced.
    previous: Option<BootId>,
    /// When the current and the previous boot replaced each other.
    takeovers: Vec<Timestamp>,
}

/// A boot, with the stamp of its newest message.
#[derive(Debug)]
struct BootProgress {
    boot: BootId,
    conn: Option<u64>,
    seq: Option<u64>,
    up_ms: Option<i64>,
}

/// Position of a message among those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessagePosition {
    /// A newer message has already arrived.
    Stale,
    Newest,
    /// The first message of a boot that did not count before. `clone`: two boots have replaced each other too often.
    Boot {
        clone: bool,
    },
}

impl MessageOrder {
    /// Records a message and returns its position in the order.
    pub(super) fn take(&mut self, stamp: &Stamp, now: Timestamp) -> MessagePosition {
        let Some(boot) = &stamp.boot_id else { return MessagePosition::Newest };
        let seen = BootProgress { boot: boot.clone(), conn: stamp.conn, seq: stamp.seq, up_ms: stamp.up_ms };
        match &mut self.current {
            Some(current) if current.boot == *boot => {
                if current.is_after(stamp) {
                    return MessagePosition::Stale;
                }
                *current = BootProgress { up_ms: stamp.up_ms.or(current.up_ms), ..seen };
                MessagePosition::Newest
            }
            current => {
                let Some(before) = current.replace(seen) else { return MessagePosition::Boot { clone: false } };
                let is_back = self.previous.replace(before.boot).as_ref() == Some(boot);
                MessagePosition::Boot { clone: self.taken_over(is_back, now) }
            }
        }
    }

    /// Whether a will with this stamp belongs to the connection of the last message.
    pub(super) fn is_last(&self, stamp: &Stamp) -> bool {
        match &self.current {
            Some(current) => stamp.boot_id.as_ref() == Some(&current.boot) && stamp.conn == current.conn,
            None => stamp.boot_id.is_none(),
        }
    }

    /// Whether the message belongs to the current boot.
    pub(super) fn is_current(&self, stamp: &Stamp) -> bool {
        stamp.boot_id.as_ref() == self.current.as_ref().map(|current| &current.boot)
    }

    /// Records that another boot has become the current one. `is_back`: it is the previous one. Returns whether the two are clones.
    fn taken_over(&mut self, is_back: bool, now: Timestamp) -> bool {
        if !is_back {
            self.takeovers.clear();
        }
        self.takeovers.retain(|at| at.ms_until(now) <= CLONE_MS);
        self.takeovers.push(now);
        let clone = self.takeovers.len() >= CLONE_TAKEOVERS;
        if clone {
            self.takeovers.clear();
        }
        clone
    }
}

impl BootProgress {
    /// Whether this boot has sent a newer message. Client libraries send old messages again after a reconnect; the uptime identifies
    /// those.
    fn is_after(&self, stamp: &Stamp) -> bool {
        match stamp.up_ms.zip(self.up_ms) {
            // Sent in the same millisecond, by a device that opens a connection for each message.
            Some((up_ms, newest_ms)) if up_ms == newest_ms => {
                stamp.seq.is_some() && (stamp.conn, stamp.seq) < (self.conn, self.seq)
            }
            Some((up_ms, newest_ms)) => up_ms < newest_ms && !has_wrapped(newest_ms - up_ms),
            None => false,
        }
    }
}

/// Whether an uptime that went back by `back_ms` wrapped around: some boards count with 32 bits.
fn has_wrapped(back_ms: i64) -> bool {
    back_ms > i64::from(u32::MAX / 2)
}

/// Filter for message delays. The time of arrival minus the uptime in the message is the moment of the boot plus the delay, never less.
/// So the smallest of these values is the best estimate of the boot.
#[derive(Debug, Default)]
pub(super) struct DelayFilter {
    /// Earliest boot moment, by the messages of this period and of the previous one.
    least: Option<i64>,
    before: Option<i64>,
    began: Timestamp,
    up_ms: i64,
}

impl DelayFilter {
    /// Records a message that arrived.
    pub(super) fn record(&mut self, up_ms: i64, now: Timestamp) {
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
        has_wrapped(self.up_ms - up_ms)
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
    pub(super) fn sent_at(&self, up_ms: i64) -> Option<Timestamp> {
        self.boot_ms().map(|boot_ms| Timestamp::from_ms(boot_ms).plus_ms(up_ms))
    }

    fn boot_ms(&self) -> Option<i64> {
        [self.least, self.before].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Timestamp = Timestamp::from_ms(1_000_000);

    fn stamp(boot: i64, conn: u64, seq: u64) -> Stamp {
        Stamp { boot_id: Some(BootId::Number(boot)), conn: Some(conn), seq: Some(seq), up_ms: None }
    }

    #[test]
    fn the_uptime_identifies_an_old_message() {
        let mut order = MessageOrder::default();
        let up = |up_ms| Stamp { up_ms, ..stamp(7, 1, 1) };
        for (up_ms, place) in [
            (Some(5_000), MessagePosition::Boot { clone: false }),
            (Some(5_000), MessagePosition::Newest),
            (Some(4_999), MessagePosition::Stale),
            (None, MessagePosition::Newest),
            (Some(4_999), MessagePosition::Stale),
            (Some(4_294_967_000), MessagePosition::Newest),
            (Some(100), MessagePosition::Newest),
        ] {
            assert_eq!(order.take(&up(up_ms), T0), place, "{up_ms:?}");
        }
        assert_eq!(order.take(&Stamp::default(), T0), MessagePosition::Newest, "it says nothing of itself");
        let seq = |seq| Stamp { up_ms: Some(200), ..stamp(7, 1, seq) };
        for (of, place) in [
            (4, MessagePosition::Newest),
            (3, MessagePosition::Stale),
            (4, MessagePosition::Newest),
            (5, MessagePosition::Newest),
        ] {
            assert_eq!(order.take(&seq(of), T0), place, "{of} in one millisecond");
        }
    }

    #[test]
    fn two_boots_that_replace_each_other_three_times_a_minute_are_two_devices() {
        for (history, clone) in [
            (&[(1, 0), (2, 10), (1, 20), (2, 30)][..], true),
            (&[(1, 0), (2, 10), (1, 20), (2, 71)], false),
            // A device that boots repeatedly is one device.
            (&[(1, 0), (2, 10), (3, 20), (4, 30), (5, 40)], false),
            (&[(1, 0), (2, 10), (3, 20), (2, 30), (3, 40)], true),
            (&[(1, 0), (2, 10), (1, 20), (1, 30)], false),
        ] {
            let mut order = MessageOrder::default();
            let found = history.iter().any(|&(boot, s)| {
                order.take(&stamp(boot, s, 1), T0.plus_ms(s.cast_signed() * 1000)) == MessagePosition::Boot { clone: true }
            });
            assert_eq!(found, clone, "{history:?}");
        }
    }

    #[test]
    fn a_will_counts_only_with_the_stamp_of_the_last_message() {
        let mut order = MessageOrder::default();
        assert!(order.is_last(&Stamp::default()), "a device that never says which boot it is");
        order.take(&stamp(7, 2, 5), T0);
        for (will, counts) in [
            (Stamp { seq: None, ..stamp(7, 2, 0) }, true),
            (stamp(7, 1, 0), false),
            (stamp(6, 2, 0), false),
            (Stamp::default(), false),
        ] {
            assert_eq!(order.is_last(&will), counts, "{will:?}");
        }
    }

    fn at(ms: i64) -> Timestamp {
        T0.plus_ms(ms)
    }

    #[test]
    fn a_late_message_moves_nothing_and_a_faster_one_does() {
        let mut delay = DelayFilter::default();
        assert_eq!(delay.sent_at(0), None);
        delay.record(1_000, at(1_900));
        assert_eq!(delay.sent_at(1_000), Some(at(1_900)));
        delay.record(2_000, at(7_000));
        assert_eq!(delay.sent_at(2_000), Some(at(2_900)));
        delay.record(9_000, at(9_050));
        assert_eq!(delay.sent_at(9_000), Some(at(9_050)));
    }

    #[test]
    fn a_crystal_that_is_slow_is_followed() {
        let mut delay = DelayFilter::default();
        let week = 7 * 86_400_000;
        for up_ms in (0..week).step_by(30_000) {
            // A drift of 50 in a million: 30 s a week.
            let true_ms = up_ms + up_ms / 20_000;
            delay.record(up_ms, at(true_ms + 50));
            let off_ms = delay.sent_at(up_ms).unwrap().ms() - T0.ms() - true_ms;
            assert!((-400..=50).contains(&off_ms), "{off_ms} after {up_ms}");
        }
    }

    #[test]
    fn an_uptime_that_wraps_around_starts_a_new_count() {
        let mut delay = DelayFilter::default();
        delay.record(4_294_967_000, at(0));
        delay.record(704, at(1_000));
        assert_eq!(delay.sent_at(704), Some(at(1_000)));
    }
}
