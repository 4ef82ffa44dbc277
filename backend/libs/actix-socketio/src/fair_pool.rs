//! A pool of limited size for clients that do not trust each other. When it is full, a new item takes its place from the client that holds
//! most. So a client that opens much loses its own items, and the others lose nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

/// Rank of a holder by what it holds. Among equals the one with the oldest item comes last and loses first.
type Rank<K> = (usize, Reverse<u64>, K);

/// Items `V` of holders `K`, each with a weight. The caller decides when the pool is full, and removes the [`largest`](Self::largest) until
/// it is not. Each operation takes O(log n) of all items.
#[derive(Debug)]
pub struct FairPool<K, V> {
    holders: HashMap<K, Holder<V>>,
    ranks: BTreeSet<Rank<K>>,
    total: usize,
    last: u64,
}

#[derive(Debug)]
struct Holder<V> {
    weight: usize,
    /// By number, so that the oldest comes first.
    items: BTreeMap<u64, (usize, V)>,
}

/// The oldest item of the holder with most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Largest<K> {
    /// Whose it is.
    pub holder: K,
    /// Weight of all its items.
    pub weight: usize,
    /// The item's number.
    pub number: u64,
}

impl<K, V> Default for FairPool<K, V> {
    fn default() -> Self {
        Self { holders: HashMap::new(), ranks: BTreeSet::new(), total: 0, last: 0 }
    }
}

impl<K: Copy + Eq + Hash + Ord, V> FairPool<K, V> {
    /// Adds an item and returns its number.
    pub fn insert(&mut self, holder: K, weight: usize, item: V) -> u64 {
        self.last += 1;
        let number = self.last;
        self.change(holder, |of| {
            of.weight += weight;
            of.items.insert(number, (weight, item));
        });
        self.total += weight;
        number
    }

    /// Changes the weight of an item; `false` when it is no longer there.
    pub fn resize(&mut self, holder: K, number: u64, weight: usize) -> bool {
        let changed = self.change(holder, |of| {
            let (own, _) = of.items.get_mut(&number)?;
            let before = std::mem::replace(own, weight);
            of.weight = of.weight - before + weight;
            Some(before)
        });
        if let Some(before) = changed {
            self.total = self.total - before + weight;
        }
        changed.is_some()
    }

    /// Removes an item; `None` when it is no longer there.
    pub fn remove(&mut self, holder: K, number: u64) -> Option<V> {
        let (weight, item) = self.change(holder, |of| {
            let (weight, item) = of.items.remove(&number)?;
            of.weight -= weight;
            Some((weight, item))
        })?;
        self.total -= weight;
        Some(item)
    }

    /// Whether an item is still there.
    pub fn contains(&self, holder: K, number: u64) -> bool {
        self.holders.get(&holder).is_some_and(|of| of.items.contains_key(&number))
    }

    /// Weight of all items of `holder`.
    pub fn weight_of(&self, holder: K) -> usize {
        self.holders.get(&holder).map_or(0, |of| of.weight)
    }

    /// Weight of all items.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Number of holders that have an item.
    pub fn holders(&self) -> usize {
        self.holders.len()
    }

    /// What is removed first when room is needed.
    pub fn largest(&self) -> Option<Largest<K>> {
        let &(weight, Reverse(number), holder) = self.ranks.last()?;
        Some(Largest { holder, weight, number })
    }

    /// Changes what `holder` has and updates its rank; one without items is forgotten.
    fn change<T>(&mut self, holder: K, change: impl FnOnce(&mut Holder<V>) -> T) -> T {
        let of = self.holders.entry(holder).or_insert_with(|| Holder { weight: 0, items: BTreeMap::new() });
        if let Some(rank) = of.rank(holder) {
            self.ranks.remove(&rank);
        }
        let changed = change(of);
        match of.rank(holder) {
            Some(rank) => drop(self.ranks.insert(rank)),
            None => drop(self.holders.remove(&holder)),
        }
        changed
    }
}

impl<V> Holder<V> {
    fn rank<K>(&self, holder: K) -> Option<Rank<K>> {
        let (oldest, _) = self.items.first_key_value()?;
        Some((self.weight, Reverse(*oldest), holder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_with_most_is_the_largest_and_among_equals_the_one_with_the_oldest_item() {
        let mut pool = FairPool::default();
        let first = pool.insert('a', 20, ());
        let second = pool.insert('b', 20, ());
        assert_eq!(pool.largest(), Some(Largest { holder: 'a', weight: 20, number: first }));
        pool.insert('b', 1, ());
        assert_eq!(pool.largest(), Some(Largest { holder: 'b', weight: 21, number: second }));
        assert!(pool.resize('a', first, 22));
        assert_eq!(pool.largest(), Some(Largest { holder: 'a', weight: 22, number: first }));
        assert_eq!((pool.total(), pool.weight_of('b'), pool.holders()), (43, 21, 2));
    }

    #[test]
    fn an_item_is_removed_once_and_nothing_is_left_of_holders_that_are_gone() {
        let mut pool = FairPool::default();
        let numbers: Vec<u64> = (0..1_000).map(|n| pool.insert(n % 400, n, n)).collect();
        for (n, number) in numbers.iter().enumerate() {
            assert_eq!(pool.remove(n % 400, *number), Some(n));
            assert_eq!(pool.remove(n % 400, *number), None);
            assert!(!pool.resize(n % 400, *number, 1) && !pool.contains(n % 400, *number));
        }
        assert_eq!((pool.total(), pool.holders(), pool.ranks.len(), pool.largest()), (0, 0, 0, None));
    }
}
