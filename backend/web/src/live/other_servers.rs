//! Number of customers' sockets at the other servers. Each server sends its changes at once, and all its counts every 30 s. Without change
//! notifications the counts are unknown, and a customer may have ten sockets at each server
//! (docs/decisions/0034-news-says-where-to-look.md).

use nyala_core::domain::id::{CustomerId, NodeId};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nyala_cluster::notifications::{Notification, Notifier, Received, SILENT_AFTER};
use tokio::time::{MissedTickBehavior, interval};

use super::LOOK_EVERY;
use super::sessions::SocketSessions;

/// Interval at which collected changes are sent.
const SEND_EVERY: Duration = Duration::from_millis(100);
/// Customers whose sockets one other server may report; further customers are not counted.
const MAX_CUSTOMERS: usize = 100_000;
/// Sockets of one customer that another server may report; a larger count is reduced to this.
const MAX_SOCKETS: usize = 1_000;
/// Customers in one message.
const MAX_PER_MESSAGE: usize = 1_000;

/// Counts received from the other servers, and changes to send to them.
#[derive(Debug, Default)]
pub struct OtherServers {
    counts: Mutex<HashMap<NodeId, ServerCounts>>,
    /// `None` where there are no other servers to notify.
    changed: Mutex<Option<HashSet<CustomerId>>>,
}

/// The counts of one server.
#[derive(Debug)]
struct ServerCounts {
    counts: HashMap<CustomerId, usize>,
    received_at: Instant,
}

impl OtherServers {
    /// Sockets of the customer at servers that have reported recently.
    pub fn of(&self, id_customer_global: CustomerId) -> usize {
        let is_alive = |server: &&ServerCounts| server.received_at.elapsed() < SILENT_AFTER;
        self.counts().values().filter(is_alive).filter_map(|server| server.counts.get(&id_customer_global)).sum()
    }

    /// Records that a socket of the customer was opened or closed here.
    pub fn changed(&self, id_customer_global: CustomerId) {
        if let Some(changed) = &mut *self.to_send() {
            changed.insert(id_customer_global);
        }
    }

    /// Records a server's socket counts of these customers. Returns whether the server is a new one.
    fn received(&self, from: NodeId, of: &[(CustomerId, usize)]) -> bool {
        let (now, mut counts) = (Instant::now(), self.counts());
        counts.retain(|_, server| server.received_at.elapsed() < SILENT_AFTER);
        let is_new = !counts.contains_key(&from);
        let server = counts.entry(from).or_insert_with(|| ServerCounts { counts: HashMap::new(), received_at: now });
        server.received_at = now;
        for (customer, count) in of {
            match count {
                0 => _ = server.counts.remove(customer),
                count if server.counts.len() < MAX_CUSTOMERS || server.counts.contains_key(customer) => {
                    server.counts.insert(*customer, (*count).min(MAX_SOCKETS));
                }
                _ => {}
            }
        }
        is_new
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<NodeId, ServerCounts>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn to_send(&self) -> MutexGuard<'_, Option<HashSet<CustomerId>>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends and receives counts until the server stops; useful only with change notifications.
pub async fn follow(sessions: &SocketSessions, notifier: &Notifier) {
    let (mut changes, here) = (notifier.listen(), &sessions.other_servers);
    let (mut send, mut send_all) = (interval(SEND_EVERY), interval(LOOK_EVERY));
    send.set_missed_tick_behavior(MissedTickBehavior::Delay);
    send_all.set_missed_tick_behavior(MissedTickBehavior::Delay);
    here.to_send().get_or_insert_default();
    loop {
        let customers: Vec<CustomerId> = tokio::select! {
            _ = send.tick() => here.to_send().as_mut().map(|changed| changed.drain().collect()).unwrap_or_default(),
            // Replaces counts that were lost.
            _ = send_all.tick() => sessions.customers(),
            received = changes.next() => match received {
                Received::Notification { from, notification: Notification::Sockets { of } } if here.received(from, &of) => sessions.customers(),
                Received::Notification { from, notification: Notification::Pulse } if here.received(from, &[]) => sessions.customers(),
                // A count may be among the lost messages. Each server sends all of its counts again within 30 s.
                Received::Missed => {
                    here.counts().clear();
                    continue;
                }
                _ => continue,
            },
        };
        for some in customers.chunks(MAX_PER_MESSAGE) {
            notifier.notify(Notification::Sockets {
                of: some.iter().map(|customer| (*customer, sessions.count(*customer))).collect(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn customer(id: i64) -> CustomerId {
        CustomerId::new(id)
    }

    #[test]
    fn reported_counts_are_added_up_and_the_newest_of_a_server_counts() {
        let other_servers = OtherServers::default();
        assert!(other_servers.received(NodeId::new(1), &[(customer(7), 3), (customer(8), 1)]));
        assert!(!other_servers.received(NodeId::new(1), &[(customer(7), 2)]));
        assert!(other_servers.received(NodeId::new(2), &[(customer(7), 4)]));
        assert_eq!([7, 8, 9].map(|id| other_servers.of(customer(id))), [6, 1, 0]);
        other_servers.received(NodeId::new(2), &[(customer(7), 0)]);
        assert_eq!(other_servers.of(customer(7)), 2);
    }

    #[test]
    fn reported_counts_have_limits() {
        let other_servers = OtherServers::default();
        other_servers.received(NodeId::new(1), &[(customer(7), usize::MAX)]);
        other_servers.received(NodeId::new(2), &[(customer(7), usize::MAX)]);
        assert_eq!(other_servers.of(customer(7)), 2 * MAX_SOCKETS);
        let many: Vec<_> = (0..).map(|id| (customer(id), 1)).take(MAX_CUSTOMERS + 10).collect();
        other_servers.received(NodeId::new(3), &many);
        assert_eq!(other_servers.counts()[&NodeId::new(3)].counts.len(), MAX_CUSTOMERS);
        other_servers.received(NodeId::new(3), &[(customer(7), 0), (customer(-1), 1)]);
        assert_eq!(other_servers.of(customer(-1)), 1, "a customer that is gone makes room");
    }

    #[test]
    fn without_other_servers_no_change_is_kept() {
        let other_servers = OtherServers::default();
        other_servers.changed(customer(7));
        assert!(other_servers.to_send().is_none());
    }
}
