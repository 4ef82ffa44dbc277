//! Inbound side of a websocket, as a stream of messages for its session.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use actix_web::rt::net::TcpStream;
use bytes::BytesMut;
use futures_util::Stream;

#[cfg(feature = "actors")]
use super::actors::Inbox;
use super::socket::RawSocket;
use crate::codec::{Decoder, Message, WebsocketError};
use crate::metrics::Metrics;

/// All sockets of a thread share one read buffer; a session keeps only the start of an unfinished frame.
const READ_BYTES: usize = 64 * 1024;

thread_local!(static READ: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into()));

/// Event of a session's websocket. The number distinguishes an upgrade's websocket from the one in use.
#[derive(Debug)]
pub(crate) struct FromWebsocket {
    pub number: u64,
    pub event: SocketEvent,
}

#[derive(Debug)]
pub(crate) enum SocketEvent {
    Message(Message),
    /// The client broke RFC 6455.
    Broken(WebsocketError),
    /// The connection has ended.
    Gone,
}

/// Source of a client's bytes.
pub(super) trait Source {
    /// Appends the next bytes; None: end of the stream.
    fn poll_bytes(&mut self, cx: &mut Context<'_>, buffer: &mut BytesMut) -> Poll<Option<usize>>;

    fn metrics(&self) -> &Metrics;
}

/// Splits a client's bytes into messages. Any event other than a message is the last one.
pub(super) struct Reader<S> {
    source: S,
    decoder: Decoder,
    buffer: BytesMut,
}

impl<S: Source> Reader<S> {
    /// `early`: bytes that are already read.
    pub fn new(source: S, early: BytesMut, max_payload: usize) -> Self {
        Self { source, decoder: Decoder::new(max_payload), buffer: early }
    }

    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<SocketEvent> {
        loop {
            if !self.buffer.is_empty() {
                match self.decoder.decode(&mut self.buffer) {
                    Ok(Some(message)) => return Poll::Ready(SocketEvent::Message(message)),
                    Ok(None) => {}
                    Err(error) => return Poll::Ready(SocketEvent::Broken(error)),
                }
            }
            if self.buffer.is_empty() {
                self.buffer = BytesMut::new(); // an idle socket holds no buffer
            }
            match ready!(self.source.poll_bytes(cx, &mut self.buffer)) {
                Some(n) => self.source.metrics().bytes_received.add(n as u64),
                None => return Poll::Ready(SocketEvent::Gone),
            }
        }
    }
}

impl Source for Rc<RawSocket> {
    fn poll_bytes(&mut self, cx: &mut Context<'_>, buffer: &mut BytesMut) -> Poll<Option<usize>> {
        loop {
            if ready!(self.io().poll_read_ready(cx)).is_err() {
                return Poll::Ready(None);
            }
            match read(self.io(), buffer) {
                Ok(0) => return Poll::Ready(None),
                Ok(n) => return Poll::Ready(Some(n)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Poll::Ready(None),
            }
        }
    }

    fn metrics(&self) -> &Metrics {
        RawSocket::metrics(self)
    }
}

/// The messages of one websocket of a session.
pub(crate) struct Inbound {
    number: u64,
    from: From,
    done: bool,
}

enum From {
    Raw(Reader<Rc<RawSocket>>),
    #[cfg(feature = "actors")]
    Carried(Inbox),
}

impl Inbound {
    /// `early`: bytes that arrived together with the handshake.
    pub fn raw(number: u64, socket: Rc<RawSocket>, early: BytesMut, max_payload: usize) -> Self {
        Self { number, from: From::Raw(Reader::new(socket, early, max_payload)), done: false }
    }

    #[cfg(feature = "actors")]
    pub fn carried(number: u64, inbox: Inbox) -> Self {
        Self { number, from: From::Carried(inbox), done: false }
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Poll<SocketEvent> {
        match &mut self.from {
            From::Raw(reader) => reader.poll_event(cx),
            #[cfg(feature = "actors")]
            From::Carried(inbox) => inbox.poll_event(cx),
        }
    }
}

impl Stream for Inbound {
    type Item = FromWebsocket;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<FromWebsocket>> {
        if self.done {
            return Poll::Ready(None);
        }
        let event = ready!(self.next(cx));
        self.done = !matches!(event, SocketEvent::Message(_));
        Poll::Ready(Some(FromWebsocket { number: self.number, event }))
    }
}

fn read(io: &TcpStream, buffer: &mut BytesMut) -> io::Result<usize> {
    READ.with_borrow_mut(|bytes| {
        let n = io.try_read(bytes)?;
        buffer.extend_from_slice(bytes.get(..n).unwrap_or_default());
        Ok(n)
    })
}

/// Reads bytes and drops them.
pub(super) fn discard(io: &TcpStream) -> io::Result<usize> {
    READ.with_borrow_mut(|bytes| io.try_read(bytes))
}
