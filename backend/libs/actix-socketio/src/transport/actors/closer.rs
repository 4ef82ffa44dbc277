//! Early shutdown of a connection whose client does not read.

use std::any::Any;
use std::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use socket2::{SockRef, Socket};

use crate::transport::set_user_timeout;

/// 30 to 45 s suit phones.
const USER_TIMEOUT: Duration = Duration::from_secs(30);

/// Duplicate descriptor of a connection. It is dropped no later than the connection's dispatcher.
pub(super) struct ConnectionCloser(Socket);

impl ConnectionCloser {
    /// Shuts the connection down, so that its dispatcher sees the end.
    pub fn close(&self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// Lets the sessions of an ordinary `HttpServer` end the connections of clients that do not read:
/// `HttpServer::new(…).on_connect(actix_socketio::on_connect)`, or called by an `on_connect` of the host's own.
///
/// A session whose client does not read is closed within its limits, and its host is notified at once. But actix-http waits without a
/// time-out until the connection has taken the written bytes. Without this call, the connection, its descriptor and its buffers stay
/// until the kernel ends it, which never happens for a client that is alive but does not read. With this call, each connection needs
/// one more descriptor and has a `TCP_USER_TIMEOUT` of 30 s. It is shut down together with a session that was broken off, or
/// `close_timeout` after one that ended in order.
///
/// It works only for plain TCP and does not change other connections (TLS, Unix sockets): put a proxy with its own time-outs in front
/// of those.
pub fn on_connect(connection: &dyn Any, data: &mut Extensions) {
    let Some(stream) = connection.downcast_ref::<TcpStream>() else {
        return;
    };
    let _ = set_user_timeout(stream, USER_TIMEOUT);
    if let Ok(socket) = SockRef::from(stream).try_clone() {
        data.insert(Arc::new(ConnectionCloser(socket)));
    }
}
