//! HTTP transports of the sessions.

#[cfg(feature = "actors")]
mod actors;
mod entry;
mod http;
mod inbound;
mod polling;
mod socket;
mod tcp;
#[cfg(feature = "host")]
mod upgrade;
mod websocket;

#[cfg(feature = "actors")]
pub use actors::on_connect;
pub(crate) use http::route;
pub(crate) use inbound::{FromWebsocket, SocketEvent};
pub use tcp::set_user_timeout;
#[cfg(feature = "host")]
pub use upgrade::Upgrades;
pub(crate) use websocket::{Arrival, Websocket};
