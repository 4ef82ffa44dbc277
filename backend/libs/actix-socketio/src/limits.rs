//! Every bound of the server, in one place.

use std::time::Duration;

/// What a session may use up. Each field says what happens past it; what clients can make grow waits, queues or buffers within one of
/// these. What the host broadcasts from one thread to another waits within 65,536 broadcasts and 1,024 turns of them.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Time between two heartbeats. Told to the client. Default 25 s (the protocol's reference server).
    pub ping_interval: Duration,
    /// Time the client has to answer a heartbeat; then the session is closed. Told to the client. Default 20 s.
    pub ping_timeout: Duration,
    /// Largest websocket message and largest polling body, in bytes, both ways for polling, but that one larger packet of the server's
    /// goes alone. Told to the client. A larger websocket message closes the session, a larger POST is answered 413. Default 1,000,000.
    pub max_payload: usize,
    /// Most binary attachments of one packet; more closes the session. Default 10.
    pub max_attachments: usize,
    /// Most bytes of all attachments of one packet together; more closes the session. Default 1,000,000.
    pub max_attachment_bytes: usize,
    /// Most frames that wait for a websocket that does not drain; the next one that may not be dropped closes the
    /// session. Volatile frames are dropped as soon as anything waits. Default 64.
    pub max_queued_frames: usize,
    /// The same bound in bytes (a single larger frame is still sent when nothing waits). Default 64 KiB.
    pub max_queued_bytes: usize,
    /// Most packets that wait for the next polling request or for an upgrade, or that one turn sends to a websocket of an
    /// ordinary `HttpServer`, or that are emitted to a socket while it joins; volatile packets that wait for a request are dropped past `max_queued_frames`, the first other one past
    /// this closes the session. Default 1024.
    pub max_waiting_packets: usize,
    /// The same bound in bytes. Default 1,000,000.
    pub max_waiting_bytes: usize,
    /// Most namespaces that one session joins; further ones are refused with `connect_error`. A session that is refused
    /// more often than this is closed. Default 8.
    pub max_namespaces: usize,
    /// Longest namespace, in bytes; a longer one closes the session. Default 128.
    pub max_namespace_bytes: usize,
    /// Most rooms that one socket is in; [`Socket::join`](crate::Socket::join) fails past it. Default 64.
    pub max_rooms: usize,
    /// Most acknowledgements that the server waits for on one socket; a further request fails at once. Default 64.
    pub max_pending_acks: usize,
    /// Time a session has to join its first namespace, and to come back to one after it left the last; then it is closed. Joining a
    /// further one is not bounded: a `connect` that may hang there has a time-out of the host's.
    /// Default 45 s.
    pub connect_timeout: Duration,
    /// Time a websocket has to complete an upgrade; then that websocket is closed and the session stays on polling.
    /// Default 10 s.
    pub upgrade_timeout: Duration,
    /// Time a POST body has to arrive; then it is answered 408. Default 20 s.
    pub post_timeout: Duration,
    /// Time a closed session's websocket has to take its last frames and hang up. Default 2 s.
    pub close_timeout: Duration,
    /// Most joined sessions of the server; a further handshake is answered 503, and a session that joins past it is closed.
    /// Default 100,000.
    pub max_sessions: usize,
    /// Most sessions of one address (IPv6: /64) that have not joined; a further handshake is answered 429. Default 256.
    pub unjoined_per_address: usize,
    /// The same of one client that the host knows ([`crate::Caller::known`]), beside those of its address. Default 16.
    pub unjoined_per_known: usize,
    /// Most sessions that have not joined, of all addresses together, and as many of all known clients; a further handshake
    /// displaces the oldest of whoever has most of them, or is answered 429 when nobody has more than its own caller. Never below
    /// the two limits above. Default 20,000.
    pub max_unjoined: usize,
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
