//! Client's side.

mod connection;
mod login;

pub use connection::{Connection, Event, Subscribed};
pub use login::Login;
