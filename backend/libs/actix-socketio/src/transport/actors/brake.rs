//! How a connection that is not read ends before the kernel gives it up.

use std::any::Any;
use std::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use socket2::{SockRef, Socket};

use crate::transport::set_user_timeout;

/// Between 30 and 45 s suit phones.
const USER_TIMEOUT: Duration = Duration::from_secs(30);

/// Another descriptor of a connection, which lives no longer than its dispatcher.
pub(super) struct Brake(Socket);

impl Brake {
    /// Whoever serves the connection sees its end.
    pub fn pull(&self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// Lets the sessions of an ordinary `HttpServer` end the connections of clients that do not read:
/// `HttpServer::new(…).on_connect(actix_socketio::on_connect)`, or called by an `on_connect` of the host's own.
///
/// A session whose client does not read is closed within its limits, and its host hears of it at once. But actix-http waits without a
/// time-out for the connection to take what was written: without this call the connection, its descriptor and its
/// buffers stay until the kernel gives it up, which it never does for a client that is there and
/// does not read. With it each connection takes one descriptor more, has a `TCP_USER_TIMEOUT` of 30 s, and is shut down together with
/// a session that was broken off, or `close_timeout` after one that ended in order.
///
/// It does so for plain TCP. Of other connections (TLS, Unix sockets) it knows nothing and leaves them as they are: let a proxy that has
/// time-outs of its own stand before those.
pub fn on_connect(connection: &dyn Any, data: &mut Extensions) {
    let Some(stream) = connection.downcast_ref::<TcpStream>() else {
        return;
    };
    let _ = set_user_timeout(stream, USER_TIMEOUT);
    if let Ok(socket) = SockRef::from(stream).try_clone() {
        data.insert(Arc::new(Brake(socket)));
    }
}
