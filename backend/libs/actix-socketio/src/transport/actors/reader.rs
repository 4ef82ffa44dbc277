//! Reader: passes a client's messages to its session.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use actix_web::web::Payload;
use bytes::BytesMut;
use futures_util::Stream as _;
use tokio::sync::mpsc;
use tokio_util::sync::PollSender;

use super::outbox::Outbox;
use super::shared::{ReaderState, Shared};
use crate::metrics::Metrics;
use crate::transport::SocketEvent;
use crate::transport::inbound::{Reader, Source};

/// The client's bytes after its handshake.
struct ClientBytes {
    payload: Payload,
    shared: Arc<Shared>,
}

impl Source for ClientBytes {
    fn poll_bytes(&mut self, cx: &mut Context<'_>, buffer: &mut BytesMut) -> Poll<Option<usize>> {
        let Some(Ok(bytes)) = ready!(Pin::new(&mut self.payload).poll_next(cx)) else {
            return Poll::Ready(None);
        };
        buffer.extend_from_slice(&bytes);
        Poll::Ready(Some(bytes.len()))
    }

    fn metrics(&self) -> &Metrics {
        self.shared.metrics()
    }
}

/// Reads until the connection or the session ends, and no faster than the session takes messages: the rest stays in the kernel. After
/// the payload is dropped, actix-http reads the rest and drops it.
pub(super) async fn read(shared: Arc<Shared>, payload: Payload, session: PollSender<SocketEvent>, max_payload: usize) {
    let reader = Reader::new(ClientBytes { payload, shared: shared.clone() }, BytesMut::new(), max_payload);
    let mut feed = Some(Feed { reader, session });
    poll_fn(|cx| {
        let look = shared.look(cx);
        if look != ReaderState::Over
            && let Some(live) = &mut feed
            && live.poll(look == ReaderState::ConnectionEnded, cx).is_ready()
        {
            feed = None;
        }
        if look == ReaderState::Over || (look == ReaderState::ConnectionEnded && feed.is_none()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

struct Feed {
    reader: Reader<ClientBytes>,
    session: PollSender<SocketEvent>,
}

impl Feed {
    /// Passes on the events that are available; ready after the last one.
    fn poll(&mut self, connection_ended: bool, cx: &mut Context<'_>) -> Poll<()> {
        while ready!(self.session.poll_reserve(cx)).is_ok() {
            let event = match self.reader.poll_event(cx) {
                Poll::Ready(event) => event,
                Poll::Pending if connection_ended => SocketEvent::Gone,
                Poll::Pending => return Poll::Pending,
            };
            let last = !matches!(event, SocketEvent::Message(_));
            if self.session.send_item(event).is_err() || last {
                break;
            }
        }
        Poll::Ready(())
    }
}

/// The session's end of the channel.
pub(crate) struct Inbox {
    outbox: Rc<Outbox>,
    messages: mpsc::Receiver<SocketEvent>,
}

impl Inbox {
    pub(super) fn new(outbox: Rc<Outbox>, messages: mpsc::Receiver<SocketEvent>) -> Self {
        Self { outbox, messages }
    }

    /// The next event, once the session's answers to earlier ones have been handed over.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<SocketEvent> {
        ready!(self.outbox.poll_pace(cx));
        // The thread of the connection may end without a last event.
        self.messages.poll_recv(cx).map(|event| event.unwrap_or(SocketEvent::Gone))
    }
}
