//! Connection of a device: a socket, MQTT on it, and the bytes that the kernel has not taken yet.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use mio::net::TcpStream;
use nyala_machines::device::mqtt::socket::Socket;
use nyala_mqtt::client::ClientConnection;
use nyala_mqtt::{Limits, Refusal, Unsent, Violation};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

/// Bytes that may wait to be sent; a device that exceeds it treats the server as gone.
const MAX_WAITING: usize = 4 * 1024;

/// Reason why a device has lost its connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum Loss {
    #[error("closed by the server")]
    Closed,
    #[error("{0}")]
    Io(ErrorKind),
    #[error("login refused: {0}")]
    Refused(Refusal),
    #[error("it may not subscribe to its commands")]
    Denied,
    #[error("the server breaks the protocol: {0}")]
    Violation(#[from] Violation),
    #[error("what it says has no room: {0}")]
    Unsent(#[from] Unsent),
    #[error("the server reads nothing")]
    Unread,
    #[error("not connected in time")]
    Slow,
    #[error("the server is silent")]
    Silent,
    /// This program cut the connection.
    #[error("cut")]
    Cut,
}

impl From<io::Error> for Loss {
    fn from(e: io::Error) -> Self {
        Self::Io(e.kind())
    }
}

/// Device's end of a connection; `tls`: the trusted authorities and the expected server, with TLS.
pub(super) fn open(stream: TcpStream, tls: Option<&(Arc<ClientConfig>, ServerName<'static>)>) -> io::Result<Socket> {
    // A message is one small packet, so delaying it gains nothing. A kernel that refuses the option does no harm.
    let _ = stream.set_nodelay(true);
    let Some((config, name)) = tls else { return Ok(Socket::Plain(stream)) };
    let session = rustls::ClientConnection::new(config.clone(), name.clone()).map_err(io::Error::other)?;
    Ok(Socket::with_tls(stream, session.into()))
}

pub(super) struct DeviceConnection {
    pub socket: Socket,
    pub mqtt: ClientConnection,
    waiting: Vec<u8>,
}

impl DeviceConnection {
    pub fn new(socket: Socket) -> Self {
        Self { socket, mqtt: ClientConnection::new(Limits::default()), waiting: Vec::new() }
    }

    /// Whether the connection is established, after the system has reported an event for it.
    pub fn is_connected(&mut self) -> Result<bool, Loss> {
        let stream = self.socket.stream();
        match stream.take_error()? {
            Some(e) => Err(e.into()),
            None => Ok(stream.peer_addr().is_ok()),
        }
    }

    /// Reads what has arrived; `None`: nothing more now.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Loss> {
        loop {
            return match self.socket.read(buffer) {
                Ok(0) => Err(Loss::Closed),
                Ok(n) => Ok(Some(n)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(None),
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => Err(e.into()),
            };
        }
    }

    /// Sends bytes, or keeps in order what the kernel does not take.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Loss> {
        let sent = if self.waiting.is_empty() { self.write(bytes)? } else { 0 };
        self.waiting.extend_from_slice(&bytes[sent..]);
        if self.waiting.len() > MAX_WAITING { Err(Loss::Unread) } else { Ok(()) }
    }

    /// Sends the bytes that were kept.
    pub fn flush(&mut self) -> Result<(), Loss> {
        match self.socket.flush() {
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
            flushed => flushed?,
        }
        let waiting = std::mem::take(&mut self.waiting);
        self.send(&waiting)
    }

    /// Writes and returns how many bytes the kernel has taken.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Loss> {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.socket.write(&bytes[sent..]) {
                Ok(n) => sent += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(sent)
    }
}
