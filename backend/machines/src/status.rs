//! Status of a machine: a snapshot that its actor writes, and the number of watchers on each thread. `Machines`, the actor and the
//! sessions share it, so that a session joins without a message to the actor.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering::SeqCst};

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::step::Cycle;

const NOT_RUNNING: i64 = 0;
const NEVER: i64 = 0;

#[derive(Debug)]
pub struct MachineStatus {
    /// Epoch milliseconds, or `NOT_RUNNING`.
    ends_at: AtomicI64,
    /// Duration of that cycle, in milliseconds.
    lasts_ms: AtomicI64,
    /// Watchers on each thread, and on all threads together.
    watchers: Box<[AtomicU32]>,
    all: AtomicU32,
    /// Whether a notification of the first watcher is on its way to the actor.
    notified: AtomicBool,
    /// When the device last sent a message: epoch milliseconds, or `NEVER`.
    last_device_message_at: AtomicI64,
}

impl MachineStatus {
    /// MachineStatus for a server of `threads` worker threads.
    pub fn new(threads: usize) -> Self {
        Self {
            ends_at: AtomicI64::new(NOT_RUNNING),
            lasts_ms: AtomicI64::new(0),
            watchers: (0..threads).map(|_| AtomicU32::new(0)).collect(),
            all: AtomicU32::new(0),
            notified: AtomicBool::new(false),
            last_device_message_at: AtomicI64::new(NEVER),
        }
    }

    /// End of the cycle, [`Cycle::shown_end`]; `None` while nothing runs.
    pub fn shown_end(&self, now: Timestamp) -> Option<Timestamp> {
        let ends_at = self.ends_at.load(SeqCst);
        let cycle = || Cycle::until(Timestamp::from_ms(ends_at), self.lasts_ms.load(SeqCst));
        (ends_at != NOT_RUNNING).then(|| cycle().shown_end(now))
    }

    /// Sets the cycle before the change is broadcast: a session that joins in between reads it here or receives the broadcast.
    pub fn set_cycle(&self, cycle: Option<Cycle>) {
        self.lasts_ms.store(cycle.map_or(0, Cycle::lasts_ms), SeqCst);
        self.ends_at.store(cycle.map_or(NOT_RUNNING, |cycle| cycle.ends_at.ms()), SeqCst);
    }

    /// When the machine's device last sent a message; `None` before its first message since the actor was made.
    pub fn last_device_message_at(&self) -> Option<Timestamp> {
        let ms = self.last_device_message_at.load(SeqCst);
        (ms != NEVER).then(|| Timestamp::from_ms(ms))
    }

    /// Records a message that the device sent at `at`; messages may arrive out of order.
    pub fn record_device_message(&self, at: Timestamp) {
        self.last_device_message_at.fetch_max(at.ms(), SeqCst);
    }

    /// Adds a watcher on `thread`; `true` when the actor must be notified. The count is raised before it is read: a watcher that joins
    /// while the last one leaves is therefore noticed. Until the actor has received the notification, it is not sent again.
    pub fn join(&self, thread: usize) -> bool {
        let Some(here) = self.watchers.get(thread) else { return false };
        here.fetch_add(1, SeqCst);
        self.all.fetch_add(1, SeqCst) == 0 && !self.notified.swap(true, SeqCst)
    }

    pub fn leave(&self, thread: usize) {
        if let Some(here) = self.watchers.get(thread) {
            here.fetch_sub(1, SeqCst);
            self.all.fetch_sub(1, SeqCst);
        }
    }

    /// Records that the actor received the notification. The actor reads the status after this call.
    pub fn notification_received(&self) {
        self.notified.store(false, SeqCst);
    }

    pub fn is_watched(&self) -> bool {
        self.all.load(SeqCst) > 0
    }

    /// The threads that have watchers.
    pub fn threads(&self) -> impl Iterator<Item = usize> + '_ {
        self.watchers.iter().enumerate().filter(|(_, n)| n.load(SeqCst) > 0).map(|(i, _)| i)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn watchers_that_come_and_go_notify_the_actor_once_until_it_has_received_it() {
        let status = MachineStatus::new(1);
        let notified = |status: &MachineStatus| {
            let notified = status.join(0);
            status.leave(0);
            notified
        };
        assert_eq!((0..1_000).filter(|_| notified(&status)).count(), 1);
        status.notification_received();
        assert!(notified(&status));
    }

    #[test]
    fn an_older_message_does_not_replace_a_newer_one() {
        let status = MachineStatus::new(1);
        assert_eq!(status.last_device_message_at(), None);
        for ms in [1_000, 3_000, 2_000] {
            status.record_device_message(Timestamp::from_ms(ms));
        }
        assert_eq!(status.last_device_message_at(), Some(Timestamp::from_ms(3_000)));
    }

    #[test]
    fn join_racing_with_last_leave_still_notifies_the_actor() {
        for _ in 0..2_000 {
            let status = MachineStatus::new(1);
            status.join(0);
            status.notification_received();
            let together = Barrier::new(3);
            let (notified, stopped) = thread::scope(|scope| {
                let comes = scope.spawn(|| {
                    together.wait();
                    status.join(0)
                });
                scope.spawn(|| {
                    together.wait();
                    status.leave(0);
                });
                let ticker = scope.spawn(|| {
                    together.wait();
                    (0..200).any(|_| !status.is_watched())
                });
                (comes.join().unwrap(), ticker.join().unwrap())
            });
            assert!(status.is_watched());
            assert!(notified || !stopped, "its ticker found nobody, and nobody notified it");
        }
    }
}
