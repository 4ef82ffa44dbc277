//! A body that keeps something until it is sent or given up, and goes out in pieces: what waits to be written is copied for each connection.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_web::body::{BodySize, MessageBody};
use actix_web::web::Bytes;
use pin_project_lite::pin_project;

/// The most that goes out at once.
const PIECE_BYTES: usize = 16 * 1024;

pin_project! {
    /// What it keeps is dropped with it: that is the moment in which the answer is over.
    pub struct KeptBody<B, K> {
        #[pin]
        body: B,
        _kept: K,
        // What was given by `body` and is still to be sent.
        rest: Bytes,
    }
}

impl<B, K> KeptBody<B, K> {
    pub fn new(body: B, kept: K) -> Self {
        Self { body, _kept: kept, rest: Bytes::new() }
    }
}

impl<B: MessageBody, K> MessageBody for KeptBody<B, K> {
    type Error = B::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, B::Error>>> {
        let this = self.project();
        if this.rest.is_empty() {
            match ready!(this.body.poll_next(cx)) {
                Some(Ok(bytes)) => *this.rest = bytes,
                end => return Poll::Ready(end),
            }
        }
        let piece = this.rest.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(this.rest.split_to(piece))))
    }
}
