//! Addresses of the internet: what a limit counts, and blocks of them in the settings.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize, Serializer};

/// An address block such as `10.0.0.0/8`, `::1` or `192.0.2.7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    base: IpAddr,
    prefix_bits: u8,
}

impl Block {
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let bad = || format!("`{text}` is no address or block of addresses such as 10.0.0.0/8");
        let (addr, prefix) = text.split_once('/').map_or((text, None), |(a, p)| (a, Some(p)));
        let base: IpAddr = addr.parse().map_err(|_| bad())?;
        let max = if base.is_ipv4() { 32 } else { 128 };
        let prefix_bits = prefix.map_or(Ok(max), |p| p.parse().map_err(|_| bad()))?;
        // Peers are compared by their IPv4 address, however it is written.
        match base.to_canonical() {
            _ if prefix_bits > max => Err(bad()),
            base if base.is_ipv4() && max == 128 && prefix_bits >= 96 => Ok(Self { base, prefix_bits: prefix_bits - 96 }),
            _ => Ok(Self { base, prefix_bits }),
        }
    }

    pub fn contains(&self, ip: IpAddr) -> bool {
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

/// What a limit counts: an IPv4 address, or the /64 of an IPv6 one, given by its upper half.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    V4(u32),
    V6(u64),
}

impl Address {
    /// The upper 48 bits of an IPv6 address, which is what one customer of a provider may have; `None` for IPv4.
    pub fn site(self) -> Option<u64> {
        match self {
            Self::V4(_) => None,
            Self::V6(upper) => Some(upper >> 16),
        }
    }
}

impl Address {
    /// The block of `bits` around it, as it is written: `192.0.2.0/24`, `2001:db8:1:200::/56`; an IPv4 address is its own /32.
    pub fn block(self, bits: u32) -> String {
        match self {
            Self::V4(_) if bits >= 32 => self.to_string(),
            Self::V4(address) => format!("{}/{bits}", Ipv4Addr::from_bits(address & !(u32::MAX >> bits))),
            Self::V6(upper) => {
                let upper = upper & !u64::MAX.checked_shr(bits).unwrap_or(0);
                format!("{}/{bits}", Ipv6Addr::from_bits(u128::from(upper) << 64))
            }
        }
    }
}

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        match ip {
            IpAddr::V4(v4) => Self::V4(v4.to_bits()),
            IpAddr::V6(v6) => Self::V6((v6.to_bits() >> 64) as u64),
        }
    }
}

/// `192.0.2.1` or `2001:db8:1:2::/64`.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(bits) => Ipv4Addr::from_bits(*bits).fmt(f),
            Self::V6(upper) => write!(f, "{}/64", Ipv6Addr::from_bits(u128::from(*upper) << 64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_around_an_address_is_written_with_its_bits() {
        let v4 = Address::from("198.51.100.7".parse::<IpAddr>().unwrap());
        assert_eq!((v4.block(32), v4.block(24)), ("198.51.100.7".to_owned(), "198.51.100.0/24".to_owned()));
        let v6 = Address::from("2001:db8:1:2f3::9".parse::<IpAddr>().unwrap());
        assert_eq!(v6.block(64), v6.to_string());
        assert_eq!((v6.block(56), v6.block(48)), ("2001:db8:1:200::/56".to_owned(), "2001:db8:1::/48".to_owned()));
    }
}
