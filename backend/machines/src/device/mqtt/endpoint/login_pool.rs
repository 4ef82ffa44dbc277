//! Pool of connections that have not logged in: it has a limit and is shared fairly by address. When it is full, the newest connection of
//! the address with the most connections makes room. No address has a fixed number of places: all machines of an outlet share one
//! address.
//!
//! It is not `FairPool` of actix-socketio, whose largest holder always loses its oldest item. Here the newest one goes, so that a device that
//! is slow to log in survives a flood; holders count in two levels; and among equals only a stale connection makes room.
//!
//! Addresses count twice: separately (IPv4, or the /64 of an IPv6 one), and together with their network (the /48 of an IPv6 one).

use std::collections::{BTreeMap, HashMap};

use nyala_core::domain::address::Address;
use nyala_core::domain::timestamp::Timestamp;

use super::shared::SlotKey;
use crate::device::mqtt::conversation::ConnectionId;

/// Age in milliseconds at which a connection makes room for a new one even when no network has more connections than the others.
const STALE_MS: i64 = 1_000;

/// Result for a new connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// There is a free place.
    Free,
    /// This connection must be closed first.
    Evict(SlotKey),
    /// No connection makes room: the new one is refused.
    Full,
}

#[derive(Debug)]
pub struct LoginPool {
    max: usize,
    /// Key is network, address and number, so that a later connection of an address follows an earlier one.
    places: BTreeMap<(Address, Address, ConnectionId), PoolSlot>,
    by_network: HashMap<Address, usize>,
}

#[derive(Debug, Clone, Copy)]
struct PoolSlot {
    key: SlotKey,
    since: Timestamp,
}

/// Network of an address: the /48 of an IPv6 address; an IPv4 address is its own network.
fn network(address: Address) -> Address {
    address.site().map_or(address, |site| Address::V6(site << 16))
}

impl LoginPool {
    pub fn new(max: usize) -> Self {
        Self { max, places: BTreeMap::new(), by_network: HashMap::new() }
    }

    /// Decides which connection makes room for one from `address`. `is_full`: another limit than the pool's own is reached.
    pub fn admission(&self, address: Address, is_full: bool, now: Timestamp) -> Admission {
        if self.places.len() < self.max && !is_full {
            return Admission::Free;
        }
        let own_network = network(address);
        let own = self.by_network.get(&own_network).copied().unwrap_or(0);
        let Some((&fullest, &largest)) = self.by_network.iter().max_by_key(|(_, held)| **held) else { return Admission::Full };
        let newest = if largest > own + 1 {
            self.newest_of_fullest(fullest, None)
        } else if own == largest {
            self.newest_of_fullest(own_network, Some(address))
        } else {
            None
        };
        newest.or_else(|| self.oldest_stale(largest, now)).map_or(Admission::Full, Admission::Evict)
    }

    /// The newest connection of the address with the most connections in a network; `None` when `than`, with one more, would have as many.
    fn newest_of_fullest(&self, network: Address, than: Option<Address>) -> Option<SlotKey> {
        let mut held: HashMap<Address, (usize, SlotKey)> = HashMap::new();
        for ((_, address, _), place) in self.of_network(network) {
            let entry = held.entry(*address).or_insert((0, place.key));
            *entry = (entry.0 + 1, place.key);
        }
        let own = than.and_then(|than| held.get(&than)).map_or(0, |(count, _)| *count);
        let (largest, newest) = held.into_values().max_by_key(|(count, _)| *count)?;
        (than.is_none() || largest > own + 1).then_some(newest)
    }

    /// The oldest connection of the networks that have `largest` connections, if it is stale.
    fn oldest_stale(&self, largest: usize, now: Timestamp) -> Option<SlotKey> {
        let fullest = self.by_network.iter().filter(|(_, held)| **held == largest);
        let places = fullest.flat_map(|(network, _)| self.of_network(*network));
        let oldest = places.map(|(_, place)| place).min_by_key(|place| (place.since, place.key.id))?;
        (oldest.since.ms_until(now) >= STALE_MS).then_some(oldest.key)
    }

    fn of_network(&self, network: Address) -> impl Iterator<Item = (&(Address, Address, ConnectionId), &PoolSlot)> {
        let from = (network, Address::V4(0), ConnectionId(0));
        let to = (network, Address::V6(u64::MAX), ConnectionId(u64::MAX));
        self.places.range(from..=to)
    }

    pub fn insert(&mut self, key: SlotKey, address: Address, since: Timestamp) {
        let network = network(address);
        if self.places.insert((network, address, key.id), PoolSlot { key, since }).is_none() {
            *self.by_network.entry(network).or_default() += 1;
        }
    }

    /// Removes a connection and returns when it came; `None` when it is not in the pool.
    pub fn remove(&mut self, key: SlotKey, address: Address) -> Option<Timestamp> {
        let network = network(address);
        let place = self.places.remove(&(network, address, key.id))?;
        match self.by_network.get_mut(&network) {
            Some(held) if *held > 1 => *held -= 1,
            _ => _ = self.by_network.remove(&network),
        }
        Some(place.since)
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    struct Pool {
        pool: LoginPool,
        last: u64,
    }

    impl Pool {
        fn new(max: usize) -> Self {
            Self { pool: LoginPool::new(max), last: 0 }
        }

        /// Adds a connection from `ip`: returns its number and the connection that it displaced, or `None` when it was refused.
        fn come(&mut self, ip: &str, now_ms: i64) -> Option<(u64, Option<u64>)> {
            let (address, now) = (Address::from(ip.parse::<IpAddr>().unwrap()), Timestamp::from_ms(now_ms));
            let displaced = match self.pool.admission(address, false, now) {
                Admission::Free => None,
                Admission::Full => return None,
                Admission::Evict(key) => {
                    let (_, at, _) = *self.pool.places.iter().find(|(_, place)| place.key == key).unwrap().0;
                    self.pool.remove(key, at).unwrap();
                    Some(key.id.0)
                }
            };
            self.last += 1;
            self.pool.insert(SlotKey { at: 0, id: ConnectionId(self.last) }, address, now);
            Some((self.last, displaced))
        }
    }

    #[test]
    fn the_newest_of_the_address_that_holds_most_makes_room() {
        let mut pool = Pool::new(4);
        assert_eq!(pool.come("192.0.2.9", 0), Some((1, None)));
        for number in 2..=4 {
            assert_eq!(pool.come("203.0.113.1", 0), Some((number, None)));
        }
        assert_eq!(pool.come("198.51.100.7", 0), Some((5, Some(4))));
        assert_eq!(pool.come("203.0.113.1", 0), None, "it takes no place from who holds less");
        assert_eq!(pool.come("203.0.113.1", 1_000), Some((6, Some(2))), "its own oldest is stale");
        assert_eq!(pool.come("192.0.2.9", 1_000), Some((7, Some(3))), "nobody holds more than a fair share: the oldest is stale");
        assert_eq!(pool.come("192.0.2.9", 1_000), Some((8, Some(1))));
        assert_eq!(pool.come("192.0.2.9", 1_000), None);
    }

    #[test]
    fn a_slow_connection_survives_a_flood_from_another_address() {
        let mut pool = Pool::new(10);
        let (slow, _) = pool.come("192.0.2.9", 0).unwrap();
        for n in 0..5_000 {
            let came = pool.come("203.0.113.1", n);
            assert!(came.is_none_or(|(_, displaced)| displaced != Some(slow)));
        }
        assert!(pool.come("192.0.2.9", 5_000).is_some_and(|(_, displaced)| displaced.is_some_and(|number| number != slow)));
    }

    #[test]
    fn addresses_of_one_ipv6_site_count_together() {
        let mut pool = Pool::new(6);
        for n in 0..5 {
            assert!(pool.come(&format!("2001:db8:1:{n}::1"), 0).is_some());
        }
        assert!(pool.come("2001:db8:2:1::1", 0).is_some());
        let (_, displaced) = pool.come("2001:db8:2:2::1", 0).unwrap();
        assert!(displaced.is_some_and(|number| number <= 5), "{displaced:?} is of the site that holds five");
        // Within the fuller site, a /64 without a connection displaces none of those that have one each.
        assert_eq!(pool.come("2001:db8:1:9::1", 0), None);
    }

    #[test]
    fn nothing_is_left_of_connections_that_are_gone() {
        let mut pool = Pool::new(100);
        let ips: Vec<String> = (0..100).map(|n| format!("2001:db8:{}:{}::1", n % 7, n % 11)).collect();
        for (n, ip) in ips.iter().enumerate() {
            assert_eq!(pool.come(ip, 0), Some((n as u64 + 1, None)));
        }
        for (n, ip) in ips.iter().enumerate() {
            let key = SlotKey { at: 0, id: ConnectionId(n as u64 + 1) };
            assert!(pool.pool.remove(key, ip.parse::<IpAddr>().unwrap().into()).is_some());
        }
        assert!(pool.pool.places.is_empty() && pool.pool.by_network.is_empty());
    }
}
