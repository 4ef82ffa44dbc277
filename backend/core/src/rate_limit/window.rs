//! Sliding windows, by key, in bounded memory.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use crate::domain::timestamp::Timestamp;

/// Fewer ended entries than this are not worth a look through all.
const FEW: usize = 64;

/// Events of the last `window_ms`, each with a value `V`. Past `most` events of all keys together, not
/// counting refunded ones, the oldest are forgotten; that only permits an earlier retry.
#[derive(Debug)]
pub struct SlidingWindow<K, V> {
    window_ms: i64,
    most: usize,
    next: u64,
    /// Oldest first. What was taken back since may still be here, but never prevails.
    order: VecDeque<(Timestamp, u64, K)>,
    /// Events of all keys.
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
    /// Events of the last `window_ms`; at most `most` of them.
    pub fn new(window_ms: i64, most: usize) -> Self {
        Self { window_ms, most, next: 0, order: VecDeque::new(), live: 0, of: HashMap::new() }
    }

    /// Notes one more; what names it, to take it back.
    pub fn add(&mut self, key: K, value: V, now: Timestamp) -> u64 {
        self.forget_until(now);
        while self.live >= self.most {
            self.forget_oldest();
        }
        let id = self.next;
        self.next += 1;
        self.order.push_back((now, id, key.clone()));
        self.of.entry(key).or_default().push_back(Event { at: now, id, value });
        self.live += 1;
        id
    }

    /// It did not happen after all.
    pub fn refund(&mut self, key: &K, id: u64) {
        self.remove(key, id);
        self.compact();
    }

    /// Forgets everything of `key`.
    pub fn forget(&mut self, key: &K) {
        self.live -= self.of.remove(key).map_or(0, |events| events.len());
        self.compact();
    }

    /// How many there are of `key`.
    pub fn count(&mut self, key: &K, now: Timestamp) -> usize {
        self.forget_until(now);
        self.of.get(key).map_or(0, VecDeque::len)
    }

    /// Milliseconds until fewer than `limit` of `key`'s events that count are left; 0 when that is so now.
    pub fn wait_ms(&mut self, key: &K, limit: usize, now: Timestamp, counts: impl Fn(&V) -> bool) -> i64 {
        self.forget_until(now);
        let newest_first = self.of.get(key).into_iter().flatten().rev().filter(|event| counts(&event.value));
        let last = newest_first.take(limit).enumerate().find(|(n, _)| n + 1 == limit);
        last.map_or(0, |(_, event)| now.ms_until(event.at.plus_ms(self.window_ms)))
    }

    fn forget_until(&mut self, now: Timestamp) {
        let past = now.plus_ms(-self.window_ms);
        while self.order.front().is_some_and(|(at, ..)| *at <= past) {
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

    /// Lets go of what was taken back once it is more than what was not: each entry is looked at about twice in its life.
    fn compact(&mut self) {
        if self.order.len() > 2 * self.live + FEW {
            let of = &self.of;
            let lives = |key: &K, id: u64| of.get(key).is_some_and(|e| e.binary_search_by_key(&id, |event| event.id).is_ok());
            self.order.retain(|(_, id, key)| lives(key, *id));
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
    fn the_wait_is_for_the_one_that_has_to_leave_the_window() {
        let mut recent = SlidingWindow::new(1_000, 100);
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
    fn what_is_taken_back_or_forgotten_does_not_count() {
        let mut recent = SlidingWindow::new(1_000, 100);
        let first = recent.add(7, (), at(0));
        recent.add(7, (), at(10));
        recent.refund(&7, first);
        recent.refund(&7, first);
        assert_eq!(recent.count(&7, at(999)), 1);
        recent.forget(&7);
        recent.add(7, (), at(999));
        assert_eq!(recent.count(&7, at(1_010)), 1, "the end of a forgotten one takes no other with it");
    }

    #[test]
    fn memory_is_bounded() {
        let mut recent = SlidingWindow::new(1_000, 3);
        for key in 0..10 {
            recent.add(key, (), at(key));
        }
        assert_eq!((recent.order.len(), recent.of.len()), (3, 3));
        assert_eq!((recent.count(&6, at(10)), recent.count(&7, at(10))), (0, 1));
        recent.count(&0, at(2_000));
        assert_eq!((recent.order.len(), recent.of.len()), (0, 0));
    }

    #[test]
    fn what_is_taken_back_pushes_nothing_out() {
        let mut recent = SlidingWindow::new(1_000, 1 << 18);
        recent.add(7, (), at(0));
        for n in 0..(1 << 18) + 1 {
            let id = recent.add(8 + n % 3, (), at(1));
            recent.refund(&(8 + n % 3), id);
            assert!(recent.order.len() <= 2 * recent.live + FEW);
        }
        assert_eq!((recent.count(&7, at(2)), recent.live, recent.of.len()), (1, 1, 1));
        for n in 0..1_000 {
            recent.add(9, (), at(2));
            assert_eq!(recent.count(&9, at(2)), n + 1);
        }
        recent.forget(&9);
        assert!(recent.order.len() <= 2 + FEW);
        assert_eq!((recent.count(&7, at(999)), recent.count(&7, at(1_000))), (1, 0));
        assert_eq!((recent.live, recent.order.len()), (0, 0));
    }
}
