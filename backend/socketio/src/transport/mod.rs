//! HTTP in front of the sessions.

mod http;
mod inbound;
mod polling;
mod socket;
mod tcp;
mod upgrade;

pub(crate) use http::route;
pub(crate) use inbound::{FromWebsocket, Inbound, News};
pub(crate) use socket::Socket;
pub use tcp::set_user_timeout;
pub use upgrade::Upgrades;
