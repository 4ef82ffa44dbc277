//! Token buckets, by key.

use std::collections::HashMap;
use std::hash::Hash;

use crate::domain::timestamp::Timestamp;

/// Sizes of [`TokenBuckets`].
#[derive(Debug, Clone, Copy)]
pub struct BucketLimits {
    /// Attempts that a full bucket holds.
    pub burst: usize,
    /// Milliseconds until a bucket has one attempt more.
    pub refill_ms: i64,
    /// Buckets that are remembered. Past that many that are not full, all are forgotten, which only permits an earlier attempt.
    pub max_keys: usize,
}

/// A bucket of attempts for each key (the generic cell rate algorithm, ITU-T I.371). It stores only when a bucket will be full again, so it is
/// for very many keys, such as addresses.
#[derive(Debug)]
pub struct TokenBuckets<K> {
    max_keys: usize,
    refill_ms: i64,
    burst_ms: i64,
    full_at: HashMap<K, Timestamp>,
}

impl<K: Copy + Eq + Hash> TokenBuckets<K> {
    pub fn new(BucketLimits { burst, refill_ms, max_keys }: BucketLimits) -> Self {
        let burst_ms = refill_ms.saturating_mul(i64::try_from(burst).unwrap_or(i64::MAX));
        Self { max_keys, refill_ms, burst_ms, full_at: HashMap::new() }
    }

    /// Milliseconds until an attempt is available; 0 when one is.
    pub fn wait_ms(&self, key: K, now: Timestamp) -> i64 {
        let missing_ms = self.full_at.get(&key).map_or(0, |full_at| now.ms_until(*full_at).max(0));
        (missing_ms + self.refill_ms - self.burst_ms).max(0)
    }

    /// Counts an attempt.
    pub fn take(&mut self, key: K, now: Timestamp) {
        if self.full_at.len() >= self.max_keys && !self.full_at.contains_key(&key) {
            self.make_room(now);
        }
        let full_at = self.full_at.entry(key).or_insert(now);
        *full_at = (*full_at).max(now).plus_ms(self.refill_ms);
    }

    /// The attempt does not count after all.
    pub fn refund(&mut self, key: K) {
        if let Some(full_at) = self.full_at.get_mut(&key) {
            *full_at = full_at.plus_ms(-self.refill_ms);
        }
    }

    /// Buckets that are not known to be full.
    pub fn keys(&self) -> usize {
        self.full_at.len()
    }

    /// Removes full buckets, which carry no information. When none is full, it removes all, so that their keys may only try again
    /// sooner.
    fn make_room(&mut self, now: Timestamp) {
        self.full_at.retain(|_, full_at| *full_at > now);
        if self.full_at.len() >= self.max_keys {
            self.full_at.clear();
        }
    }
}
