//! Whose address a request counts against (design: money, security).

use std::net::{IpAddr, Ipv6Addr};

use actix_web::HttpRequest;
use serde::{Deserialize, Serialize, Serializer};

/// An address block such as `10.0.0.0/8`, `::1` or `192.0.2.7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    base: IpAddr,
    prefix_bits: u8,
}

impl Block {
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` bukan alamat atau blok alamat seperti 10.0.0.0/8");
        let (addr, prefix) = text.split_once('/').map_or((text, None), |(a, p)| (a, Some(p)));
        let base: IpAddr = addr.parse().map_err(|_| bad())?;
        let max = if base.is_ipv4() { 32 } else { 128 };
        let prefix_bits = prefix.map_or(Ok(max), |p| p.parse().map_err(|_| bad()))?;
        if prefix_bits > max { Err(bad()) } else { Ok(Self { base, prefix_bits }) }
    }

    fn contains(&self, ip: IpAddr) -> bool {
        match (self.base, ip) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                same_prefix(u128::from(a.to_bits()) << 96, u128::from(b.to_bits()) << 96, self.prefix_bits)
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => same_prefix(a.to_bits(), b.to_bits(), self.prefix_bits),
            _ => false,
        }
    }
}

fn same_prefix(a: u128, b: u128, bits: u8) -> bool {
    bits == 0 || (a ^ b) >> (128 - u32::from(bits)) == 0
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&format_args!("{}/{}", self.base, self.prefix_bits))
    }
}

/// The address a limit counts: the right-most `X-Forwarded-For` entry that is not a trusted proxy, and only when the peer is
/// one; IPv6 per /64.
pub fn counted(req: &HttpRequest, trusted: &[Block]) -> String {
    let peer = req.peer_addr().map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |a| a.ip());
    let forwarded: Vec<&str> = req
        .headers()
        .get_all("x-forwarded-for")
        .filter_map(|v| v.to_str().ok())
        .flat_map(|v| v.split(','))
        .map(str::trim)
        .collect();
    counted_of(peer, &forwarded, trusted)
}

fn counted_of(peer: IpAddr, forwarded: &[&str], trusted: &[Block]) -> String {
    let is_trusted = |ip: IpAddr| trusted.iter().any(|b| b.contains(ip));
    let mut ip = peer.to_canonical();
    for hop in forwarded.iter().rev() {
        if !is_trusted(ip) {
            break;
        }
        match hop.parse::<IpAddr>() {
            Ok(next) => ip = next.to_canonical(),
            Err(_) => break,
        }
    }
    match ip {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => format!("{}/64", Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed() {
        let trusted = [Block::parse("127.0.0.0/8").unwrap(), Block::parse("10.0.0.1").unwrap()];
        let of = |peer: &str, xff: &[&str]| counted_of(peer.parse().unwrap(), xff, &trusted);
        assert_eq!(of("203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
        assert_eq!(of("127.0.0.1", &["198.51.100.1", "203.0.113.5"]), "203.0.113.5");
        assert_eq!(of("127.0.0.1", &["203.0.113.5", "10.0.0.1"]), "203.0.113.5");
        assert_eq!(of("127.0.0.1", &["nonsense"]), "127.0.0.1");
        assert_eq!(of("127.0.0.1", &[]), "127.0.0.1");
    }

    #[test]
    fn ipv6_counts_per_64() {
        assert_eq!(counted_of("2001:db8:1:2:3:4:5:6".parse().unwrap(), &[], &[]), "2001:db8:1:2::/64");
        assert_eq!(counted_of("::ffff:192.0.2.1".parse().unwrap(), &[], &[]), "192.0.2.1");
    }

    #[test]
    fn a_bad_block_is_named() {
        for bad in ["x", "10.0.0.0/33", "::/129", "10.0.0.0/"] {
            assert!(Block::parse(bad).unwrap_err().contains(bad));
        }
    }
}
