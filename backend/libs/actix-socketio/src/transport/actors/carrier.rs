//! Carrier: the actor that writes a session's frames into the response to an upgrade request.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix::{Actor, ActorContext as _, AsyncContext as _, StreamHandler};
use actix_web::Error;
use actix_web_actors::ws::{Message, ProtocolError, WebsocketContext};
use bytes::Bytes;
use futures_util::stream::{LocalBoxStream, Stream, StreamExt as _, pending};

use super::shared::{Batch, Shared, close_message};

struct Carrier {
    shared: Arc<Shared>,
}

/// The body of the response to an upgrade request.
pub(super) fn body(shared: Arc<Shared>) -> impl Stream<Item = Result<Bytes, Error>> {
    let turn = Rc::new(Cell::new(false));
    let outlet = Outlet { shared: shared.clone(), turn: turn.clone() };
    let carrier = Carrier { shared: shared.clone() };
    let start = move |ctx: &mut WebsocketContext<Carrier>| {
        ctx.add_stream(outlet);
        carrier
    };
    ResponseBody { frames: WebsocketContext::with_factory(pending(), start).boxed_local(), shared, turn }
}

impl Actor for Carrier {
    type Context = WebsocketContext<Self>;
}

impl StreamHandler<Batch> for Carrier {
    fn handle(&mut self, batch: Batch, ctx: &mut Self::Context) {
        let metrics = self.shared.metrics();
        metrics.frames_sent.add(batch.frames.size().count as u64 + u64::from(batch.close.is_some()));
        for message in batch.frames.into_messages().chain(batch.close.map(close_message)) {
            ctx.write_raw(message);
        }
        if batch.last {
            ctx.stop();
        }
    }
}

/// Required by the context, but never called: this crate's own decoder reads the messages.
impl StreamHandler<Result<Message, ProtocolError>> for Carrier {
    fn handle(&mut self, _: Result<Message, ProtocolError>, _: &mut Self::Context) {}
}

/// Source of the carrier's batches: one each time that its connection asks for more.
struct Outlet {
    shared: Arc<Shared>,
    turn: Rc<Cell<bool>>,
}

impl Stream for Outlet {
    type Item = Batch;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Batch>> {
        let batch = if self.turn.take() { self.shared.take() } else { None };
        batch.map_or(Poll::Pending, |batch| Poll::Ready(Some(batch))) // needs no waker: the body is woken
    }
}

struct ResponseBody {
    frames: LocalBoxStream<'static, Result<Bytes, Error>>,
    shared: Arc<Shared>,
    turn: Rc<Cell<bool>>,
}

impl Stream for ResponseBody {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.turn.set(true);
        let polled = self.frames.poll_next_unpin(cx);
        match &polled {
            Poll::Ready(Some(Ok(bytes))) => {
                let metrics = self.shared.metrics();
                metrics.writes.add(1);
                metrics.bytes_sent.add(bytes.len() as u64);
            }
            Poll::Pending if !self.shared.rest(cx) => cx.waker().wake_by_ref(),
            Poll::Ready(_) | Poll::Pending => {}
        }
        polled
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        self.shared.connection_ended();
    }
}
