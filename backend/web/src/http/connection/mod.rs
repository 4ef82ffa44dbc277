//! Limits of a connection: received bytes that are not processed yet, and responses that its client does not read. Without this stream,
//! actix-http reads 128 KiB of a connection ahead of the handler, buffers sixteen more requests, and times only the first head. The
//! stream passes on at most [`AHEAD`] bytes until the rest is requested, and times every head. The middleware (`request.rs`) reports
//! when a request begins, is read and ends.
//!
//! actix-http also queues up to sixteen responses behind one that the client does not read. Here a request waits until the previous
//! response was sent, and a response that is read more slowly than [`LEAST_BYTES_S`] ends its connection. When connections run short,
//! idle ones are closed (`registry.rs`).

mod registry;
mod request;

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use actix_web::rt::net::TcpStream;
use actix_web::rt::time::{Sleep, sleep};
use futures_util::FutureExt as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub use registry::{Connections, Place};
pub use request::{middleware, refuse_unread_bodies};

/// Unprocessed bytes beyond which a connection is not read. A longer head is refused.
const AHEAD: usize = 16 * 1024;
/// How long the head of a request may take.
pub const HEAD_WITHIN: Duration = Duration::from_secs(5);

/// How long a client may leave a response unread, …
const UNREAD_WITHIN: Duration = Duration::from_secs(10);
/// … plus one second for each time it has read this many bytes of it.
const LEAST_BYTES_S: u64 = 1024;

const TOO_LATE: &[u8] = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const TOO_LARGE: &[u8] = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// An accepted connection.
#[derive(Debug)]
pub struct Connection {
    io: TcpStream,
    intake: Intake,
    /// Timer for the head that has begun.
    late: Option<Pin<Box<Sleep>>>,
    /// The kernel did not accept all of the last write: a response is being sent, and nothing may be written in between.
    unsent: bool,
    reader: Reader,
    place: Option<Rc<Place>>,
}

/// How fast the client reads the response that is being sent. Only the time in which the kernel accepts no more bytes counts. A response
/// that the server produces slowly is not the client's fault.
#[derive(Debug, Default)]
struct Reader {
    /// Bytes accepted since the kernel's buffer was full for the first time. The bytes before that were only buffered, not read by the
    /// client.
    taken: u64,
    blocked: Duration,
    blocked_since: Option<Instant>,
    too_slow: Option<Pin<Box<Sleep>>>,
}

/// Receives the progress of a connection's requests. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Intake(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// Bytes that were passed on and not processed yet.
    ahead: usize,
    /// The parser has seen these bytes, and found no complete request in them.
    parsed: bool,
    waiting: Option<Waker>,
    /// The last response is complete but not entirely sent.
    unsent_answer: bool,
    /// The next request, which waits for that response.
    next: Option<Waker>,
    place: Option<Rc<Place>>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A head is awaited or being received.
    #[default]
    Head,
    /// A request is being processed.
    Request,
    /// The request was answered; the bytes that came with it may hold the next one.
    Answered,
    /// The request was answered before its body ended: the parser discards the rest and soon closes (`client_disconnect_timeout`).
    Rest,
}

/// What to do before a read.
enum Before {
    Read,
    /// Until the unprocessed bytes are read.
    Wait,
    /// Only until the parser has run.
    Turn,
    TooLarge,
}

impl Connection {
    pub fn new(io: TcpStream, place: Option<Place>) -> Self {
        let place = place.map(Rc::new);
        let intake = Intake(Rc::new(RefCell::new(State { place: place.clone(), ..State::default() })));
        Self { io, intake, late: None, unsent: false, reader: Reader::default(), place }
    }

    pub fn tcp(&self) -> &TcpStream {
        &self.io
    }

    pub fn intake(&self) -> Intake {
        self.intake.clone()
    }

    /// Ends the connection; its reader sees it as closed by the client.
    fn end(&self, answer: &[u8]) {
        if !self.unsent {
            let _ = self.io.try_write(answer);
        }
    }
}

impl Reader {
    fn took(&mut self, bytes: usize) {
        if self.blocked_since.is_some() || !self.blocked.is_zero() {
            self.taken += bytes as u64;
        }
        self.blocked += self.blocked_since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.too_slow = None;
    }

    /// Ready when the client has read too little of the response.
    fn poll_too_slow(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let blocked = self.blocked + self.blocked_since.get_or_insert_with(Instant::now).elapsed();
        let left = (UNREAD_WITHIN + Duration::from_secs(self.taken / LEAST_BYTES_S)).saturating_sub(blocked);
        self.too_slow.get_or_insert_with(|| Box::pin(sleep(left))).as_mut().poll_unpin(cx)
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
            // All complete requests were processed: less than one head is left.
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

    /// Whether a head has begun and is not complete.
    fn in_head(&self) -> bool {
        let state = self.0.borrow();
        state.phase == Phase::Head && state.ahead > 0
    }

    fn begin(&self) {
        let state = &mut *self.0.borrow_mut();
        state.phase = Phase::Request;
        state.place.iter().for_each(|place| place.busy());
    }

    /// Waits until the previous response was sent.
    async fn sent(&self) {
        poll_fn(|cx| {
            let state = &mut *self.0.borrow_mut();
            if !state.unsent_answer {
                return Poll::Ready(());
            }
            state.next = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Reports that all response bytes were sent. Returns whether this completed a response.
    fn flushed(&self) -> bool {
        let state = &mut *self.0.borrow_mut();
        state.next.take().into_iter().for_each(Waker::wake);
        let ended = std::mem::take(&mut state.unsent_answer);
        if ended && state.phase != Phase::Request {
            state.place.iter().for_each(|place| place.idle());
        }
        ended
    }

    /// Reports that the request's reader has received all bytes that were passed on.
    fn taken(&self) {
        let state = &mut *self.0.borrow_mut();
        state.ahead = 0;
        state.waiting.take().into_iter().for_each(Waker::wake);
    }

    fn answered(&self, whole: bool) {
        let state = &mut *self.0.borrow_mut();
        state.phase = if whole { Phase::Answered } else { Phase::Rest };
        state.unsent_answer = true;
        state.waiting.take().into_iter().for_each(Waker::wake);
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.place.as_ref().is_some_and(|place| place.ends(cx)) {
            return Poll::Ready(Ok(()));
        }
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
        match written {
            Poll::Ready(Ok(n)) => this.reader.took(n),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                ready!(this.reader.poll_too_slow(cx));
                if let Some(place) = &this.place {
                    place.slow_closed().inc();
                    tracing::info!(error = "a client took nothing of an answer for 10 s", "a connection is closed");
                }
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        written
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // Flushing is requested only after everything was written.
        if this.intake.flushed() {
            this.reader = Reader::default();
        }
        Pin::new(&mut this.io).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use actix_web::rt::net::TcpListener;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[actix_web::test]
    async fn while_a_request_is_served_no_more_is_read_than_is_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let mut connection = Connection::new(listener.accept().await.unwrap().0, None);
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
