//! Limits of a connection.

use std::time::Duration;

/// What a connection may hold, and how long it may be silent. A packet counts with its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a CONNECT in bytes. A server closes the connection on a larger one; a client does not send it. Default 1024.
    pub connect: usize,
    /// Maximum size of other packets, both ways. A larger received one closes the connection; one to send is refused. Default 512.
    pub packet: usize,
    /// Maximum number of bytes from a client between its CONNECT and the answer; more close the connection. Servers only.
    /// Default 1024.
    pub early: usize,
    /// Maximum keep-alive. It also applies to a client that asked for more or for none. Servers only. Default 30 s.
    pub keep_alive: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: 1024, packet: 512, early: 1024, keep_alive: Duration::from_secs(30) }
    }
}
