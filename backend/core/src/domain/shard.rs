//! A shard: a part of all outlets that has one owner.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::id::OutletId;

/// Number of shards over which outlets are spread. Each shard has one owner (migrations/V20261202__cluster.sql).
pub const SHARDS: i32 = 256;

/// `shard.idshard`. All machines of an outlet are in one shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shard(i32);

impl Shard {
    /// A shard that no outlet is in.
    pub const NONE: Self = Self(-1);

    /// Of a number that is known to be a shard's.
    pub const fn new(number: i32) -> Self {
        Self(number)
    }

    pub const fn get(self) -> i32 {
        self.0
    }

    pub fn of(idoutlet: OutletId) -> Self {
        Self(i32::try_from(idoutlet.get().rem_euclid(i64::from(SHARDS))).unwrap_or_default())
    }

    pub fn all() -> impl Iterator<Item = Self> {
        (0..SHARDS).map(Self)
    }

    /// Its place among all shards; `None` for a number that is not a shard's.
    pub fn index(self) -> Option<usize> {
        usize::try_from(self.0).ok().filter(|_| self.0 < SHARDS)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
