//! The rules of the two protocol documents, and what hostile clients do, tested from outside: raw HTTP and websocket
//! bytes against a server on a port of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod http;
mod server;
mod wire;
mod ws;

mod cross_origin;
mod engine_handshake;
mod heartbeat;
mod hostile;
mod limits;
mod messages;
mod namespaces;
mod polling;
mod rooms;
mod unjoined;
mod upgrade;
mod websocket;
