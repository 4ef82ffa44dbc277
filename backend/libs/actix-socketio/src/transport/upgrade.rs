//! Upgrade requests for a websocket. actix-http hands over each one as a raw connection, for any path and method, outside of the app
//! and its middleware. The connection is taken apart and its socket moves to the thread of its session, so that neither the
//! dispatcher nor HTTP buffers stay in memory.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_codec::{Framed, FramedParts};
use actix_http::body::{BodySize, BoxBody, MessageBody};
use actix_http::h1::{Codec, Message};
use actix_http::ws::handshake_response;
use actix_http::{Request, Response, ResponseHead, StatusCode};
use actix_service::{ServiceFactory, fn_service};
use actix_web::rt::net::TcpStream;
use bytes::BytesMut;
use futures_util::future::LocalBoxFuture;
use tokio::io::AsyncWriteExt as _;
use tokio_util::codec::Encoder as _;

use super::http::error_response;
use super::websocket::Arrival;
use crate::engine::{Engine, Upper};

/// Time limit of sending the answer to an upgrade; its few bytes always fit into an empty send buffer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection after its request.
struct Raw {
    request: Request,
    io: TcpStream,
    codec: Codec,
    early: BytesMut,
    unsent: BytesMut,
    before_answer: fn(&Request, &mut ResponseHead),
}

/// A type-erased server.
trait Mounted: Send + Sync {
    fn path(&self) -> &str;
    fn admit(&self, raw: Raw) -> LocalBoxFuture<'_, io::Result<()>>;
}

/// The upgrade service of one or more servers: `HttpService::build().upgrade(upgrades.service())`.
#[derive(Clone)]
pub struct Upgrades {
    mounted: Vec<Arc<dyn Mounted>>,
    otherwise: fn(&Request) -> Response<BoxBody>,
    before_answer: fn(&Request, &mut ResponseHead),
}

impl Default for Upgrades {
    fn default() -> Self {
        Self { mounted: Vec::new(), otherwise: |_| Response::not_found().map_into_boxed_body(), before_answer: |_, _| {} }
    }
}

impl Upgrades {
    /// Serves the websockets of `engine`, at its path.
    #[must_use]
    pub fn mount<U: Upper>(mut self, engine: &Engine<U>) -> Self {
        self.mounted.push(Arc::new(engine.clone()));
        self
    }

    /// Answers upgrade requests for all other paths. Default: 404 without a body. Only sized bodies are sent.
    #[must_use]
    pub fn otherwise(mut self, answer: fn(&Request) -> Response<BoxBody>) -> Self {
        self.otherwise = answer;
        self
    }

    /// Adds headers to every answer of this service, the 101 included: no middleware of the app sees them.
    #[must_use]
    pub fn before_answer(mut self, add: fn(&Request, &mut ResponseHead)) -> Self {
        self.before_answer = add;
        self
    }

    /// The service for [`actix_http::HttpServiceBuilder::upgrade`]; a host with its own stream type converts it back to the socket.
    pub fn service<T: Into<TcpStream> + 'static>(
        &self,
    ) -> impl ServiceFactory<
        (Request, Framed<T, Codec>),
        Config = (),
        Response = (),
        Error = Infallible,
        InitError = (),
        Future: 'static,
        Service: 'static,
    > + use<T> {
        let upgrades = Rc::new(self.clone());
        fn_service(move |(request, framed): (Request, Framed<T, Codec>)| {
            let upgrades = upgrades.clone();
            async move {
                if let Err(error) = upgrades.serve(request, framed).await {
                    tracing::debug!(%error, "upgrade not answered");
                }
                Ok(())
            }
        })
    }

    async fn serve<T: Into<TcpStream>>(&self, request: Request, framed: Framed<T, Codec>) -> io::Result<()> {
        let FramedParts { io, codec, read_buf, write_buf, .. } = framed.into_parts();
        let raw = Raw { request, io: io.into(), codec, early: read_buf, unsent: write_buf, before_answer: self.before_answer };
        match self.mounted.iter().find(|server| server.path() == raw.request.path()) {
            Some(server) => server.admit(raw).await,
            None => {
                let response = (self.otherwise)(&raw.request);
                raw.refuse(response).await
            }
        }
    }
}

impl fmt::Debug for Upgrades {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.mounted.iter().map(|server| server.path())).finish()
    }
}

impl Raw {
    /// Writes a response head, and its body if it has one.
    async fn answer(&mut self, mut response: Response<BoxBody>) -> io::Result<()> {
        (self.before_answer)(&self.request, response.head_mut());
        let (response, body) = response.into_parts();
        let body = body.try_into_bytes().unwrap_or_default();
        let size = match response.status() {
            StatusCode::SWITCHING_PROTOCOLS => BodySize::None,
            _ => BodySize::Sized(body.len() as u64),
        };
        self.codec.encode(Message::Item((response, size)), &mut self.unsent)?;
        self.unsent.extend_from_slice(&body);
        let bytes = std::mem::take(&mut self.unsent);
        tokio::time::timeout(ANSWER_TIMEOUT, self.io.write_all(&bytes)).await?
    }

    async fn refuse(mut self, mut response: Response<BoxBody>) -> io::Result<()> {
        response.head_mut().set_connection_type(actix_http::ConnectionType::Close);
        self.answer(response).await?;
        self.io.shutdown().await
    }
}

impl<U: Upper> Engine<U> {
    async fn admit_websocket(&self, mut raw: Raw) -> io::Result<()> {
        match self.entry(raw.request.head(), raw.io.peer_addr().ok()) {
            Err(error) => raw.refuse(error_response(self, error)).await,
            Ok(entry) => {
                let switch = handshake_response(raw.request.head()).finish().map_into_boxed_body();
                raw.answer(switch).await?;
                entry.enter(self, Arrival::Raw(raw.io, raw.early))
            }
        }
    }
}

impl<U: Upper> Mounted for Engine<U> {
    fn path(&self) -> &str {
        &self.config().path
    }

    fn admit(&self, raw: Raw) -> LocalBoxFuture<'_, io::Result<()>> {
        Box::pin(self.admit_websocket(raw))
    }
}
