//! A machine's notice board: what its actor says of itself, and how many watch it from which thread. Shared by the registry, the
//! actor and the sessions, so that joining needs no word with the actor.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering::SeqCst};

use crate::domain::timestamp::Timestamp;

const NOT_RUNNING: i64 = 0;

#[derive(Debug)]
pub struct Board {
    /// Epoch milliseconds, or `NOT_RUNNING`.
    ends_at: AtomicI64,
    watchers: Box<[AtomicU32]>,
}

impl Board {
    /// For a server of `threads` worker threads.
    pub fn new(threads: usize) -> Self {
        Self { ends_at: AtomicI64::new(NOT_RUNNING), watchers: (0..threads).map(|_| AtomicU32::new(0)).collect() }
    }

    /// When the run ends; `None` while nothing runs.
    pub fn ends_at(&self) -> Option<Timestamp> {
        let ms = self.ends_at.load(SeqCst);
        (ms != NOT_RUNNING).then(|| Timestamp::from_ms(ms))
    }

    /// Written before the change is broadcast: whoever joins in between sees it here, or hears it.
    pub fn set_ends_at(&self, ends_at: Option<Timestamp>) {
        self.ends_at.store(ends_at.map_or(NOT_RUNNING, Timestamp::ms), SeqCst);
    }

    /// One more on `thread`; true when nobody watched before.
    pub fn join(&self, thread: usize) -> bool {
        let nobody = !self.is_watched();
        if let Some(n) = self.watchers.get(thread) {
            n.fetch_add(1, SeqCst);
        }
        nobody
    }

    pub fn leave(&self, thread: usize) {
        if let Some(n) = self.watchers.get(thread) {
            n.fetch_sub(1, SeqCst);
        }
    }

    pub fn is_watched(&self) -> bool {
        self.watchers.iter().any(|n| n.load(SeqCst) > 0)
    }

    /// The threads from which somebody watches.
    pub fn threads(&self) -> impl Iterator<Item = usize> + '_ {
        self.watchers.iter().enumerate().filter(|(_, n)| n.load(SeqCst) > 0).map(|(i, _)| i)
    }
}
