//! MQTT 3.1.1 without I/O: [`server::ServerConnection`] is the server's side of one connection, [`client::ClientConnection`] the client's side.
//! Bytes go in, events come out, and bytes to send are appended to the caller's buffer. No sockets, no clocks, no tasks.
//!
//! # What it is not
//! It is no broker: it does not route, retain, queue or resend. The caller decides which clients may log in and which topics they
//! may use: every event has the names that were sent. QoS 0 and 1 only, both ways. An acknowledgement is sent at once and promises
//! only that the packet was received. All sessions are clean. The caller has the clock, so it closes a silent connection;
//! [`server::Connect::silence`] returns the time limit.
//!
//! # What of it is `mqtt-protocol-core`
//! That crate reads and writes each packet, except the four bytes of the server's CONNACK. Its `Connection` (0.7.9) is not used: it
//! accepts packets before CONNECT and before CONNACK, and any reserved bits. A PUBLISH of QoS 1 with the packet id 0 makes it panic
//! when it answers automatically. Its sets of open packet ids have no limit below 65,535. And it keeps a session, which this crate
//! does not offer.
//!
//! So this crate reads the header of a packet, and refuses a wrong one at the first byte that shows the error. Memory is allocated
//! for received bytes, never for the length in a header. This crate also refuses what the parsers accept: packet ids of 0, U+0000,
//! topics that are empty or have wildcards, reserved bits of CONNECT and SUBSCRIBE, bytes after the end of a packet.
#![deny(missing_docs)]

pub mod client;
mod frame;
mod kind;
mod limits;
mod packet;
pub mod server;
mod violation;
mod write;

pub use kind::Kind;
pub use limits::Limits;
pub use packet::{Granted, Publish, Qos, Refusal, Will};
pub use violation::Violation;
pub use write::Unsent;
