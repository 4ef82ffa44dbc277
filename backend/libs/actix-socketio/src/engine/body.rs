//! Reading of POST bodies.

use std::fmt;
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::web::Payload;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use futures_util::future::LocalBoxFuture;

use super::error::EngineError;

type Read = dyn Fn(&HttpRequest, Payload, usize) -> LocalBoxFuture<'static, Result<Bytes, EngineError>> + Send + Sync;

/// Reads the body of a POST, up to a maximum size. The default limits each body. A host that must limit the sum of all unfinished
/// bodies, including those of its own routes, provides its own reader.
#[derive(Clone)]
pub struct Bodies(Arc<Read>);

impl Bodies {
    /// Reads with `read`. It fails with [`EngineError::PayloadTooLarge`], with [`EngineError::NoRoom`], and with
    /// [`EngineError::BadRequest`] when the client disconnected in the middle: this also ends its session.
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
