//! The order of a device's words, and of its boots.

use crate::domain::timestamp::Timestamp;
use crate::machine::device::mqtt::word::{BootId, Stamp};

/// Boots that are known as past ones: a word of them is an old one.
const PAST: usize = 2;
/// So many take-overs between the same two boots, in so many milliseconds, are two devices with one key.
const CLONE_TAKEOVERS: usize = 3;
const CLONE_MS: i64 = 60_000;
/// No word is so long on its way that it comes when nobody else has spoken for this long: who speaks then is there.
const QUIET_MS: i64 = 90_000;

/// Boots have no order of their own: one that was never seen is the newest, and what it took the place of is past.
#[derive(Debug, Default)]
pub(super) struct Order {
    current: Option<Seen>,
    past: [Option<Seen>; PAST],
    /// When the present two boots took each other's place.
    takeovers: Vec<Timestamp>,
}

/// A boot, and the newest of its words.
#[derive(Debug)]
struct Seen {
    boot: BootId,
    conn: Option<u64>,
    seq: Option<u64>,
    up_ms: Option<i64>,
    heard_at: Timestamp,
}

/// Where a word stands among those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// There are newer ones.
    Stale,
    Newest,
    /// The first that is heard of its connection.
    Connection,
    /// The first that is heard of its boot, or of one that is back; `clone`: two boots have done that too often.
    Boot {
        clone: bool,
    },
}

impl Order {
    /// Takes a word's place in the order. `counted`: what carries the words may change their order, so `conn` and `seq` count.
    pub(super) fn take(&mut self, stamp: &Stamp, counted: bool, now: Timestamp) -> Place {
        let Some(boot) = &stamp.boot_id else { return Place::Newest };
        let seen = || Seen { boot: boot.clone(), conn: stamp.conn, seq: stamp.seq, up_ms: stamp.up_ms, heard_at: now };
        let Some(current) = &mut self.current else {
            self.current = Some(seen());
            return Place::Boot { clone: false };
        };
        if current.boot == *boot {
            if current.is_after(stamp, counted) {
                return Place::Stale;
            }
            let place = if current.conn == stamp.conn { Place::Newest } else { Place::Connection };
            let up_ms = stamp.up_ms.or(current.up_ms);
            *current = Seen { up_ms, ..seen() };
            return place;
        }
        let back = self.past.iter().position(|past| past.as_ref().is_some_and(|past| past.boot == *boot));
        if let Some(at) = back {
            // Only a connection that was not known is more than a late word of a boot that is over. Unless that was a mistake.
            let quiet = current.heard_at.ms_until(now) >= QUIET_MS;
            let late = |past: &Seen| stamp.conn <= past.conn && (!quiet || past.is_after(stamp, counted));
            if counted && self.past[at].as_ref().is_some_and(late) {
                return Place::Stale;
            }
            self.past[at] = None;
        }
        // A new process does not know which boots are past. One that was there already when the present one spoke is.
        let past = counted && back.is_none() && current.is_younger(stamp, now);
        let before = if past { Some(seen()) } else { self.current.replace(seen()) };
        // It makes room where the one was that is back, else where the oldest is.
        self.past[..=back.unwrap_or(PAST - 1)].rotate_right(1);
        self.past[0] = before;
        if past {
            return Place::Stale;
        }
        Place::Boot { clone: self.taken_over(back == Some(0), now) }
    }

    /// Whether a will with this stamp is of the last word's connection.
    pub(super) fn is_last(&self, stamp: &Stamp) -> bool {
        match &self.current {
            Some(current) => stamp.boot_id.as_ref() == Some(&current.boot) && stamp.conn == current.conn,
            None => stamp.boot_id.is_none(),
        }
    }

    /// Whether the word is of the boot that counts.
    pub(super) fn is_current(&self, stamp: &Stamp) -> bool {
        stamp.boot_id.as_ref() == self.current.as_ref().map(|current| &current.boot)
    }

    /// A boot has taken another one's place; `back`: it had it just before.
    fn taken_over(&mut self, back: bool, now: Timestamp) -> bool {
        if !back {
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
    /// Whether this boot said something later than that. Its uptime tells on every way: a client library says an old word again when
    /// its connection is back.
    fn is_after(&self, stamp: &Stamp, counted: bool) -> bool {
        let (place, newest) = ((stamp.conn, stamp.seq), (self.conn, self.seq));
        if counted && stamp.seq.is_some() && place <= newest {
            return true;
        }
        match stamp.up_ms.zip(self.up_ms) {
            // Said in the same millisecond, by a device that has a connection for each word.
            Some((up_ms, newest_ms)) if up_ms == newest_ms => stamp.seq.is_some() && place < newest,
            Some((up_ms, newest_ms)) => up_ms < newest_ms && !wrapped(newest_ms, up_ms),
            None => false,
        }
    }

    /// Whether this boot has spoken since another one of that stamp began, as far as their words' ways leave no doubt. One that is silent
    /// is over.
    fn is_younger(&self, stamp: &Stamp, now: Timestamp) -> bool {
        let silent_ms = self.heard_at.ms_until(now);
        silent_ms < QUIET_MS && stamp.up_ms.is_some_and(|up_ms| up_ms - silent_ms > QUIET_MS)
    }
}

/// Whether an uptime went round: some boards count it with 32 bits.
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
    fn through_a_broker_words_come_in_any_order() {
        let mut order = Order::default();
        let boot = Place::Boot { clone: false };
        for ((of, conn, seq), place) in [
            ((7, 1, 1), boot),
            ((7, 1, 3), Place::Newest),
            ((7, 1, 2), Place::Stale),
            ((7, 1, 3), Place::Stale),
            ((7, 2, 1), Place::Connection),
            ((7, 1, 9), Place::Stale),
            // Boots are no numbers: an unseen one is new.
            ((3, 1, 1), boot),
            ((7, 2, 2), Place::Stale),
            ((9, 1, 1), boot),
            ((3, 1, 2), Place::Stale),
            ((7, 2, 3), Place::Stale),
            ((9, 1, 2), Place::Newest),
            // It connected once more, so it lives.
            ((3, 2, 1), boot),
        ] {
            assert_eq!(order.take(&stamp(of, conn, seq), true, T0), place, "{of} {conn} {seq}");
        }
    }

    #[test]
    fn an_unseen_boot_that_was_there_before_the_last_word_is_past() {
        let mut order = Order::default();
        let boot = Place::Boot { clone: false };
        for ((of, conn, up_ms), s, place) in [
            ((7, 1, 800), 0, boot),
            // Said before the power was cut, and long on its way.
            ((3, 1, 1_419_750), 3, Place::Stale),
            ((3, 1, 1_419_000), 4, Place::Stale),
            ((7, 1, 5_800), 5, Place::Newest),
            // So it lives: they are two.
            ((3, 2, 1_430_000), 10, boot),
            // It may have booted since then, and that word have been on its way.
            ((9, 1, 110_000), 30, boot),
            ((5, 1, 90_001), 30, Place::Stale),
            // Nobody else speaks.
            ((4, 1, 9_000_000), 120, boot),
        ] {
            let said = Stamp { up_ms: Some(up_ms), ..stamp(of, conn, up_ms.cast_unsigned()) };
            assert_eq!(order.take(&said, true, T0.plus_ms(s * 1_000)), place, "{of} {conn} after {s} s");
        }
    }

    #[test]
    fn a_boot_that_was_taken_for_past_is_back_when_nobody_else_speaks() {
        let mut order = Order::default();
        let boot = Place::Boot { clone: false };
        for ((of, conn, seq), s, place) in [
            ((7, 1, 1), 0, boot),
            ((9, 1, 1), 10, boot),
            // Late words of a connection that nobody had heard of.
            ((7, 2, 1), 20, boot),
            ((9, 1, 2), 40, Place::Stale),
            ((9, 1, 3), 109, Place::Stale),
            ((9, 1, 1), 110, Place::Stale),
            ((9, 1, 4), 110, boot),
            ((9, 1, 5), 140, Place::Newest),
        ] {
            assert_eq!(order.take(&stamp(of, conn, seq), true, T0.plus_ms(s * 1_000)), place, "{of} {conn} {seq} after {s} s");
        }
    }

    #[test]
    fn on_a_line_of_its_own_only_its_uptime_tells_an_old_word() {
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
            assert_eq!(order.take(&up(up_ms), false, T0), place, "{up_ms:?}");
        }
        assert_eq!(order.take(&Stamp::default(), false, T0), Place::Newest, "it says nothing of itself");
        let seq = |seq| Stamp { up_ms: Some(200), ..stamp(7, 1, seq) };
        for (of, place) in [(4, Place::Newest), (3, Place::Stale), (4, Place::Newest), (5, Place::Newest)] {
            assert_eq!(order.take(&seq(of), false, T0), place, "{of} in one millisecond");
        }
    }

    #[test]
    fn two_boots_that_take_each_others_place_three_times_a_minute_are_two_devices() {
        for (history, clone) in [
            (&[(1, 0), (2, 10), (1, 20), (2, 30)][..], true),
            (&[(1, 0), (2, 10), (1, 20), (2, 71)], false),
            // One that boots again and again is one.
            (&[(1, 0), (2, 10), (3, 20), (4, 30), (5, 40)], false),
            (&[(1, 0), (2, 10), (3, 20), (2, 30), (3, 40)], true),
            (&[(1, 0), (2, 10), (1, 20), (1, 30)], false),
        ] {
            let mut order = Order::default();
            let found = history.iter().any(|&(boot, s)| {
                order.take(&stamp(boot, s, 1), false, T0.plus_ms(s.cast_signed() * 1000)) == Place::Boot { clone: true }
            });
            assert_eq!(found, clone, "{history:?}");
        }
    }

    #[test]
    fn a_will_is_of_the_last_words_connection_or_nothing() {
        let mut order = Order::default();
        assert!(order.is_last(&Stamp::default()), "a device that never says which boot it is");
        order.take(&stamp(7, 2, 5), true, T0);
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
