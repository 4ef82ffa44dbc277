//! Sliding windows, by key, in bounded memory.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use crate::domain::timestamp::Timestamp;

/// Removed entries that may stay in the order of expiry before it is compacted.
const MAX_STALE: usize = 64;

/// Length of the window, and maximum number of events of all keys together.
#[derive(Debug, Clone, Copy)]
pub struct WindowLimits {
    pub window_ms: i64,
    pub max_events: usize,
}

/// The events of the last `window_ms` milliseconds, each with a value `V`. At the maximum number of events, a new one evicts the oldest; that
/// only permits an earlier retry.
#[derive(Debug)]
pub struct SlidingWindow<K, V> {
    limits: WindowLimits,
    next: u64,
    /// All events, oldest first. It may still contain events that were removed from `of`, up to the bound of [`Self::compact`].
    order: VecDeque<(Timestamp, u64, K)>,
    /// Number of events of all keys.
    live: usize,
    of: HashMap<K, VecDeque<Event<V>>>,
}

#[derive(Debug)]
struct Event<V> {
    at: Timestamp,
    id: u64,
    value: V,
}

impl<K: Clone + Eq + Hash, V> SlidingWindow<K, V> {
    pub fn new(limits: WindowLimits) -> Self {
        Self { limits, next: 0, order: VecDeque::new(), live: 0, of: HashMap::new() }
    }

    /// Adds an event. Returns its id for [`Self::refund`].
    pub fn add(&mut self, key: K, value: V, now: Timestamp) -> u64 {
        self.forget_until(now);
        while self.live >= self.limits.max_events {
            self.forget_oldest();
        }
        let id = self.next;
        self.next += 1;
        self.order.push_back((now, id, key.clone()));
        self.of.entry(key).or_default().push_back(Event { at: now, id, value });
        self.live += 1;
        id
    }

    /// Removes an event that does not count after all.
    pub fn refund(&mut self, key: &K, id: u64) {
        self.remove(key, id);
        self.compact();
    }

    /// Removes all events of `key`.
    pub fn forget(&mut self, key: &K) {
        self.live -= self.of.remove(key).map_or(0, |events| events.len());
        self.compact();
    }

    /// Number of events of `key`.
    pub fn count(&mut self, key: &K, now: Timestamp) -> usize {
        self.forget_until(now);
        self.of.get(key).map_or(0, VecDeque::len)
    }

    /// Milliseconds until fewer than `limit` events of `key` that match `counts` are left; 0 if there are fewer now.
    pub fn wait_ms(&mut self, key: &K, limit: usize, now: Timestamp, counts: impl Fn(&V) -> bool) -> i64 {
        self.forget_until(now);
        let newest_first = self.of.get(key).into_iter().flatten().rev().filter(|event| counts(&event.value));
        let last = newest_first.take(limit).enumerate().find(|(n, _)| n + 1 == limit);
        last.map_or(0, |(_, event)| now.ms_until(event.at.plus_ms(self.limits.window_ms)))
    }

    fn forget_until(&mut self, now: Timestamp) {
        let expired_before = now.plus_ms(-self.limits.window_ms);
        while self.order.front().is_some_and(|(at, ..)| *at <= expired_before) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, id, key)) = self.order.pop_front() {
            self.remove(&key, id);
        }
    }

    fn remove(&mut self, key: &K, id: u64) {
        let Some(events) = self.of.get_mut(key) else { return };
        let Ok(found) = events.binary_search_by_key(&id, |event| event.id) else { return };
        events.remove(found);
        self.live -= 1;
        if events.is_empty() {
            self.of.remove(key);
        }
    }

    /// Drops removed events from `order` when they outnumber the live ones, so that the cost of a removal is constant on average.
    fn compact(&mut self) {
        if self.order.len() > 2 * self.live + MAX_STALE {
            let of = &self.of;
            let is_live = |key: &K, id: u64| of.get(key).is_some_and(|e| e.binary_search_by_key(&id, |event| event.id).is_ok());
            self.order.retain(|(_, id, key)| is_live(key, *id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn the_wait_ends_when_enough_events_have_left_the_window() {
        let mut recent = SlidingWindow::new(WindowLimits { window_ms: 1_000, max_events: 100 });
        for (ms, value) in [(0, 'a'), (100, 'b'), (200, 'a')] {
            recent.add(7, value, at(ms));
        }
        assert_eq!(recent.wait_ms(&7, 4, at(300), |_| true), 0);
        assert_eq!(recent.wait_ms(&7, 3, at(300), |_| true), 700);
        assert_eq!(recent.wait_ms(&7, 2, at(300), |_| true), 800);
        assert_eq!(recent.wait_ms(&7, 2, at(300), |v| *v == 'a'), 700);
        assert_eq!(recent.wait_ms(&7, 2, at(300), |v| *v == 'b'), 0);
        assert_eq!(recent.wait_ms(&8, 1, at(300), |_| true), 0);
        assert_eq!((recent.count(&7, at(1_000)), recent.count(&7, at(1_200))), (2, 0));
    }

    #[test]
    fn refunded_and_forgotten_events_do_not_count() {
        let mut recent = SlidingWindow::new(WindowLimits { window_ms: 1_000, max_events: 100 });
        let first = recent.add(7, (), at(0));
        recent.add(7, (), at(10));
        recent.refund(&7, first);
        recent.refund(&7, first);
        assert_eq!(recent.count(&7, at(999)), 1);
        recent.forget(&7);
        recent.add(7, (), at(999));
        assert_eq!(recent.count(&7, at(1_010)), 1, "the expiry of a forgotten event removes no other one");
    }

    #[test]
    fn memory_is_bounded() {
        let mut recent = SlidingWindow::new(WindowLimits { window_ms: 1_000, max_events: 3 });
        for key in 0..10 {
            recent.add(key, (), at(key));
        }
        assert_eq!((recent.order.len(), recent.of.len()), (3, 3));
        assert_eq!((recent.count(&6, at(10)), recent.count(&7, at(10))), (0, 1));
        recent.count(&0, at(2_000));
        assert_eq!((recent.order.len(), recent.of.len()), (0, 0));
    }

    #[test]
    fn a_refunded_event_evicts_nothing() {
        let mut recent = SlidingWindow::new(WindowLimits { window_ms: 1_000, max_events: 1 << 18 });
        recent.add(7, (), at(0));
        for n in 0..(1 << 18) + 1 {
            let id = recent.add(8 + n % 3, (), at(1));
            recent.refund(&(8 + n % 3), id);
            assert!(recent.order.len() <= 2 * recent.live + MAX_STALE);
        }
        assert_eq!((recent.count(&7, at(2)), recent.live, recent.of.len()), (1, 1, 1));
        for n in 0..1_000 {
            recent.add(9, (), at(2));
            assert_eq!(recent.count(&9, at(2)), n + 1);
        }
        recent.forget(&9);
        assert!(recent.order.len() <= 2 + MAX_STALE);
        assert_eq!((recent.count(&7, at(999)), recent.count(&7, at(1_000))), (1, 0));
        assert_eq!((recent.live, recent.order.len()), (0, 0));
    }
}
