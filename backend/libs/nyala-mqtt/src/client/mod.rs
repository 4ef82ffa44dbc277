//! Client's side.

mod connection;
mod login;

pub use connection::{ClientConnection, ClientEvent, Subscribed};
pub use login::Login;
