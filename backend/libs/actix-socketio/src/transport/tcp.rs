//! Time-out for sockets of clients that disappeared.

use std::io;
use std::time::Duration;

use actix_web::rt::net::TcpStream;

/// Makes the kernel close a connection if sent data stays unacknowledged for `timeout` (`TCP_USER_TIMEOUT`, RFC
/// 5482; 30 to 45 s suit phones). Without it a client that left without a FIN holds its socket for a quarter of an hour.
/// Call it for every accepted connection.
///
/// # Errors
/// When the kernel refuses the option. On systems that do not have it this does nothing.
pub fn set_user_timeout(socket: &TcpStream, timeout: Duration) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return socket2::SockRef::from(socket).set_tcp_user_timeout(Some(timeout));
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (socket, timeout);
        Ok(())
    }
}
