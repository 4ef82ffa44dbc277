//! Detection of lost notifications. Each server numbers its own, and NATS keeps their order.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use nyala_core::domain::id::NodeId;

/// The last number of a server is deleted after this time without a notification.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// Last received number of each server.
#[derive(Debug, Default)]
pub struct Numbers {
    last: HashMap<NodeId, (u64, Instant)>,
}

impl Numbers {
    /// Number of notifications of `from` missing before this one; 0 for the first one of a server.
    pub fn missing(&mut self, from: NodeId, number: u64, now: Instant) -> u64 {
        let before = self.last.insert(from, (number, now));
        self.last.retain(|_, (_, at)| now.duration_since(*at) < FORGOTTEN_AFTER);
        before.map_or(0, |(before, _)| number.saturating_sub(before.saturating_add(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_counted_by_server() {
        let (mut numbers, now) = (Numbers::default(), Instant::now());
        let missing = [(1, 7), (1, 8), (2, 1), (1, 11), (2, 2), (1, 10), (1, 11)]
            .map(|(from, number)| numbers.missing(NodeId::new(from), number, now));
        assert_eq!(missing, [0, 0, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn a_server_that_is_gone_is_forgotten() {
        let (mut numbers, began) = (Numbers::default(), Instant::now());
        numbers.missing(NodeId::new(1), 1, began);
        numbers.missing(NodeId::new(2), 1, began + FORGOTTEN_AFTER);
        assert_eq!(numbers.last.len(), 1);
    }
}
