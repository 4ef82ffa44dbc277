//! HTTP in front of the sessions.

mod http;
mod polling;
mod socket;
mod tcp;
mod websocket;

pub(crate) use http::route;
pub(crate) use socket::Socket;
pub use tcp::set_user_timeout;
