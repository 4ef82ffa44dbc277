//! MQTT 3.1.1 without I/O: [`server::Connection`] is one connection as the server sees it, [`client::Connection`] as the client
//! does. Bytes go in, events come out, and what is to be sent is appended to a buffer of the caller's. No sockets, no clocks, no
//! tasks.
//!
//! # What it is not
//! No broker: nothing is routed, retained, queued or sent a second time. Who may log in, and which topics are whose, is the
//! caller's to judge: every event carries the names that were sent. QoS 0 and 1 only, both ways; an acknowledgement goes out at
//! once and promises nothing but that the packet was heard. Sessions are clean ones. Ends after a silence are the caller's, who
//! has the clock; it is told how long ([`server::Connect::silence`]).
//!
//! # What of it is `mqtt-protocol-core`
//! The packets: each is read and written by that crate, but for the four bytes of the server's CONNACK. Its `Connection` (0.7.9)
//! is not used: it takes packets before CONNECT and before CONNACK, and any reserved bits; a PUBLISH of QoS 1 with the packet id
//! 0 panics it while it answers by itself; its sets of open packet ids have no bound below 65,535; and the session that it keeps
//! is for what is not offered here.
//!
//! So the header of a packet is read here, and refused at the first byte that tells. Memory is given for what has come, never for
//! what a header promises. What the parsers let through is refused here as well: packet ids of 0, U+0000, topics that are empty or
//! have wildcards, reserved bits of CONNECT and SUBSCRIBE, bytes behind the end of a packet.
#![deny(missing_docs)]

pub mod client;
mod frame;
mod limits;
mod packet;
pub mod server;
mod violation;
mod write;

pub use limits::Limits;
pub use packet::{Granted, Kind, Publish, Qos, Refusal, Will};
pub use violation::Violation;
pub use write::Unsent;
