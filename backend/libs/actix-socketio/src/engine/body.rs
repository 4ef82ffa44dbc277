//! How the bodies of POSTs are read.

use std::fmt;
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::web::Payload;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use futures_util::future::LocalBoxFuture;

use super::error::EngineError;

type Read = dyn Fn(&HttpRequest, Payload, usize) -> LocalBoxFuture<'static, Result<Bytes, EngineError>> + Send + Sync;

/// Reads the body of a POST, at most so many bytes. The default bounds each body; a host that has to bound the sum of those that are
/// still on their way, its own included, brings a reader that does.
#[derive(Clone)]
pub struct Bodies(Arc<Read>);

impl Bodies {
    /// Reads with `read`. It fails with [`EngineError::PayloadTooLarge`], with [`EngineError::NoRoom`], and with
    /// [`EngineError::BadRequest`] when the client went away in the middle: its session goes too.
    pub fn new<F>(read: F) -> Self
    where
        F: Fn(&HttpRequest, Payload, usize) -> LocalBoxFuture<'static, Result<Bytes, EngineError>> + Send + Sync + 'static,
    {
        Self(Arc::new(read))
    }

    pub(crate) fn read(
        &self,
        request: &HttpRequest,
        body: Payload,
        max: usize,
    ) -> LocalBoxFuture<'static, Result<Bytes, EngineError>> {
        (self.0)(request, body, max)
    }
}

impl Default for Bodies {
    fn default() -> Self {
        Self::new(|_, body, max| Box::pin(collect(body, max)))
    }
}

impl fmt::Debug for Bodies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bodies")
    }
}

async fn collect(mut body: Payload, max: usize) -> Result<Bytes, EngineError> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|_| EngineError::BadRequest)?;
        if bytes.len() + chunk.len() > max {
            return Err(EngineError::PayloadTooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}
