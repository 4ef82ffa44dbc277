//! The address that a request counts against (docs/decisions/0021-only-listed-proxies-name-an-address.md).

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

use actix_socketio::Site;
use actix_web::HttpRequest;
use actix_web::http::header::{HOST, HeaderMap, HeaderValue};

use nyala_core::domain::address::{Address, Block};
use nyala_store::config::HttpSettings;

const FORWARDED: &str = "x-forwarded-for";
const FORWARDED_HOST: &str = "x-forwarded-host";
const PROTO: &str = "x-forwarded-proto";

/// Whether a warning about an untrusted proxy was logged. One line is enough; otherwise each request of a stranger could add another.
static WARNED: AtomicBool = AtomicBool::new(false);

/// The address that limits count: the right-most `X-Forwarded-For` entry that is not a trusted proxy, if the peer is a trusted proxy.
/// IPv6 counts per /64.
pub fn counted(req: &HttpRequest, trusted: &[Block]) -> Address {
    of(req.peer_addr(), req.headers(), trusted).into()
}

/// Whether the client's side of the connection is encrypted, according to a trusted proxy: this server itself speaks no TLS.
pub fn over_tls(req: &HttpRequest, http: &HttpSettings) -> bool {
    asked_site(req.peer_addr(), req.headers(), http).tls
}

/// The site that a customer's browser requested: `Host`, or, with `http.forwarded_host`, the value from a trusted proxy. With several
/// proxies the first value counts: it comes from the proxy on the customer's side.
pub fn asked_site<'r>(peer: Option<SocketAddr>, headers: &'r HeaderMap, http: &HttpSettings) -> Site<'r> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    if !peer.is_some_and(|peer| is_trusted(peer.ip().to_canonical(), &http.trusted_proxies)) {
        return Site { host, tls: false };
    }
    let is_scheme = |item: &&str| ["http", "https"].iter().any(|scheme| item.eq_ignore_ascii_case(scheme));
    let tls = items(headers, PROTO).flatten().find(is_scheme).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
    let forwarded = http.forwarded_host.then(|| forwarded_host(headers)).flatten();
    Site { host: forwarded.or(host), tls }
}

/// The first host in `X-Forwarded-Host`, from any sender.
fn forwarded_host(headers: &HeaderMap) -> Option<&str> {
    items(headers, FORWARDED_HOST).flatten().next()
}

/// The items of a list in a header, which may span several lines. Each is checked separately: `None` for one that is not plain text.
/// Empty items do not count (RFC 9110 §5.6.1.2).
fn items<'r>(headers: &'r HeaderMap, name: &'static str) -> impl DoubleEndedIterator<Item = Option<&'r str>> {
    let lines: Vec<&[u8]> = headers.get_all(name).map(HeaderValue::as_bytes).collect();
    let items = lines.into_iter().flat_map(|line| line.split(|b| *b == b',')).map(<[u8]>::trim_ascii);
    items.filter(|item| !item.is_empty()).map(|item| std::str::from_utf8(item).ok().filter(|item| item.is_ascii()))
}

/// The address of `counted` in full. It also works for websocket requests, which bypass the middleware.
pub fn of(peer: Option<SocketAddr>, headers: &HeaderMap, trusted: &[Block]) -> IpAddr {
    let peer = peer.map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |a| a.ip());
    let hops: Vec<Option<&str>> = items(headers, FORWARDED).collect();
    if !hops.is_empty() && !is_trusted(peer.to_canonical(), trusted) && !WARNED.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            %peer,
            "a peer that is not trusted sends X-Forwarded-For; if it is your proxy, name it in http.trusted_proxies: until then \
             all customers behind it count as one address and share its limits"
        );
    }
    customer(peer, &hops, trusted)
}

fn is_trusted(ip: IpAddr, trusted: &[Block]) -> bool {
    trusted.iter().any(|b| b.contains(ip))
}

fn customer(peer: IpAddr, hops: &[Option<&str>], trusted: &[Block]) -> IpAddr {
    let mut ip = peer.to_canonical();
    for hop in hops.iter().rev() {
        if !is_trusted(ip, trusted) {
            break;
        }
        match hop.and_then(address) {
            Some(next) => ip = next.to_canonical(),
            None => break,
        }
    }
    ip
}

/// Parses one entry: some proxies add the port, `1.2.3.4:5678` and `[::1]:443`.
fn address(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(hop);
    bare.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|a| a.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_accepted() {
        let trusted = [Block::parse("127.0.0.0/8").unwrap(), Block::parse("10.0.0.1").unwrap()];
        let of = |peer: &str, xff: &[&str]| {
            let hops: Vec<_> = xff.iter().copied().map(Some).collect();
            customer(peer.parse().unwrap(), &hops, &trusted).to_string()
        };
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

    fn settings(forwarded_host: bool) -> HttpSettings {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config");
        let mut http = nyala_store::config::ServerSettings::load(Some(&dir), &[]).unwrap().http;
        (http.forwarded_host, http.trusted_proxies) = (forwarded_host, vec![Block::parse("127.0.0.1").unwrap()]);
        http
    }

    fn headers(pairs: &[(&'static str, &[u8])]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name = actix_web::http::header::HeaderName::from_static(name);
            headers.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    #[test]
    fn only_a_trusted_proxy_names_another_site_and_only_where_the_setting_says_so() {
        let of = |peer: &str, pairs: &[(&'static str, &[u8])], forwarded_host: bool| {
            let headers = headers(pairs);
            let http = settings(forwarded_host);
            let site = asked_site(Some(peer.parse().unwrap()), &headers, &http);
            (site.host.unwrap_or_default().to_owned(), site.tls)
        };
        let values: [(&str, &[u8]); 3] =
            [("host", b"inner:8080"), ("x-forwarded-host", b"cuci.example, other"), ("x-forwarded-proto", b"https")];
        assert_eq!(of("127.0.0.1:1", &values, true), ("cuci.example".to_owned(), true));
        assert_eq!(of("127.0.0.1:1", &values, false), ("inner:8080".to_owned(), true));
        assert_eq!(of("203.0.113.9:1", &values, true), ("inner:8080".to_owned(), false));
        assert_eq!(of("127.0.0.1:1", &values[..1], true), ("inner:8080".to_owned(), false));
        assert_eq!(of("127.0.0.1:1", &[("host", b"a"), ("x-forwarded-host", b"")], true), ("a".to_owned(), false));
        assert_eq!(of("127.0.0.1:1", &[], true), (String::new(), false));
    }

    #[test]
    fn the_scheme_of_the_customers_side_counts() {
        for (values, tls) in [
            (&b"https"[..], true),
            (b"https, http", true),
            (b"HTTPS,http", true),
            (b" , https", true),
            (b"\xc3\xa9, https, http", true),
            (b"http, https", false),
            (b"http", false),
            (b"httpss", false),
            (b"", false),
        ] {
            let headers = headers(&[("x-forwarded-proto", values)]);
            assert_eq!(asked_site(Some("127.0.0.1:1".parse().unwrap()), &headers, &settings(false)).tls, tls, "{values:?}");
        }
    }

    #[test]
    fn an_invalid_list_item_leaves_the_others_valid() {
        let of = |lines: &[&[u8]]| {
            let pairs: Vec<_> = lines.iter().map(|line| ("x-forwarded-for", *line)).collect();
            self::of(Some("127.0.0.1:1".parse().unwrap()), &headers(&pairs), &settings(false).trusted_proxies).to_string()
        };
        assert_eq!(of(&[b"\xc3\xa9, 203.0.113.7"]), "203.0.113.7");
        assert_eq!(of(&[b"\xff", b"203.0.113.7, 127.0.0.1"]), "203.0.113.7");
        assert_eq!(of(&[b"198.51.100.1, 203.0.113.7,"]), "203.0.113.7");
        assert_eq!(
            of(&[b"203.0.113.7, \xc3\xa9"]),
            "127.0.0.1",
            "what stands before a word that nobody understands is nobody's word"
        );
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
