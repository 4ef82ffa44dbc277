//! Liveness of the worker threads. A thread that hangs stops its machines' countdowns, and no other thread notices.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

/// Time without a turn after which a thread counts as stuck; a healthy one turns four times a second (`machine::alarm`).
pub const STUCK_AFTER_MS: u64 = 10_000;

/// Worker threads, with the time of each one's last turn. Time is the kernel's monotonic clock, which stops while the machine is
/// suspended (CLOCK_MONOTONIC, clock_gettime(2)): a suspend makes no thread late.
#[derive(Debug, Clone)]
pub struct Threads(Arc<ThreadList>);

#[derive(Debug)]
struct ThreadList {
    since: Instant,
    /// Milliseconds by which a test has advanced the clock.
    skipped_ms: AtomicU64,
    last: RwLock<Vec<Arc<AtomicU64>>>,
}

/// Handle with which a thread marks its turns.
#[derive(Debug)]
pub struct Turning {
    threads: Threads,
    last: Arc<AtomicU64>,
}

impl Default for Threads {
    fn default() -> Self {
        Self(Arc::new(ThreadList { since: Instant::now(), skipped_ms: AtomicU64::default(), last: RwLock::default() }))
    }
}

impl Threads {
    /// Adds a thread, which must turn from now on.
    pub fn join(&self) -> Turning {
        let last = Arc::new(AtomicU64::new(self.now_ms()));
        self.0.last.write().unwrap_or_else(PoisonError::into_inner).push(last.clone());
        Turning { threads: self.clone(), last }
    }

    /// Number of stuck threads.
    pub fn stuck(&self) -> usize {
        let now_ms = self.now_ms();
        let last = self.0.last.read().unwrap_or_else(PoisonError::into_inner);
        last.iter().filter(|at| now_ms.saturating_sub(at.load(Ordering::Relaxed)) > STUCK_AFTER_MS).count()
    }

    /// Advances the clock, for tests.
    pub fn advance_ms(&self, ms: u64) {
        self.0.skipped_ms.fetch_add(ms, Ordering::Relaxed);
    }

    fn now_ms(&self) -> u64 {
        let passed = u64::try_from(self.0.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        passed.saturating_add(self.0.skipped_ms.load(Ordering::Relaxed))
    }
}

impl Turning {
    /// Marks that the thread is running.
    pub fn turned(&self) {
        self.last.store(self.threads.now_ms(), Ordering::Relaxed);
    }
}
