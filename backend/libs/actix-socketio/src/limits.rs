//! Limits of the server.

use std::time::Duration;

/// Number of items and their bytes together: of a queue, of what is to be added to it, or the most that it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Number of packets, frames or attachments.
    pub count: usize,
    /// Bytes of all of them.
    pub bytes: usize,
}

impl Size {
    /// Whether neither the count nor the bytes exceed those of `max`.
    pub const fn fits(self, max: Self) -> bool {
        self.count <= max.count && self.bytes <= max.bytes
    }

    /// Whether the count or the bytes have reached those of `max`.
    pub const fn reaches(self, max: Self) -> bool {
        self.count >= max.count || self.bytes >= max.bytes
    }

    /// The larger count and the larger bytes of the two.
    pub fn max(self, other: Self) -> Self {
        Self { count: self.count.max(other.count), bytes: self.bytes.max(other.bytes) }
    }
}

impl std::ops::Add for Size {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { count: self.count + other.count, bytes: self.bytes + other.bytes }
    }
}

/// Resource limits. Each field says what happens past it. Every queue or buffer that clients can grow has one of these limits.
/// Broadcasts from one thread to another wait within 65,536 broadcasts and 1,024 event-loop turns.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Time between two heartbeats. Sent to the client. Default 25 s (the protocol's reference server).
    pub ping_interval: Duration,
    /// Time the client has to answer a heartbeat; then the session is closed. Sent to the client. Default 20 s.
    pub ping_timeout: Duration,
    /// Maximum size of a websocket message from a client, and of a polling body in both directions, in bytes. A single larger packet
    /// of the server is sent alone. Sent to the client. A larger websocket message closes the session, a larger POST is answered 413.
    /// Default 1,000,000.
    pub max_payload: usize,
    /// Maximum number of binary attachments of one packet; more closes the session. Default 10.
    pub max_attachments: usize,
    /// Maximum bytes of all attachments of one packet together; more closes the session. Default 1,000,000.
    pub max_attachment_bytes: usize,
    /// Maximum number of frames that wait for a websocket that does not drain; the next frame that must not be dropped closes the
    /// session. Volatile frames are dropped as soon as any frame waits. Default 64.
    pub max_queued_frames: usize,
    /// The same limit in bytes (a single larger frame is still sent if no other waits). Default 64 KiB.
    pub max_queued_bytes: usize,
    /// Maximum number of packets that wait for the next polling request or for an upgrade, that one event-loop turn sends to a
    /// websocket of an ordinary `HttpServer`, or that are emitted to a socket while it joins. Volatile packets that wait for a request
    /// are dropped past `max_queued_frames`. The first other packet past this limit closes the session. Default 1024.
    pub max_waiting_packets: usize,
    /// The same limit in bytes. Default 1,000,000.
    pub max_waiting_bytes: usize,
    /// Maximum number of namespaces that one session joins; further ones are refused with `connect_error`. A session that is refused
    /// more often than this is closed. Default 8.
    pub max_namespaces: usize,
    /// Maximum length of a namespace, in bytes; a longer one closes the session. Default 128.
    pub max_namespace_bytes: usize,
    /// Maximum number of rooms that one socket is in; [`Socket::join`](crate::Socket::join) fails past it. Default 64.
    pub max_rooms: usize,
    /// Maximum number of acknowledgements that the server waits for on one socket; a further request fails at once. Default 64.
    pub max_pending_acks: usize,
    /// Time a session has to join its first namespace, and to join one again after it left the last; then it is closed. Joining a
    /// further namespace has no time limit: if the host's `connect` may close_session there, the host needs its own time-out.
    /// Default 45 s.
    pub connect_timeout: Duration,
    /// Time a websocket has to complete an upgrade; then that websocket is closed and the session stays on polling.
    /// Default 10 s.
    pub upgrade_timeout: Duration,
    /// Time a POST body has to arrive; then it is answered 408. Default 20 s.
    pub post_timeout: Duration,
    /// Time a closed session's websocket has to take its last frames and close. Default 2 s.
    pub close_timeout: Duration,
    /// Maximum number of joined sessions of the server; a further handshake is answered 503, and a session that joins past it is closed.
    /// Default 100,000.
    pub max_sessions: usize,
    /// Maximum number of sessions of one address (IPv6: /64) that have not joined; a further handshake is answered 429. Default 256.
    pub unjoined_per_address: usize,
    /// The same for one client that the host knows ([`crate::Caller::known`]), in addition to those of its address. Default 16.
    pub unjoined_per_known: usize,
    /// Maximum number of sessions that have not joined: of all addresses together, and again of all known clients. A further
    /// handshake displaces the oldest session of the caller that has most of them. It is answered 429 when no other caller has more
    /// than its own. Never below the two limits above. Default 20,000.
    pub max_unjoined: usize,
}

impl Limits {
    /// Limit of a queue to a websocket that does not drain.
    pub(crate) const fn max_queued(&self) -> Size {
        Size { count: self.max_queued_frames, bytes: self.max_queued_bytes }
    }

    /// Limit of a queue to a polling request, or of what one event-loop turn sends.
    pub(crate) const fn max_waiting(&self) -> Size {
        Size { count: self.max_waiting_packets, bytes: self.max_waiting_bytes }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            ping_interval: Duration::from_secs(25),
            ping_timeout: Duration::from_secs(20),
            max_payload: 1_000_000,
            max_attachments: 10,
            max_attachment_bytes: 1_000_000,
            max_queued_frames: 64,
            max_queued_bytes: 64 * 1024,
            max_waiting_packets: 1024,
            max_waiting_bytes: 1_000_000,
            max_namespaces: 8,
            max_namespace_bytes: 128,
            max_rooms: 64,
            max_pending_acks: 64,
            connect_timeout: Duration::from_secs(45),
            upgrade_timeout: Duration::from_secs(10),
            post_timeout: Duration::from_secs(20),
            close_timeout: Duration::from_secs(2),
            max_sessions: 100_000,
            unjoined_per_address: 256,
            unjoined_per_known: 16,
            max_unjoined: 20_000,
        }
    }
}
