//! A port that is listened on, for phones and for devices.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

use socket2::{Domain, Socket, Type};

/// What `TcpListener::bind` does, which allows 128 connections that wait to be accepted and has no way to ask for more. `at`: host and port.
pub(super) fn listen(at: (&str, u16), backlog: u16) -> std::io::Result<TcpListener> {
    let try_one = |address: SocketAddr| {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_reuse_address(true)?; // a restart need not wait for the last one's connections
        socket.bind(&address.into())?;
        socket.listen(i32::from(backlog))?;
        Ok(TcpListener::from(socket))
    };
    let mut failed = ErrorKind::AddrNotAvailable.into();
    for address in at.to_socket_addrs()? {
        match try_one(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}
