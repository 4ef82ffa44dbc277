//! Socket between device and server, plain or with TLS, for either end; never blocks.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use mio::event::Source;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use rustls::{Connection, ServerConfig, ServerConnection};

/// Bytes that TLS may buffer when the kernel does not take them.
const TLS_WAITING: usize = 4 * 1024;

#[derive(Debug)]
pub enum Socket {
    Plain(TcpStream),
    Tls(Box<Tls>),
}

#[derive(Debug)]
pub struct Tls {
    stream: TcpStream,
    session: Connection,
}

impl Socket {
    /// Server's end of a connection; `tls`: the configuration, when it is served with TLS.
    pub fn new(stream: std::net::TcpStream, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        // A command is answered in one small packet, so delaying it gains nothing. A kernel that refuses the option does no harm.
        let _ = stream.set_nodelay(true);
        let stream = TcpStream::from_std(stream);
        let Some(config) = tls else { return Ok(Self::Plain(stream)) };
        let session = ServerConnection::new(config).map_err(io::Error::other)?;
        Ok(Self::with_tls(stream, session.into()))
    }

    /// Connection over TLS, of either end.
    pub fn with_tls(stream: TcpStream, mut session: Connection) -> Self {
        session.set_buffer_limit(Some(TLS_WAITING));
        Self::Tls(Box::new(Tls { stream, session }))
    }

    pub fn stream(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(tls) => &mut tls.stream,
        }
    }

    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.stream().register(registry, token, Interest::READABLE | Interest::WRITABLE)
    }

    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.stream().deregister(registry)
    }

    /// Reads bytes that arrived before TLS without consuming them; 0 at the end.
    ///
    /// # Errors
    /// `WouldBlock` when nothing has arrived.
    pub fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.stream().peek(buf)
    }

    /// Consumes what `peek` has returned, as many bytes as `buf` has room for.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn skip(&mut self, buf: &mut [u8]) -> io::Result<()> {
        self.stream().read_exact(buf)
    }

    /// Reads what has arrived; 0 at the end.
    ///
    /// # Errors
    /// `WouldBlock` when nothing has arrived.
    pub fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buf),
            Self::Tls(tls) => tls.read(buf),
        }
    }

    /// Writes as many of `bytes` as the kernel takes.
    ///
    /// # Errors
    /// `WouldBlock` when it takes nothing.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    /// Sends what TLS has buffered.
    ///
    /// # Errors
    /// `WouldBlock` when something is left.
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(tls) => tls.send(),
        }
    }
}

impl Tls {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(buf) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                // Without a TLS close, the received bytes are complete all the same: packets carry their length.
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            let read = self.session.read_tls(&mut self.stream)?;
            let broken = self.session.process_new_packets().err();
            // TLS may have to send its part of a handshake, or an alert about the other side.
            match self.send() {
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                sent => sent?,
            }
            if let Some(e) = broken {
                return Err(io::Error::new(ErrorKind::InvalidData, e));
            }
            if read == 0 {
                return Ok(0);
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.session.writer().write(bytes)?;
        match self.send() {
            Err(e) if e.kind() == ErrorKind::WouldBlock && taken > 0 => {}
            sent => sent?,
        }
        if taken == 0 && !bytes.is_empty() { Err(ErrorKind::WouldBlock.into()) } else { Ok(taken) }
    }

    fn send(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(&mut self.stream)?;
        }
        Ok(())
    }
}
