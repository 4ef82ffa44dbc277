//! Every bound of a connection, in one place.

use std::time::Duration;

/// What a connection may hold, and how long it may be silent. A packet counts with its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest CONNECT, in bytes; a larger one ends the connection, a client does not send one. Default 1024.
    pub connect: usize,
    /// Largest other packet, both ways; a larger one that comes ends the connection, one that should go is not sent. Default 512.
    pub packet: usize,
    /// Most bytes that a client may send after its CONNECT and before it is answered; more end the connection. Servers only.
    /// Default 1024.
    pub early: usize,
    /// Longest keep-alive; a client that asked for more, or for none, is judged by this one. Servers only. Default 30 s.
    pub keep_alive: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: 1024, packet: 512, early: 1024, keep_alive: Duration::from_secs(30) }
    }
}
