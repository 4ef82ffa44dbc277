//! A body that keeps something until it is sent or given up.

use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use actix_web::web::Bytes;
use pin_project_lite::pin_project;

pin_project! {
    /// What it keeps is dropped with it: that is the moment in which the answer is over.
    pub struct KeptBody<B, K> {
        #[pin]
        body: B,
        _kept: K,
    }
}

impl<B, K> KeptBody<B, K> {
    pub fn new(body: B, kept: K) -> Self {
        Self { body, _kept: kept }
    }
}

impl<B: MessageBody, K> MessageBody for KeptBody<B, K> {
    type Error = B::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, B::Error>>> {
        self.project().body.poll_next(cx)
    }
}
