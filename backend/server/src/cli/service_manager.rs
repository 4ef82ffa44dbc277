//! Tells systemd when the server is ready (sd_notify(3)), so that `systemctl start` ends when calls are answered.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Names the socket of the service manager, for units of `Type=notify`.
const SOCKET: &str = "NOTIFY_SOCKET";

/// Reports that calls are answered, where a service manager asked for that.
pub fn report_ready() {
    let Some(socket) = std::env::var_os(SOCKET) else { return };
    if let Err(e) = send(&socket, b"READY=1") {
        tracing::warn!(error = %e, "the service manager could not be told that the server is ready");
    }
}

fn send(socket: &OsStr, message: &[u8]) -> io::Result<()> {
    let address = match socket.as_bytes() {
        // A name without a file.
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        path => SocketAddr::from_pathname(OsStr::from_bytes(path))?,
    };
    UnixDatagram::unbound()?.send_to_addr(message, &address).map(drop)
}
