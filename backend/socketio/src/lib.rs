//! A Socket.IO 5 (Engine.IO 4) server for actix.
#![deny(missing_docs)]

pub mod codec;
mod engine;
mod limits;
mod metrics;
mod session;
mod socket;
mod transport;

pub use engine::{CloseReason, Closer, Config, Engine, EngineError, Handle, Origins, Upper, Violation};
pub use limits::Limits;
pub use metrics::{Counter, Metrics};
pub use socket::{Ack, AckError, Answer, Args, Auth, Connect, Event, Handler, Refused, Socket, SocketIo, socket_io};
pub use transport::{Upgrades, set_user_timeout};
