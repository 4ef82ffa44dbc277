//! Counters that the host may read at any time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number that only this crate changes.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// The present value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    pub(crate) fn add(&self, n: u64) {
        self.0.fetch_add(n, Relaxed);
    }

    pub(crate) fn sub(&self, n: u64) {
        self.0.fetch_sub(n, Relaxed);
    }
}

/// What a server has done since it was made. Values only grow, except `sessions_open` and `websockets_open`.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Sessions that are open now.
    pub sessions_open: Counter,
    /// Websockets that are open now; unfinished upgrades and closed ones that still say goodbye count.
    pub websockets_open: Counter,
    /// Sessions opened.
    pub sessions_opened: Counter,
    /// Handshakes refused because `max_sessions` were open.
    pub sessions_refused: Counter,
    /// Sessions closed because a heartbeat was not answered.
    pub heartbeats_missed: Counter,
    /// Sessions closed because their client did not take what may not be dropped.
    pub stalled: Counter,
    /// Sessions closed because of a packet that the protocol does not allow.
    pub violations: Counter,
    /// Packets handed to a socket or a polling answer.
    pub frames_sent: Counter,
    /// Volatile packets dropped because the client was slow.
    pub frames_dropped: Counter,
    /// Writes to websockets; `frames_sent / writes` is how well turns gather.
    pub writes: Counter,
    /// Bytes handed to websockets and polling answers, without HTTP heads.
    pub bytes_sent: Counter,
    /// Bytes of websocket frames and POST bodies read.
    pub bytes_received: Counter,
}

/// One open session; dropping it counts the session out.
#[derive(Debug)]
pub(crate) struct Permit(Arc<Metrics>);

impl Permit {
    /// None when `max` sessions are open.
    pub(crate) fn take(metrics: &Arc<Metrics>, max: usize) -> Option<Self> {
        let open = &metrics.sessions_open.0;
        let taken = open.fetch_update(Relaxed, Relaxed, |n| (n < max as u64).then_some(n + 1));
        if taken.is_err() {
            metrics.sessions_refused.add(1);
            return None;
        }
        metrics.sessions_opened.add(1);
        Some(Self(metrics.clone()))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.sessions_open.sub(1);
    }
}
