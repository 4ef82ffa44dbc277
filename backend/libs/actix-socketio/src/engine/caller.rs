//! Whom a session counts against until it has joined.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use actix_http::header::HeaderMap;

/// Whoever opens a session. Callers share nothing: what one of them takes up is never another's loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The address it calls from. IPv6 counts per /64, which is the least that one customer of a provider gets.
    pub address: IpAddr,
    /// A client that the host knows, by a number of the host's: it has places of its own beside its address's.
    pub known: Option<u64>,
}

/// What a session takes up a place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Share {
    Address(IpAddr),
    Known(u64),
}

impl Caller {
    /// Whose shares are asked for a place, in that order.
    pub(super) fn shares(self) -> impl Iterator<Item = Share> {
        let address = match self.address.to_canonical() {
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
            v4 => v4,
        };
        self.known.map(Share::Known).into_iter().chain([Share::Address(address)])
    }
}

type TellCaller = dyn Fn(&HeaderMap, Option<SocketAddr>) -> Caller + Send + Sync;

/// How to tell a handshake's caller from its headers and its peer. The default knows nobody and believes no proxy: the peer's address.
#[derive(Clone)]
pub struct Callers(Arc<TellCaller>);

impl Callers {
    /// Asks `tell` at each handshake, on the thread that took it: it must be quick.
    pub fn new(tell: impl Fn(&HeaderMap, Option<SocketAddr>) -> Caller + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn tell(&self, headers: &HeaderMap, peer: Option<SocketAddr>) -> Caller {
        (self.0)(headers, peer)
    }
}

impl Default for Callers {
    fn default() -> Self {
        Self::new(|_, peer| {
            let address = peer.map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |peer| peer.ip());
            Caller { address, known: None }
        })
    }
}

impl fmt::Debug for Callers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callers")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_s_customer_is_one_address() {
        let of = |ip: &str| Caller { address: ip.parse().unwrap(), known: None }.shares().next();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2::"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
