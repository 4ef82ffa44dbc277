//! Websocket on the thread of its session. Writes go directly to the kernel, and an idle socket holds no buffer.
//!
//! Only complete frames are dropped. If the kernel took a part of a frame, the rest is written first when the socket is writable
//! again. Frames that must not be dropped wait behind it, within limits.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::net::Shutdown;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::rt::net::TcpStream;
use actix_web::rt::task::JoinHandle;
use bytes::Bytes;
use socket2::SockRef;

use crate::codec::close_frame;
use crate::limits::{Limits, Size};
use crate::metrics::Metrics;

/// Maximum bytes of several frames that are copied together for one write.
const MAX_GATHERED: usize = 16 * 1024;

thread_local!(static GATHERED: RefCell<Vec<u8>> = RefCell::new(Vec::with_capacity(MAX_GATHERED)));

/// The fields that every frame needs are adjacent: with many sockets, none is in the processor's cache when a frame is sent.
#[repr(C)]
pub(crate) struct RawSocket {
    queue: RefCell<Queue>,
    /// The kernel's send buffer is full; a task waits until the socket is writable.
    blocked: Cell<bool>,
    io: TcpStream,
    limits: Arc<Limits>,
    metrics: Arc<Metrics>,
    writer: Cell<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    frames: VecDeque<QueuedFrame>,
    /// Bytes of all frames, the written part of the first one included.
    bytes: usize,
    /// Bytes of the first frame that are already written.
    begun: usize,
}

struct QueuedFrame {
    frame: Bytes,
    volatile: bool,
}

impl Queue {
    /// Removes `n` written bytes, and returns the number of frames that they completed.
    fn advance(&mut self, n: usize) -> u64 {
        self.begun += n;
        let mut done = 0;
        while let Some(first) = self.frames.front() {
            let length = first.frame.len();
            if self.begun < length {
                break;
            }
            self.begun -= length;
            self.bytes -= length;
            self.frames.pop_front();
            done += 1;
        }
        done
    }

    /// Drops the volatile frames that are not partly written, and returns their number.
    fn drop_volatile(&mut self) -> u64 {
        let before = self.frames.len();
        let mut begun = self.begun > 0;
        self.frames.retain(|queued| std::mem::take(&mut begun) || !queued.volatile);
        self.bytes = self.frames.iter().map(|queued| queued.frame.len()).sum();
        (before - self.frames.len()) as u64
    }
}

impl RawSocket {
    /// Takes over a socket, which this thread's runtime serves from now on.
    pub fn new(io: TcpStream, limits: Arc<Limits>, metrics: Arc<Metrics>) -> Rc<Self> {
        metrics.websockets_open.add(1);
        let (queue, writer, blocked) = (RefCell::default(), Cell::default(), Cell::new(false));
        Rc::new(Self { io, limits, metrics, queue, writer, blocked })
    }

    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub fn io(&self) -> &TcpStream {
        &self.io
    }

    /// Whether `more` frames may be queued. A first frame that is alone in the queue may be larger than the limit,
    /// so that one large packet always fits.
    pub fn has_room(&self, more: Size, volatile: bool) -> bool {
        let queue = self.queue.borrow();
        let Some(first) = queue.frames.front() else {
            return true;
        };
        let queued = Size { count: queue.frames.len(), bytes: queue.bytes - first.frame.len() };
        !(volatile && self.blocked.get()) && (queued + more).fits(self.limits.max_queued())
    }

    /// Queues a frame for the next flush.
    pub fn put(&self, frame: Bytes, volatile: bool) {
        let mut queue = self.queue.borrow_mut();
        queue.bytes += frame.len();
        queue.frames.push_back(QueuedFrame { frame, volatile });
    }

    /// Writes what is queued, in one write where the kernel takes it.
    pub fn flush(self: &Rc<Self>) {
        if self.blocked.get() {
            return;
        }
        match self.write() {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.blocked.set(true);
                let dropped = self.queue.borrow_mut().drop_volatile();
                self.metrics.frames_dropped.add(dropped);
                if self.queue.borrow().frames.is_empty() {
                    self.blocked.set(false); // no frame is left that must be sent
                } else {
                    self.writer.set(Some(actix_web::rt::spawn(self.clone().write_on())));
                }
            }
            Err(_) => self.break_off(),
        }
    }

    /// Writes until the queue is empty. `WouldBlock`: the kernel's send buffer is full.
    fn write(&self) -> io::Result<()> {
        let mut queue = self.queue.borrow_mut();
        while let Some(first) = queue.frames.front() {
            let begun = first.frame.get(queue.begun..).unwrap_or_default();
            let alone = queue.frames.len() == 1 || begun.len() >= MAX_GATHERED;
            let written = if alone { self.send(begun) } else { self.send_gathered(begun, &queue.frames) }?;
            self.metrics.writes.add(1);
            self.metrics.bytes_sent.add(written as u64);
            self.metrics.frames_sent.add(queue.advance(written));
        }
        queue.frames = VecDeque::new(); // an idle socket holds no buffer
        Ok(())
    }

    /// Writes several frames as one copied piece: copying a few hundred bytes is cheaper than a vectored write.
    fn send_gathered(&self, begun: &[u8], frames: &VecDeque<QueuedFrame>) -> io::Result<usize> {
        GATHERED.with_borrow_mut(|gathered| {
            gathered.clear();
            gathered.extend_from_slice(begun);
            for queued in frames.iter().skip(1) {
                if gathered.len() + queued.frame.len() > MAX_GATHERED {
                    break;
                }
                gathered.extend_from_slice(&queued.frame);
            }
            self.send(gathered)
        })
    }

    /// Writes to the kernel directly, without the runtime's cached readiness. If the kernel's send buffer is full, the runtime is
    /// notified, so that `writable` waits.
    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let socket = SockRef::from(&self.io);
        match socket.send(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.io.try_write(bytes),
            sent => sent,
        }
    }

    /// Continues to write when the socket is writable again.
    async fn write_on(self: Rc<Self>) {
        loop {
            if self.io.writable().await.is_err() {
                return self.break_off();
            }
            match self.write() {
                Ok(()) => return self.blocked.set(false),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return self.break_off(),
            }
        }
    }

    /// Breaks the connection off: its reader sees the end and closes the session.
    fn break_off(&self) {
        *self.queue.borrow_mut() = Queue::default();
        let _ = SockRef::from(&self.io).shutdown(Shutdown::Both);
    }

    /// Sends the queue and a close frame with this code; without a code, breaks off.
    pub fn close(self: &Rc<Self>, code: Option<u16>) {
        if let Some(writer) = self.writer.take() {
            writer.abort();
        }
        let Some(code) = code else {
            return self.break_off();
        };
        self.put(close_frame(code), false);
        let (socket, within) = (self.clone(), self.limits.close_timeout);
        actix_web::rt::spawn(async move {
            let _ = tokio::time::timeout(within, socket.clone().part()).await;
            socket.break_off(); // ends a reader that may still exist
        });
    }

    /// Writes the rest, then waits until the client closes: closing a socket with unread input would reset the connection and could
    /// lose the last frames.
    async fn part(self: Rc<Self>) {
        loop {
            match self.write() {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
            if self.io.writable().await.is_err() {
                return;
            }
        }
        let _ = SockRef::from(&self.io).shutdown(Shutdown::Write);
        while self.io.readable().await.is_ok() {
            match super::inbound::discard(&self.io) {
                Ok(0) => return,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return,
                _ => {}
            }
        }
    }
}

impl Drop for RawSocket {
    fn drop(&mut self) {
        self.metrics.websockets_open.sub(1);
    }
}
