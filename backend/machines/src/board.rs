//! A machine's notice board: what its actor says of itself, and how many watch it from which thread. Shared by `Machines`, the
//! actor and the sessions, so that joining needs no word with the actor.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering::SeqCst};

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::step::Cycle;

const NOT_RUNNING: i64 = 0;
const NEVER: i64 = 0;

#[derive(Debug)]
pub struct Board {
    /// Epoch milliseconds, or `NOT_RUNNING`.
    ends_at: AtomicI64,
    /// Duration of that cycle, in milliseconds.
    lasts_ms: AtomicI64,
    /// On each thread, and on all.
    watchers: Box<[AtomicU32]>,
    all: AtomicU32,
    /// The actor is being told that somebody watches.
    told: AtomicBool,
    /// When the device was last heard: epoch milliseconds, or `NEVER`.
    device_heard_at: AtomicI64,
}

impl Board {
    /// For a server of `threads` worker threads.
    pub fn new(threads: usize) -> Self {
        Self {
            ends_at: AtomicI64::new(NOT_RUNNING),
            lasts_ms: AtomicI64::new(0),
            watchers: (0..threads).map(|_| AtomicU32::new(0)).collect(),
            all: AtomicU32::new(0),
            told: AtomicBool::new(false),
            device_heard_at: AtomicI64::new(NEVER),
        }
    }

    /// When the cycle ends, [`Cycle::shown_end`]; `None` while nothing runs.
    pub fn shown_end(&self, now: Timestamp) -> Option<Timestamp> {
        let ends_at = self.ends_at.load(SeqCst);
        let cycle = || Cycle::until(Timestamp::from_ms(ends_at), self.lasts_ms.load(SeqCst));
        (ends_at != NOT_RUNNING).then(|| cycle().shown_end(now))
    }

    /// Written before the change is broadcast: whoever joins in between sees it here, or hears it.
    pub fn set_cycle(&self, cycle: Option<Cycle>) {
        self.lasts_ms.store(cycle.map_or(0, Cycle::lasts_ms), SeqCst);
        self.ends_at.store(cycle.map_or(NOT_RUNNING, |cycle| cycle.ends_at.ms()), SeqCst);
    }

    /// When the device behind the machine last said anything; `None` before its first word since the actor was made.
    pub fn device_heard_at(&self) -> Option<Timestamp> {
        let ms = self.device_heard_at.load(SeqCst);
        (ms != NEVER).then(|| Timestamp::from_ms(ms))
    }

    /// It said something at `at`; words may come out of order.
    pub fn device_heard(&self, at: Timestamp) {
        self.device_heard_at.fetch_max(at.ms(), SeqCst);
    }

    /// One more on `thread`; true when the actor is to be told. It is added before it looks, so that of a watcher who comes in the
    /// instant in which the last one leaves the actor hears; and told once until it has heard, however often watchers come and go.
    pub fn join(&self, thread: usize) -> bool {
        let Some(here) = self.watchers.get(thread) else { return false };
        here.fetch_add(1, SeqCst);
        self.all.fetch_add(1, SeqCst) == 0 && !self.told.swap(true, SeqCst)
    }

    pub fn leave(&self, thread: usize) {
        if let Some(here) = self.watchers.get(thread) {
            here.fetch_sub(1, SeqCst);
            self.all.fetch_sub(1, SeqCst);
        }
    }

    /// The actor heard that somebody watches, and looks at the board after this.
    pub fn heard(&self) {
        self.told.store(false, SeqCst);
    }

    pub fn is_watched(&self) -> bool {
        self.all.load(SeqCst) > 0
    }

    /// The threads from which somebody watches.
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
    fn one_that_comes_and_goes_is_told_of_once_until_the_actor_heard() {
        let board = Board::new(1);
        let told = |board: &Board| {
            let told = board.join(0);
            board.leave(0);
            told
        };
        assert_eq!((0..1_000).filter(|_| told(&board)).count(), 1);
        board.heard();
        assert!(told(&board));
    }

    #[test]
    fn an_older_word_takes_no_newer_ones_place() {
        let board = Board::new(1);
        assert_eq!(board.device_heard_at(), None);
        for ms in [1_000, 3_000, 2_000] {
            board.device_heard(Timestamp::from_ms(ms));
        }
        assert_eq!(board.device_heard_at(), Some(Timestamp::from_ms(3_000)));
    }

    #[test]
    fn of_one_that_comes_as_the_last_one_leaves_the_actor_hears() {
        for _ in 0..2_000 {
            let board = Board::new(1);
            board.join(0);
            board.heard();
            let together = Barrier::new(3);
            let (told, stopped) = thread::scope(|scope| {
                let comes = scope.spawn(|| {
                    together.wait();
                    board.join(0)
                });
                scope.spawn(|| {
                    together.wait();
                    board.leave(0);
                });
                let ticker = scope.spawn(|| {
                    together.wait();
                    (0..200).any(|_| !board.is_watched())
                });
                (comes.join().unwrap(), ticker.join().unwrap())
            });
            assert!(board.is_watched());
            assert!(told || !stopped, "its ticker found nobody, and nobody told it");
        }
    }
}
