//! Body that keeps a value until it is sent or dropped. It is sent in pieces, because data that waits to be written is copied for each
//! connection.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_web::body::{BodySize, MessageBody};
use actix_web::web::Bytes;
use pin_project_lite::pin_project;

/// The largest piece.
const PIECE_BYTES: usize = 16 * 1024;

pin_project! {
    /// Drops the kept value together with the body: at this moment the response is over.
    pub struct KeptBody<B, K> {
        #[pin]
        body: B,
        _kept: K,
        // The part of `body`'s last piece that is still to be sent.
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
