//! Socket.IO 5 on top of Engine.IO: namespaces, events, acknowledgements, rooms.

mod ack;
mod client;
mod event;
mod handle;
mod handler;
mod room;
mod server;

pub use ack::{Ack, AckAnswer, AckError};
pub use event::{Args, ConnectAuth, Event};
pub use handle::{Socket, TooManyRooms};
pub use handler::{Connect, Handler, Refused};
pub use room::{Broadcast, NoAnswer};
pub use server::{SocketIo, socket_io};
