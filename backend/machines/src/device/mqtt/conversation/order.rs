//! The order of a device's messages, and of its boots.

use nyala_core::domain::timestamp::Timestamp;

use crate::device::mqtt::word::{BootId, Stamp};

/// Two boots that replace each other this often within `CLONE_MS` are two devices with one key.
const CLONE_TAKEOVERS: usize = 3;
const CLONE_MS: i64 = 60_000;

/// Order of messages and boots. Boots themselves have no order, so a boot counts from its first message until a message of another boot
/// arrives.
#[derive(Debug, Default)]
pub(super) struct Order {
    current: Option<Seen>,
    /// The boot that the current one replaced.
    previous: Option<BootId>,
    /// When the current and the previous boot replaced each other.
    takeovers: Vec<Timestamp>,
}

/// A boot, with the stamp of its newest message.
#[derive(Debug)]
struct Seen {
    boot: BootId,
    conn: Option<u64>,
    seq: Option<u64>,
    up_ms: Option<i64>,
}

/// Position of a message among those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A newer message has already arrived.
    Stale,
    Newest,
    /// The first message of a boot that did not count before. `clone`: two boots have replaced each other too often.
    Boot {
        clone: bool,
    },
}

impl Order {
    /// Records a message and returns its position in the order.
    pub(super) fn take(&mut self, stamp: &Stamp, now: Timestamp) -> Place {
        let Some(boot) = &stamp.boot_id else { return Place::Newest };
        let seen = Seen { boot: boot.clone(), conn: stamp.conn, seq: stamp.seq, up_ms: stamp.up_ms };
        match &mut self.current {
            Some(current) if current.boot == *boot => {
                if current.is_after(stamp) {
                    return Place::Stale;
                }
                *current = Seen { up_ms: stamp.up_ms.or(current.up_ms), ..seen };
                Place::Newest
            }
            current => {
                let Some(before) = current.replace(seen) else { return Place::Boot { clone: false } };
                let is_back = self.previous.replace(before.boot).as_ref() == Some(boot);
                Place::Boot { clone: self.taken_over(is_back, now) }
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

impl Seen {
    /// Whether this boot has sent a newer message. Client libraries send old messages again after a reconnect; the uptime identifies
    /// those.
    fn is_after(&self, stamp: &Stamp) -> bool {
        match stamp.up_ms.zip(self.up_ms) {
            // Sent in the same millisecond, by a device that opens a connection for each message.
            Some((up_ms, newest_ms)) if up_ms == newest_ms => {
                stamp.seq.is_some() && (stamp.conn, stamp.seq) < (self.conn, self.seq)
            }
            Some((up_ms, newest_ms)) => up_ms < newest_ms && !wrapped(newest_ms, up_ms),
            None => false,
        }
    }
}

/// Whether an uptime counter wrapped around: some boards count with 32 bits.
pub(super) fn wrapped(before_ms: i64, up_ms: i64) -> bool {
    before_ms - up_ms > i64::from(u32::MAX / 2)
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
        let mut order = Order::default();
        let up = |up_ms| Stamp { up_ms, ..stamp(7, 1, 1) };
        for (up_ms, place) in [
            (Some(5_000), Place::Boot { clone: false }),
            (Some(5_000), Place::Newest),
            (Some(4_999), Place::Stale),
            (None, Place::Newest),
            (Some(4_999), Place::Stale),
            (Some(4_294_967_000), Place::Newest),
            (Some(100), Place::Newest),
        ] {
            assert_eq!(order.take(&up(up_ms), T0), place, "{up_ms:?}");
        }
        assert_eq!(order.take(&Stamp::default(), T0), Place::Newest, "it says nothing of itself");
        let seq = |seq| Stamp { up_ms: Some(200), ..stamp(7, 1, seq) };
        for (of, place) in [(4, Place::Newest), (3, Place::Stale), (4, Place::Newest), (5, Place::Newest)] {
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
            let mut order = Order::default();
            let found = history.iter().any(|&(boot, s)| {
                order.take(&stamp(boot, s, 1), T0.plus_ms(s.cast_signed() * 1000)) == Place::Boot { clone: true }
            });
            assert_eq!(found, clone, "{history:?}");
        }
    }

    #[test]
    fn a_will_counts_only_with_the_stamp_of_the_last_message() {
        let mut order = Order::default();
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
}
