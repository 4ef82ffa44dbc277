//! The inbound side of one websocket, as a stream of messages for its session.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use actix_web::rt::net::TcpStream;
use bytes::BytesMut;
use futures_util::Stream;

use super::socket::Socket;
use crate::codec::{Decoder, Message, WebsocketError};

/// All sockets of a thread read into the same place; a session keeps only the start of an unfinished frame.
const READ_BYTES: usize = 64 * 1024;

thread_local!(static READ: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into()));

/// What a websocket of a session brought. The number tells an upgrade's websocket from the one in use.
#[derive(Debug)]
pub(crate) struct FromWebsocket {
    pub number: u64,
    pub news: News,
}

#[derive(Debug)]
pub(crate) enum News {
    Message(Message),
    /// The client broke RFC 6455.
    Broken(WebsocketError),
    /// The connection is gone.
    Gone,
}

pub(crate) struct Inbound {
    number: u64,
    socket: Rc<Socket>,
    decoder: Decoder,
    buffer: BytesMut,
    done: bool,
}

impl Inbound {
    /// `early` is what arrived along with the handshake.
    pub fn new(number: u64, socket: Rc<Socket>, early: BytesMut, max_payload: usize) -> Self {
        Self { number, socket, decoder: Decoder::new(max_payload), buffer: early, done: false }
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Poll<News> {
        loop {
            if !self.buffer.is_empty() {
                match self.decoder.decode(&mut self.buffer) {
                    Ok(Some(message)) => return Poll::Ready(News::Message(message)),
                    Ok(None) => {}
                    Err(error) => return Poll::Ready(News::Broken(error)),
                }
            }
            if self.buffer.is_empty() {
                self.buffer = BytesMut::new(); // an idle socket holds no buffer
            }
            if ready!(self.socket.io().poll_read_ready(cx)).is_err() {
                return Poll::Ready(News::Gone);
            }
            match read(self.socket.io(), &mut self.buffer) {
                Ok(0) => return Poll::Ready(News::Gone),
                Ok(n) => self.socket.metrics().bytes_received.add(n as u64),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Poll::Ready(News::Gone),
            }
        }
    }
}

impl Stream for Inbound {
    type Item = FromWebsocket;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<FromWebsocket>> {
        if self.done {
            return Poll::Ready(None);
        }
        let news = ready!(self.next(cx));
        self.done = !matches!(news, News::Message(_));
        Poll::Ready(Some(FromWebsocket { number: self.number, news }))
    }
}

fn read(io: &TcpStream, buffer: &mut BytesMut) -> io::Result<usize> {
    READ.with_borrow_mut(|bytes| {
        let n = io.try_read(bytes)?;
        buffer.extend_from_slice(bytes.get(..n).unwrap_or_default());
        Ok(n)
    })
}

/// Reads and forgets.
pub(super) fn discard(io: &TcpStream) -> io::Result<usize> {
    READ.with_borrow_mut(|bytes| io.try_read(bytes))
}
