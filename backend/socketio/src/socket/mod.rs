//! Socket.IO 5 on top of Engine.IO: namespaces, events, acknowledgements.

mod ack;
mod client;
mod event;
mod handle;
mod handler;

pub use ack::{Ack, AckAnswer, AckError};
pub use event::{Args, ConnectAuth, Event};
pub use handle::Socket;
pub use handler::{Connect, Handler, Refused, SocketIo, socket_io};
