//! Whose address a request counts against (docs/decisions/0021-only-listed-proxies-name-an-address.md).

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

use actix_socketio::Site;
use actix_web::HttpRequest;
use actix_web::http::header::HeaderMap;

use crate::domain::address::{Address, Block};

const FORWARDED: &str = "x-forwarded-for";

/// Whether a proxy that is not trusted was warned about: one line is enough, and each request of a stranger could make another.
static WARNED: AtomicBool = AtomicBool::new(false);

/// The address a limit counts: the right-most `X-Forwarded-For` entry that is not a trusted proxy, and only when the peer is
/// one; IPv6 per /64.
pub fn counted(req: &HttpRequest, trusted: &[Block]) -> Address {
    of(req.peer_addr(), req.headers(), trusted).into()
}

/// Whether the customer's side of the connection is encrypted, as far as a trusted proxy says so: this server speaks no TLS.
pub fn over_tls(req: &HttpRequest, trusted: &[Block]) -> bool {
    asked_site(req.peer_addr(), req.headers(), trusted).tls
}

/// The site that a customer's browser asked: `Host`, or what a trusted proxy says of the request that it was given itself.
pub fn asked_site<'r>(peer: Option<SocketAddr>, headers: &'r HeaderMap, trusted: &[Block]) -> Site<'r> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
    let own = Site { host: text("host"), tls: false };
    if !peer.is_some_and(|peer| is_trusted(peer.ip().to_canonical(), trusted)) {
        return own;
    }
    // The first proxy's word comes first.
    let forwarded = text("x-forwarded-host").and_then(|hosts| hosts.split(',').next()).map(str::trim);
    let tls = text("x-forwarded-proto").is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
    Site { host: forwarded.filter(|host| !host.is_empty()).or(own.host), tls }
}

/// The address that `counted` tells, in full; of requests for a websocket too, which no middleware sees.
pub fn of(peer: Option<SocketAddr>, headers: &HeaderMap, trusted: &[Block]) -> IpAddr {
    let peer = peer.map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |a| a.ip());
    let forwarded: Vec<&str> =
        headers.get_all(FORWARDED).filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(',')).map(str::trim).collect();
    if !forwarded.is_empty() && !is_trusted(peer.to_canonical(), trusted) && !WARNED.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            %peer,
            "a peer that is not trusted sends X-Forwarded-For; if it is your proxy, name it in http.trusted_proxies: until then \
             all customers behind it count as one address and share its limits"
        );
    }
    customer(peer, &forwarded, trusted)
}

fn is_trusted(ip: IpAddr, trusted: &[Block]) -> bool {
    trusted.iter().any(|b| b.contains(ip))
}

fn customer(peer: IpAddr, forwarded: &[&str], trusted: &[Block]) -> IpAddr {
    let mut ip = peer.to_canonical();
    for hop in forwarded.iter().rev() {
        if !is_trusted(ip, trusted) {
            break;
        }
        match address(hop) {
            Some(next) => ip = next.to_canonical(),
            None => break,
        }
    }
    ip
}

/// One entry: some proxies add the port, `1.2.3.4:5678` and `[::1]:443`.
fn address(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(hop);
    bare.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|a| a.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed() {
        let trusted = [Block::parse("127.0.0.0/8").unwrap(), Block::parse("10.0.0.1").unwrap()];
        let of = |peer: &str, xff: &[&str]| customer(peer.parse().unwrap(), xff, &trusted).to_string();
        assert_eq!(of("203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
        assert_eq!(of("127.0.0.1", &["198.51.100.1", "203.0.113.5"]), "203.0.113.5");
        assert_eq!(of("127.0.0.1", &["203.0.113.5", "10.0.0.1"]), "203.0.113.5");
        assert_eq!(of("127.0.0.1", &["nonsense"]), "127.0.0.1");
        assert_eq!(of("127.0.0.1", &[]), "127.0.0.1");
        assert_eq!(of("::ffff:127.0.0.1", &["::ffff:192.0.2.1"]), "192.0.2.1");
    }

    #[test]
    fn ipv6_counts_per_64() {
        let counted = |ip: &str| Address::from(ip.parse::<IpAddr>().unwrap());
        let (v6, v4) = (counted("2001:db8:1:2:3:4:5:6"), counted("192.0.2.1"));
        assert_eq!((v6.to_string().as_str(), v4.to_string().as_str()), ("2001:db8:1:2::/64", "192.0.2.1"));
        assert_eq!(v6, counted("2001:db8:1:2:ffff::"));
        assert_eq!(v6.site(), counted("2001:db8:1:ffff::").site());
        assert_ne!(v6.site(), counted("2001:db8:2:2::").site());
        assert_eq!(v4.site(), None);
    }

    #[test]
    fn an_entry_with_a_port_counts_as_its_address() {
        for (hop, ip) in [
            ("192.0.2.1:5678", "192.0.2.1"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
        ] {
            assert_eq!(address(hop), Some(ip.parse().unwrap()), "{hop}");
        }
        for hop in ["192.0.2.1:", "192.0.2.1:65536", "[2001:db8::1", "[]:1", "unknown", ""] {
            assert_eq!(address(hop), None, "{hop}");
        }
    }

    #[test]
    fn only_a_trusted_proxy_names_another_site() {
        use actix_web::http::header::{HeaderName, HeaderValue};
        let trusted = [Block::parse("127.0.0.1").unwrap()];
        let of = |peer: &str, headers: &[(&'static str, &'static str)]| {
            let pairs = headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            let headers: HeaderMap = pairs.collect();
            let site = asked_site(Some(peer.parse().unwrap()), &headers, &trusted);
            (site.host.unwrap_or_default().to_owned(), site.tls)
        };
        let told = [("host", "inner:8080"), ("x-forwarded-host", "cuci.example, other"), ("x-forwarded-proto", "https")];
        assert_eq!(of("127.0.0.1:1", &told), ("cuci.example".to_owned(), true));
        assert_eq!(of("203.0.113.9:1", &told), ("inner:8080".to_owned(), false));
        assert_eq!(of("127.0.0.1:1", &told[..1]), ("inner:8080".to_owned(), false));
        assert_eq!(of("127.0.0.1:1", &[("host", "a"), ("x-forwarded-host", "")]), ("a".to_owned(), false));
        assert_eq!(of("127.0.0.1:1", &[]), (String::new(), false));
    }

    #[test]
    fn a_bad_block_is_named() {
        for bad in ["x", "10.0.0.0/33", "::/129", "10.0.0.0/"] {
            assert!(Block::parse(bad).unwrap_err().contains(bad));
        }
        for (text, ip) in [(" 10.0.0.0/8 ", "10.1.2.3"), ("::ffff:10.0.0.0/104", "10.1.2.3"), ("::ffff:192.0.2.1", "192.0.2.1")] {
            assert!(Block::parse(text).unwrap().contains(ip.parse().unwrap()), "{text}");
        }
    }
}
