//! How a server is set up.

use super::body::Bodies;
use super::caller::Callers;
use super::error::EngineError;
use super::origin::{Origins, Sites};
use super::sid::SidPrefix;
use crate::limits::Limits;

/// How a server is set up: `Config::default().path("/live/").limits(Limits { max_payload: 10_000, ..Limits::default() })`.
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
    /// The path of every request, with the slash at its end. Default `/socket.io/`.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// What the ids of its sessions begin with: the name of this server among others behind a load balancer, which sends what has that
    /// `sid` here. Of letters, digits, `-` and `_`, which need no escape in an address. Default: nothing.
    #[must_use]
    pub fn sid_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.sid_prefix = SidPrefix(prefix.into());
        self
    }

    /// Which web pages may connect. Default: those of the same host.
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

    /// Every bound.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whom a handshake counts against. Default: its peer's address, which is right where no proxy stands before the server.
    #[must_use]
    pub fn callers(mut self, callers: Callers) -> Self {
        self.callers = callers;
        self
    }

    /// How a POST's body is read. Default: each within `max_payload`, however many there are.
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
