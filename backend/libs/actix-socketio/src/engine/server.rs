//! Server: its sessions, and its entry points for actix.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use actix::Addr;
use actix_http::header::HeaderMap;
use actix_web::rt::net::TcpStream;
use actix_web::web::ServiceConfig;
use dashmap::DashMap;

use super::admission::{Admission, Admissions};
use super::config::Config;
use super::error::{CloseReason, EngineError};
use super::handle::{Handle, Upper};
use super::origin::Verdict;
use super::sid::Sid;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::session::{CloseSession, Opening, Session};
use crate::transport::{self, Arrival};

/// An Engine.IO server. A clone is another handle to the same server: create one and clone it into every worker.
pub struct Engine<U: Upper>(Arc<EngineState<U>>);

struct EngineState<U: Upper> {
    config: Config,
    limits: Arc<Limits>,
    metrics: Arc<Metrics>,
    admissions: Arc<Admissions>,
    sessions: DashMap<Sid, Addr<Session<U>>>,
    shutting_down: AtomicBool,
    upper: Box<dyn Fn(Handle) -> U + Send + Sync>,
}

impl<U: Upper> Engine<U> {
    /// A server that runs on each session the application that `upper` creates.
    pub fn new(config: Config, upper: impl Fn(Handle) -> U + Send + Sync + 'static) -> Self {
        Self::counted(config, Arc::default(), upper)
    }

    /// The same, with counters that the layer above shares.
    pub(crate) fn counted(config: Config, metrics: Arc<Metrics>, upper: impl Fn(Handle) -> U + Send + Sync + 'static) -> Self {
        Self(Arc::new(EngineState {
            limits: Arc::new(config.limits.clone()),
            admissions: Arc::new(Admissions::new(&config.limits, Arc::clone(&metrics))),
            config,
            metrics,
            sessions: DashMap::new(),
            shutting_down: AtomicBool::new(false),
            upper: Box::new(upper),
        }))
    }

    /// Adds the routes of this server to an app: `App::new().configure(|c| engine.configure(c))`.
    pub fn configure(&self, service: &mut ServiceConfig) {
        transport::route(self, service);
    }

    /// The counters.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.0.metrics
    }

    /// Refuses new sessions, closes all open ones and waits until they are gone, at most `within`. True: all are.
    pub async fn shut_down(&self, within: Duration) -> bool {
        self.shut_down_over(Duration::ZERO, within).await
    }

    /// The same for one of several servers: open sessions are closed gradually over `spread`, or faster if they are few. So the other
    /// servers do not get all their clients at once. `within` starts after the last of these closes.
    pub async fn shut_down_over(&self, spread: Duration, within: Duration) -> bool {
        const LOOK_AGAIN: Duration = Duration::from_millis(10);
        self.0.shutting_down.store(true, SeqCst);
        let addresses: Vec<_> = self.0.sessions.iter().map(|entry| entry.value().clone()).collect();
        let (slice, pause) = slices(addresses.len(), spread);
        for (n, slice) in addresses.chunks(slice).enumerate() {
            if n > 0 && !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            for address in slice {
                address.do_send(CloseSession(CloseReason::ServerLeft));
            }
            tokio::task::yield_now().await;
        }
        let gone = async {
            while self.metrics().sessions_open.get() > 0 {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(within, gone).await.is_ok()
    }

    pub(crate) fn config(&self) -> &Config {
        &self.0.config
    }

    /// Whether the page behind a request may use this server.
    pub(crate) fn verdict(&self, headers: &HeaderMap, peer: Option<SocketAddr>) -> Verdict {
        self.config().origins.check(headers, self.config().sites.find(headers, peer))
    }

    pub(crate) fn limits(&self) -> &Arc<Limits> {
        &self.0.limits
    }

    pub(crate) fn upper(&self, handle: Handle) -> U {
        (self.0.upper)(handle)
    }

    /// Admits a new session, which has not joined.
    pub(crate) fn admit(&self, headers: &HeaderMap, peer: Option<SocketAddr>) -> Result<Admission, EngineError> {
        if self.0.shutting_down.load(SeqCst) {
            return Err(EngineError::TooManySessions);
        }
        let (admission, displaced) = self.0.admissions.admit(self.config().callers.find(headers, peer))?;
        // A session that is not registered yet finds out when it is.
        if let Some(Ok(session)) = displaced.map(|sid| self.find(sid)) {
            session.do_send(CloseSession(CloseReason::Displaced));
        }
        Ok(admission)
    }

    /// Starts a session on polling on this thread, and returns its handshake packet.
    pub(crate) fn open_polling(&self, opening: Opening) -> String {
        self.handshake(Session::open(self, opening, None), r#"["websocket"]"#)
    }

    /// Starts a session on a websocket on this thread.
    pub(crate) fn open_websocket(&self, opening: Opening, arrival: Arrival<TcpStream>) {
        Session::open(self, opening, Some(arrival));
    }

    pub(crate) fn handshake(&self, sid: Sid, upgrades: &str) -> String {
        let (limits, sid) = (self.limits(), self.config().sid_prefix.format(sid));
        format!(
            r#"0{{"sid":"{sid}","upgrades":{upgrades},"pingInterval":{},"pingTimeout":{},"maxPayload":{}}}"#,
            limits.ping_interval.as_millis(),
            limits.ping_timeout.as_millis(),
            limits.max_payload
        )
    }

    pub(crate) fn find(&self, sid: Sid) -> Result<Addr<Session<U>>, EngineError> {
        self.0.sessions.get(&sid).map(|entry| entry.value().clone()).ok_or(EngineError::UnknownSid)
    }

    pub(crate) fn enter(&self, sid: Sid, address: Addr<Session<U>>) {
        self.0.sessions.insert(sid, address);
        if self.0.shutting_down.load(SeqCst) {
            // The session was admitted just before the shutdown began.
            if let Some(entry) = self.0.sessions.get(&sid) {
                entry.value().do_send(CloseSession(CloseReason::ServerLeft));
            }
        }
    }

    pub(crate) fn leave(&self, sid: Sid) {
        self.0.sessions.remove(&sid);
    }
}

impl<U: Upper> Clone for Engine<U> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<U: Upper> fmt::Debug for Engine<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("config", &self.0.config).finish_non_exhaustive()
    }
}

/// Number of sessions to close at once, and the pause before the next ones.
fn slices(sessions: usize, spread: Duration) -> (usize, Duration) {
    const LEAST: usize = 16;
    const AT_ONCE: usize = 256;
    const PAUSE: Duration = Duration::from_millis(100);
    let pauses = usize::try_from(spread.as_millis() / PAUSE.as_millis()).unwrap_or(usize::MAX);
    if pauses == 0 { (AT_ONCE, Duration::ZERO) } else { (sessions.div_ceil(pauses).max(LEAST), PAUSE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_closed_within_the_spread_and_few_sooner() {
        let spread = Duration::from_secs(20);
        for sessions in [0, 1, 16, 17, 3_200, 3_201, 100_000] {
            let (slice, pause) = slices(sessions, spread);
            let slices = sessions.div_ceil(slice);
            assert!(pause * u32::try_from(slices).unwrap() <= spread, "{sessions}: {slices} of {slice}");
        }
        assert_eq!(slices(100, spread), (16, Duration::from_millis(100)));
        assert_eq!(slices(100_000, spread), (500, Duration::from_millis(100)));
        assert_eq!(slices(100_000, Duration::ZERO), (256, Duration::ZERO));
    }
}
