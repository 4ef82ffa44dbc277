//! A Socket.IO 5 server (over Engine.IO 4) for actix: what an unmodified `socket.io-client` 4.x speaks.
//!
//! Long-polling, websockets and the upgrade from one to the other; namespaces, events, acknowledgements both ways,
//! binary attachments, `auth` on connect. Not here: WebTransport, connection state recovery, websocket compression, and
//! rooms: a host keeps its own lists of [`Socket`]s.
//!
//! # Use
//!
//! Implement [`Handler`], make one server with [`socket_io`], clone it into every worker. Polling requests come through
//! the actix-web app; upgrades come through [`Upgrades`], because a websocket that is served as an app's response keeps
//! a dispatcher and its buffers alive for as long as it is open.
//!
//! ```no_run
//! use actix_http::HttpService;
//! use actix_server::Server;
//! use actix_service::map_config;
//! use actix_socketio::{CloseReason, Config, Connect, Event, Handler, Refused, Socket, Upgrades, socket_io};
//! use actix_web::{App, dev::AppConfig};
//!
//! struct Chat;
//!
//! impl Handler for Chat {
//!     type Session = Socket;
//!
//!     async fn connect(&self, connect: Connect) -> Result<Socket, Refused> {
//!         let auth: serde_json::Value = connect.auth.read().map_err(|_| Refused::new("bad auth"))?;
//!         if auth["token"] != "secret" {
//!             return Err(Refused::new("unauthorized"));
//!         }
//!         Ok(connect.socket)
//!     }
//!
//!     fn event(&self, socket: &mut Socket, event: Event) {
//!         let _ = socket.emit_args(&event.name, &event.args);
//!         if let Some(ack) = event.ack {
//!             let _ = ack.send("said");
//!         }
//!     }
//!
//!     fn disconnected(&self, _: Socket, _: CloseReason) {}
//! }
//!
//! #[actix_web::main]
//! async fn main() -> std::io::Result<()> {
//!     let io = socket_io(Config::default(), Chat);
//!     let upgrades = Upgrades::default().mount(&io);
//!     Server::build()
//!         .bind("chat", "127.0.0.1:3000", move || {
//!             let app = App::new().configure(|c| io.configure(c));
//!             HttpService::build()
//!                 .h1_allow_half_closed(false) // a polling request that is given up ends at once
//!                 .upgrade(upgrades.service())
//!                 .h1(map_config(app, |()| AppConfig::default()))
//!                 .tcp()
//!         })?
//!         .run()
//!         .await
//! }
//! ```
//!
//! # Threads
//!
//! A session is an actor on the thread that took its handshake, and stays there; requests and sockets that arrive on
//! other threads are handed to it. A [`Socket`] belongs to that thread. For many receivers of one message, encode a
//! [`codec::Frame`] once and send it to the sockets of each thread: whatever goes to a session in one turn of its
//! thread leaves in one write. Heartbeats and deadlines run on one wheel per thread.
//!
//! Whatever writes and wakes on a thread is [`vital`]: its panic ends the process.
//!
//! # Limits
//!
//! [`Limits`] bounds everything; [`Metrics`] tells what happened. Anybody can open a session, so until it has joined a namespace it
//! counts against its [`Caller`] and not among `max_sessions`: behind a proxy, tell callers apart with [`Config::callers`]. A client
//! that is slow loses volatile frames (whole
//! ones only); one that does not take the others in time is closed. Open descriptors are at most two per session (one
//! for an unfinished upgrade), one for each closed websocket during `close_timeout`, and those of HTTP itself, whose
//! bound is the host's. Sockets per customer are the host's to count: refuse in [`Handler::connect`], or close an
//! older one through its [`Closer`]. Call [`Engine::shut_down`] before the server stops: a server waits for requests,
//! not for sessions.
#![deny(missing_docs)]

pub mod codec;
mod engine;
mod limits;
mod metrics;
mod session;
mod socket;
mod transport;
pub mod vital;

pub use engine::{
    Bodies, Caller, Callers, CloseReason, Closer, Config, Engine, EngineError, Handle, Origins, Site, Sites, Upper, Violation,
};
pub use limits::Limits;
pub use metrics::{Counter, Metrics};
pub use socket::{Ack, AckAnswer, AckError, Args, Connect, ConnectAuth, Event, Handler, Refused, Socket, SocketIo, socket_io};
pub use transport::{Upgrades, set_user_timeout};
