//! Server's side.

mod connect;
mod connection;
mod topics;

pub use connect::Connect;
pub use connection::{Connection, Event};
pub use topics::{Subscribe, Unsubscribe};
