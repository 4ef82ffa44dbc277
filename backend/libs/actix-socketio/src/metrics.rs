//! Counters that the host may read at any time.

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

    /// Adds one, unless the value is already `max`.
    pub(crate) fn add_below(&self, max: u64) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |n| (n < max).then_some(n + 1)).is_ok()
    }
}

/// Counters of a server since its start. Values only grow, except those that say "now".
#[derive(Debug, Default)]
pub struct Metrics {
    /// Sessions that are open now.
    pub sessions_open: Counter,
    /// Sessions that have joined, now: `max_sessions` is their limit.
    pub sessions_joined: Counter,
    /// Sessions that have not joined, now, of all callers.
    pub sessions_unjoined: Counter,
    /// Websockets that are open now, including unfinished upgrades and websockets that still send their last frames.
    pub websockets_open: Counter,
    /// Sessions opened.
    pub sessions_opened: Counter,
    /// Handshakes, and joins, refused because `max_sessions` had joined.
    pub sessions_refused: Counter,
    /// Handshakes refused because too many sessions of their caller had not joined.
    pub unjoined_refused: Counter,
    /// Sessions closed before they joined, to make room for another caller's.
    pub unjoined_displaced: Counter,
    /// Sessions closed because a heartbeat was not answered.
    pub heartbeats_missed: Counter,
    /// Sessions closed because their client did not take packets that must not be dropped.
    pub stalled: Counter,
    /// Sessions closed because of a packet that the protocol does not allow.
    pub violations: Counter,
    /// Packets handed to a socket or a polling answer.
    pub frames_sent: Counter,
    /// Volatile packets dropped because the client was slow.
    pub frames_dropped: Counter,
    /// Writes to websockets; `frames_sent / writes` shows how well event-loop turns gather frames.
    pub writes: Counter,
    /// Bytes handed to websockets and polling answers, without HTTP heads.
    pub bytes_sent: Counter,
    /// Bytes of websocket frames and POST bodies read.
    pub bytes_received: Counter,
}
