//! How many sockets customers have at the other servers: each tells what changes, and now and then all. Without news nothing is known, and a
//! customer has ten sockets at each (docs/decisions/0034-news-says-where-to-look.md).

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nyala_cluster::news::{Notification, Notifier, Received, SILENT_AFTER};
use tokio::time::{MissedTickBehavior, interval};

use super::LOOK_EVERY;
use super::seats::SocketSessions;

/// What has changed is told together.
const TELL_EVERY: Duration = Duration::from_millis(100);
/// Customers whose sockets one other server may report; what it reports beyond is not counted.
const MAX_CUSTOMERS: usize = 100_000;
/// Sockets of one customer that another server may report; more count as so many.
const MAX_SOCKETS: usize = 1_000;
/// Customers in one message.
const TOLD_AT_ONCE: usize = 1_000;

/// What the others have told, and what is to be told to them.
#[derive(Debug, Default)]
pub struct OtherServers {
    counts: Mutex<HashMap<i64, SocketCount>>,
    /// `None` where nobody is told.
    changed: Mutex<Option<HashSet<i64>>>,
}

/// By one server.
#[derive(Debug)]
struct SocketCount {
    counts: HashMap<i64, usize>,
    heard_at: Instant,
}

impl OtherServers {
    /// Sockets of the customer at servers that have just been heard.
    pub fn of(&self, id_customer_global: i64) -> usize {
        let lives = |told: &&SocketCount| told.heard_at.elapsed() < SILENT_AFTER;
        self.counts().values().filter(lives).filter_map(|told| told.counts.get(&id_customer_global)).sum()
    }

    /// A socket of the customer has come here, or has gone.
    pub fn changed(&self, id_customer_global: i64) {
        if let Some(changed) = &mut *self.to_tell() {
            changed.insert(id_customer_global);
        }
    }

    /// That server is there, and has so many sockets of these customers. Whether it is a new one.
    fn heard(&self, from: i64, of: &[(i64, usize)]) -> bool {
        let (now, mut counts) = (Instant::now(), self.counts());
        counts.retain(|_, told| told.heard_at.elapsed() < SILENT_AFTER);
        let is_new = !counts.contains_key(&from);
        let told = counts.entry(from).or_insert_with(|| SocketCount { counts: HashMap::new(), heard_at: now });
        told.heard_at = now;
        for (customer, count) in of {
            match count {
                0 => _ = told.counts.remove(customer),
                count if told.counts.len() < MAX_CUSTOMERS || told.counts.contains_key(customer) => {
                    told.counts.insert(*customer, (*count).min(MAX_SOCKETS));
                }
                _ => {}
            }
        }
        is_new
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<i64, SocketCount>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn to_tell(&self) -> MutexGuard<'_, Option<HashSet<i64>>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells and hears as long as the server lives; of use only where there is news.
pub async fn follow(seats: &SocketSessions, news: &Notifier) {
    let (mut told, here) = (news.listen(), &seats.other_servers);
    let (mut tell, mut tell_all) = (interval(TELL_EVERY), interval(LOOK_EVERY));
    tell.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tell_all.set_missed_tick_behavior(MissedTickBehavior::Delay);
    here.to_tell().get_or_insert_default();
    loop {
        let customers: Vec<i64> = tokio::select! {
            _ = tell.tick() => here.to_tell().as_mut().map(|changed| changed.drain().collect()).unwrap_or_default(),
            // Whoever has missed something knows it now.
            _ = tell_all.tick() => seats.seated(),
            heard = told.next() => match heard {
                Received::Notification { from, hint: Notification::Sockets { of } } if here.heard(from, &of) => seats.seated(),
                Received::Notification { from, hint: Notification::Pulse } if here.heard(from, &[]) => seats.seated(),
                // A count may be among what did not come: all are told again within 30 s.
                Received::Missed => {
                    here.counts().clear();
                    continue;
                }
                _ => continue,
            },
        };
        for some in customers.chunks(TOLD_AT_ONCE) {
            news.notify(Notification::Sockets { of: some.iter().map(|customer| (*customer, seats.count(*customer))).collect() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_have_told_is_added_up_and_the_newest_counts() {
        let other_servers = OtherServers::default();
        assert!(other_servers.heard(1, &[(7, 3), (8, 1)]));
        assert!(!other_servers.heard(1, &[(7, 2)]));
        assert!(other_servers.heard(2, &[(7, 4)]));
        assert_eq!([7, 8, 9].map(|customer| other_servers.of(customer)), [6, 1, 0]);
        other_servers.heard(2, &[(7, 0)]);
        assert_eq!(other_servers.of(7), 2);
    }

    #[test]
    fn reported_counts_have_limits() {
        let other_servers = OtherServers::default();
        other_servers.heard(1, &[(7, usize::MAX)]);
        other_servers.heard(2, &[(7, usize::MAX)]);
        assert_eq!(other_servers.of(7), 2 * MAX_SOCKETS);
        let many: Vec<_> = (0..).map(|customer| (customer, 1)).take(MAX_CUSTOMERS + 10).collect();
        other_servers.heard(3, &many);
        assert_eq!(other_servers.counts()[&3].counts.len(), MAX_CUSTOMERS);
        other_servers.heard(3, &[(7, 0), (-1, 1)]);
        assert_eq!(other_servers.of(-1), 1, "a customer that is gone makes room");
    }

    #[test]
    fn where_nobody_is_told_nothing_is_kept() {
        let other_servers = OtherServers::default();
        other_servers.changed(7);
        assert!(other_servers.to_tell().is_none());
    }
}
