//! Server's side.

mod connect;
mod connection;
mod topics;

pub use connect::Connect;
pub use connection::{ServerConnection, ServerEvent};
pub use topics::{Subscribe, Unsubscribe};
