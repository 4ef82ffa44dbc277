//! Configuration of a server.

use super::body::Bodies;
use super::caller::Callers;
use super::error::EngineError;
use super::origin::{Origins, Sites};
use super::sid::SidPrefix;
use crate::limits::Limits;

/// Configuration of a server: `Config::default().path("/live/").limits(Limits { max_payload: 10_000, ..Limits::default() })`.
#[derive(Debug, Clone)]
pub struct Config {
    pub(crate) path: String,
    pub(crate) sid_prefix: SidPrefix,
    pub(crate) origins: Origins,
    pub(crate) sites: Sites,
    pub(crate) limits: Limits,
    pub(crate) callers: Callers,
    pub(crate) bodies: Bodies,
    pub(crate) error_body: fn(EngineError) -> String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            path: "/socket.io/".into(),
            sid_prefix: SidPrefix::default(),
            origins: Origins::default(),
            sites: Sites::default(),
            limits: Limits::default(),
            callers: Callers::default(),
            bodies: Bodies::default(),
            error_body: EngineError::to_json,
        }
    }
}

impl Config {
    /// The path of every request, with a slash at the end. Default `/socket.io/`.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Prefix of all session ids: the name of this server behind a load balancer, which forwards requests with such a `sid` here.
    /// Letters, digits, `-` and `_`, which need no escape in a URL. Default: empty.
    #[must_use]
    pub fn sid_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.sid_prefix = SidPrefix(prefix.into());
        self
    }

    /// Web pages that may connect. Default: those of the same host.
    #[must_use]
    pub fn origins(mut self, origins: Origins) -> Self {
        self.origins = origins;
        self
    }

    /// The site that a request was sent to. Default: its `Host`, which is right where no proxy changes it.
    #[must_use]
    pub fn sites(mut self, sites: Sites) -> Self {
        self.sites = sites;
        self
    }

    /// All limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The caller that a handshake counts against. Default: its peer's address, which is right without a proxy in front of the server.
    #[must_use]
    pub fn callers(mut self, callers: Callers) -> Self {
        self.callers = callers;
        self
    }

    /// The reader of POST bodies. Default: each body within `max_payload`, without a limit of their number.
    #[cfg(feature = "host")]
    #[must_use]
    pub fn bodies(mut self, bodies: Bodies) -> Self {
        self.bodies = bodies;
        self
    }

    /// The body of an error answer. Default: the reference server's ([`EngineError::to_json`]).
    #[must_use]
    pub fn error_body(mut self, body: fn(EngineError) -> String) -> Self {
        self.error_body = body;
        self
    }
}
