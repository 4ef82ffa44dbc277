//! Caller that a session counts against until it joins.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use actix_http::header::HeaderMap;

/// Client that opens a session. Callers have separate limits: the sessions of one never take places from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The client's address. IPv6 counts per /64, the smallest range that a provider gives to one customer.
    pub address: IpAddr,
    /// The host's number of a client that it knows. Such a client has its own places in addition to those of its address.
    pub known: Option<u64>,
}

/// The owner of a place: a session that has not joined takes up one of its places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Share {
    Address(IpAddr),
    Known(u64),
}

impl Caller {
    /// The shares in which a place is searched, in this order.
    pub(super) fn shares(self) -> impl Iterator<Item = Share> {
        let address = match self.address.to_canonical() {
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
            v4 => v4,
        };
        self.known.map(Share::Known).into_iter().chain([Share::Address(address)])
    }
}

type FindCaller = dyn Fn(&HeaderMap, Option<SocketAddr>) -> Caller + Send + Sync;

/// Determines the caller of a handshake from its headers and its peer. The default is the peer's address: it trusts no proxy and
/// knows no clients.
#[derive(Clone)]
pub struct Callers(Arc<FindCaller>);

impl Callers {
    /// Calls `find` at each handshake, on the thread that accepted it: it must be fast.
    pub fn new(find: impl Fn(&HeaderMap, Option<SocketAddr>) -> Caller + Send + Sync + 'static) -> Self {
        Self(Arc::new(find))
    }

    pub(crate) fn find(&self, headers: &HeaderMap, peer: Option<SocketAddr>) -> Caller {
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
