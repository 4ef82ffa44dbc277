//! Pool of kept connections for concurrent requests.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Semaphore;

use super::{KeptConnection, ServerAnswer, TIME_LIMIT};

/// How often a call is sent again that the overloaded server refuses.
const MAX_RETURNS: u32 = 30;

/// Pool of connections to one server.
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    to: SocketAddr,
    idle: Mutex<Vec<KeptConnection>>,
    permits: Semaphore,
}

impl Pool {
    /// Pool with which at most `size` requests run at once; further ones wait.
    pub fn new(to: SocketAddr, size: usize) -> Self {
        Self(Arc::new(Inner { to, idle: Mutex::default(), permits: Semaphore::new(size) }))
    }

    pub fn address(&self) -> SocketAddr {
        self.0.to
    }

    /// Sends one request with the login `token`.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn call(&self, method: &str, path: &str, token: &str, body: &Value) -> io::Result<ServerAnswer> {
        self.call_within(TIME_LIMIT, method, path, token, body).await
    }

    /// As [`Pool::call`], with its own time limit. Each request has a new idempotency key: it is repeated once when the server had closed
    /// the connection, and must not have its effect twice.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn call_within(
        &self,
        limit: Duration,
        method: &str,
        path: &str,
        token: &str,
        body: &Value,
    ) -> io::Result<ServerAnswer> {
        let _permit = self.0.permits.acquire().await.map_err(io::Error::other)?;
        let (auth, once) = (format!("Bearer {token}"), format!("{:032x}", rand::random::<u128>()));
        let all = [("authorization", auth.as_str()), ("idempotency-key", once.as_str())];
        let headers = if token.is_empty() { &[] } else { &all[..] };
        if let Some(mut kept) = self.idle() {
            match kept.ask(method, path, headers, body, limit).await {
                Ok(answer) => return Ok(self.keep(kept, answer)),
                Err(e) if e.kind() == io::ErrorKind::TimedOut => return Err(e),
                Err(_) => {}
            }
        }
        let mut fresh = KeptConnection::open(self.0.to).await?;
        let answer = fresh.ask(method, path, headers, body, limit).await?;
        Ok(self.keep(fresh, answer))
    }

    /// As [`Pool::call_within`], and again after `Retry-After` while the overloaded server refuses it: for calls that prepare a measurement or
    /// check it.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn call_patiently(
        &self,
        limit: Duration,
        method: &str,
        path: &str,
        token: &str,
        body: &Value,
    ) -> io::Result<ServerAnswer> {
        let mut returns = 0;
        loop {
            let answer = self.call_within(limit, method, path, token, body).await?;
            match answer.refused_for().filter(|_| returns < MAX_RETURNS) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Ok(answer),
            }
            returns += 1;
        }
    }

    fn idle(&self) -> Option<KeptConnection> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn keep(&self, connection: KeptConnection, answer: ServerAnswer) -> ServerAnswer {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        answer
    }
}
