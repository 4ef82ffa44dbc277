//! Places for sessions that have not joined. They are few, so that any client may open a session without a login. A caller that opens
//! many sessions displaces its own, or those of a caller that has even more.

use super::caller::Share;
use super::sid::Sid;
use crate::fair_pool::FairPool;

/// How many places there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct PoolLimits {
    /// For one share.
    pub per_share: usize,
    /// For all shares together, and never fewer than for one.
    pub in_all: usize,
}

#[derive(Debug)]
pub(super) struct Pool {
    limits: PoolLimits,
    /// Each place weighs one.
    places: FairPool<Share, Sid>,
}

/// A taken place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub number: u64,
    /// The session that lost its place to this one.
    pub displaced: Option<Sid>,
}

impl Pool {
    pub fn new(PoolLimits { per_share, in_all }: PoolLimits) -> Self {
        Self { limits: PoolLimits { per_share, in_all: in_all.max(per_share) }, places: FairPool::default() }
    }

    /// Takes a place for the session `sid`. If none is free, takes the oldest place of the fullest share. None: that is this share.
    pub fn take(&mut self, share: Share, sid: Sid) -> Option<Taken> {
        if let Some(number) = self.take_free(share, sid) {
            return Some(Taken { number, displaced: None });
        }
        let has = self.places.weight_of(share);
        let largest = self.places.largest()?;
        if has >= self.limits.per_share || has >= largest.weight {
            return None;
        }
        let displaced = self.places.remove(largest.holder, largest.number);
        let number = self.take_free(share, sid)?;
        Some(Taken { number, displaced })
    }

    /// The same, but only if a place is free.
    pub fn take_free(&mut self, share: Share, sid: Sid) -> Option<u64> {
        let is_full = self.places.weight_of(share) >= self.limits.per_share || self.places.total() >= self.limits.in_all;
        (!is_full).then(|| self.places.insert(share, 1, sid))
    }

    /// Releases a place, and returns the session that had it. None: it was displaced.
    pub fn remove(&mut self, share: Share, number: u64) -> Option<Sid> {
        self.places.remove(share, number)
    }

    pub fn holds(&self, share: Share, number: u64) -> bool {
        self.places.contains(share, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(n: u64) -> Share {
        Share::Known(n)
    }

    fn take(pool: &mut Pool, share: u64) -> Option<(u64, Option<Sid>)> {
        pool.take(known(share), Sid::random()).map(|taken| (taken.number, taken.displaced))
    }

    #[test]
    fn a_share_is_small_and_gets_a_place_back_for_each_it_gives_back() {
        let mut pool = Pool::new(PoolLimits { per_share: 2, in_all: 10 });
        let (first, _) = take(&mut pool, 1).unwrap();
        assert!(take(&mut pool, 1).is_some());
        assert_eq!(take(&mut pool, 1), None);
        assert!(take(&mut pool, 2).is_some(), "another's share is its own");
        assert!(pool.remove(known(1), first).is_some() && !pool.holds(known(1), first));
        assert!(pool.remove(known(1), first).is_none(), "once");
        assert!(take(&mut pool, 1).is_some());
    }

    #[test]
    fn a_full_pool_displaces_the_oldest_of_the_fullest_share() {
        let mut pool = Pool::new(PoolLimits { per_share: 3, in_all: 4 });
        let oldest = Sid::random();
        let (first, _) = take(&mut pool, 9).unwrap();
        assert_eq!(pool.take(known(1), oldest).unwrap().displaced, None);
        assert!(take(&mut pool, 1).is_some() && take(&mut pool, 1).is_some());
        assert_eq!(take(&mut pool, 2).unwrap().1, Some(oldest), "not that of the caller who came first of all");
        assert!(take(&mut pool, 3).unwrap().1.is_some());
        assert_eq!(take(&mut pool, 1), None, "nobody has more than itself");
        // Now each share has one place: the oldest of all is displaced.
        assert!(pool.holds(known(9), first));
        assert!(take(&mut pool, 4).unwrap().1.is_some());
        assert!(!pool.holds(known(9), first));
        assert_eq!((pool.places.total(), pool.places.holders()), (4, 4));
    }

    #[test]
    fn only_a_free_place_is_taken_without_displacing() {
        let mut pool = Pool::new(PoolLimits { per_share: 2, in_all: 2 });
        assert!(take(&mut pool, 1).is_some() && take(&mut pool, 1).is_some());
        assert_eq!(pool.take_free(known(2), Sid::random()), None);
        assert!(pool.remove(known(1), 1).is_some());
        assert!(pool.take_free(known(2), Sid::random()).is_some());
    }
}
