//! What a connection may bring that nobody has taken yet. By itself actix-http reads 128 KiB of a connection ahead of whoever serves it,
//! keeps sixteen requests more, and times only the first head. This stream lets [`AHEAD`] through and waits for the rest to be asked for,
//! and times every head; the middleware (`request.rs`) says where a request begins, is read and ends.

mod request;

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use actix_web::rt::net::TcpStream;
use actix_web::rt::time::{Sleep, sleep};
use futures_util::FutureExt as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub use request::{middleware, refuse_unread_bodies};

/// Bytes beyond which nothing is read of a connection until they are taken; a head that is longer is refused.
const AHEAD: usize = 16 * 1024;
/// How long the head of a request may take.
pub const HEAD_WITHIN: Duration = Duration::from_secs(5);

const TOO_LATE: &[u8] = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const TOO_LARGE: &[u8] = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// An accepted connection.
#[derive(Debug)]
pub struct Connection {
    io: TcpStream,
    intake: Intake,
    /// Rings when the head that has begun is late.
    late: Option<Pin<Box<Sleep>>>,
    /// The kernel did not take all of the last write: an answer is on its way, and nothing may be put between.
    unsent: bool,
}

/// What a connection's requests say to it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Intake(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// Bytes that were let through and not taken.
    ahead: usize,
    /// The parser had its turn at them, and made no request of them.
    parsed: bool,
    waiting: Option<Waker>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A head is awaited or on its way.
    #[default]
    Head,
    /// A request is being served.
    Request,
    /// It was answered; what came with it may hold the next one.
    Answered,
    /// It was answered before its body ended: the parser throws the rest away and soon closes (`client_disconnect_timeout`).
    Rest,
}

/// What to do before a read.
enum Before {
    Read,
    /// Until somebody takes what is there.
    Wait,
    /// Only until the parser was at it.
    Turn,
    TooLarge,
}

impl Connection {
    pub fn new(io: TcpStream) -> Self {
        Self { io, intake: Intake::default(), late: None, unsent: false }
    }

    pub fn tcp(&self) -> &TcpStream {
        &self.io
    }

    pub fn intake(&self) -> Intake {
        self.intake.clone()
    }

    /// The connection ends, for its reader as if the client had ended it.
    fn end(&self, answer: &[u8]) {
        if !self.unsent {
            let _ = self.io.try_write(answer);
        }
    }
}

impl From<Connection> for TcpStream {
    fn from(connection: Connection) -> Self {
        connection.io
    }
}

impl Intake {
    fn before_read(&self, waker: &Waker) -> Before {
        let state = &mut *self.0.borrow_mut();
        if state.phase == Phase::Answered {
            // All whole requests were served: what is left is less than one head.
            (state.phase, state.ahead, state.parsed) = (Phase::Head, 0, false);
        }
        if state.ahead < AHEAD {
            return Before::Read;
        }
        match state.phase {
            Phase::Request => {
                state.waiting = Some(waker.clone());
                Before::Wait
            }
            Phase::Rest => {
                state.ahead = 0;
                Before::Turn
            }
            _ if state.parsed => Before::TooLarge,
            _ => {
                state.parsed = true;
                Before::Turn
            }
        }
    }

    fn has_read(&self, bytes: usize) {
        self.0.borrow_mut().ahead += bytes;
    }

    /// Whether a head has begun, and not ended.
    fn in_head(&self) -> bool {
        let state = self.0.borrow();
        state.phase == Phase::Head && state.ahead > 0
    }

    fn begin(&self) {
        self.0.borrow_mut().phase = Phase::Request;
    }

    /// The request's reader has had everything.
    fn taken(&self) {
        let state = &mut *self.0.borrow_mut();
        state.ahead = 0;
        state.waiting.take().into_iter().for_each(Waker::wake);
    }

    fn answered(&self, whole: bool) {
        let state = &mut *self.0.borrow_mut();
        state.phase = if whole { Phase::Answered } else { Phase::Rest };
        state.waiting.take().into_iter().for_each(Waker::wake);
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match this.intake.before_read(cx.waker()) {
            Before::Read => {}
            Before::Wait => return Poll::Pending,
            Before::Turn => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Before::TooLarge => {
                this.end(TOO_LARGE);
                return Poll::Ready(Ok(()));
            }
        }
        if !this.intake.in_head() {
            this.late = None;
        }
        let before = buf.filled().len();
        if let Poll::Ready(read) = Pin::new(&mut this.io).poll_read(cx, buf) {
            this.intake.has_read(buf.filled().len() - before);
            return Poll::Ready(read);
        }
        if this.intake.in_head() {
            ready!(this.late.get_or_insert_with(|| Box::pin(sleep(HEAD_WITHIN))).as_mut().poll_unpin(cx));
            this.end(TOO_LATE);
            return Poll::Ready(Ok(()));
        }
        Poll::Pending
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.io).poll_write(cx, bytes);
        this.unsent = !matches!(written, Poll::Ready(Ok(n)) if n == bytes.len());
        written
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use actix_web::rt::net::TcpListener;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[actix_web::test]
    async fn while_a_request_is_served_no_more_is_read_than_is_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let mut connection = Connection::new(listener.accept().await.unwrap().0);
        let intake = connection.intake();
        client.write_all(&[b'x'; 4 * AHEAD]).await.unwrap();
        let mut bytes = [0; 1024];
        for _ in 0..AHEAD / bytes.len() {
            connection.read_exact(&mut bytes).await.unwrap();
            intake.begin();
        }
        assert!(connection.io.peek(&mut bytes).await.unwrap() > 0);
        let read = poll_fn(|cx| {
            let mut buf = ReadBuf::new(&mut bytes);
            Poll::Ready(Pin::new(&mut connection).poll_read(cx, &mut buf).is_ready())
        });
        assert!(!read.await, "there is more, and it waits");
        let (more, ()) = tokio::join!(connection.read_exact(&mut bytes), async { intake.taken() });
        more.unwrap();
    }
}
