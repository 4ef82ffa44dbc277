//! Places for sessions that have not joined. They are few, so that any client may open a session without a login. A caller that opens
//! many sessions displaces its own, or those of a caller that has even more.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::caller::Share;
use super::sid::Sid;

/// Rank of a share by its number of taken places. Among equal ones, the share with the oldest place comes last.
type Rank = (usize, Reverse<u64>, Share);

#[derive(Debug)]
pub(super) struct Pool {
    per_share: usize,
    max: usize,
    /// By share and number, so that a share's oldest place comes first.
    places: BTreeMap<(Share, u64), Sid>,
    counts: HashMap<Share, usize>,
    ranks: BTreeSet<Rank>,
    last: u64,
}

/// A taken place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub number: u64,
    /// The session that lost its place to this one.
    pub displaced: Option<Sid>,
}

impl Pool {
    /// `per_share` places for each share, `max` in all.
    pub fn new(per_share: usize, max: usize) -> Self {
        let (places, counts, ranks) = (BTreeMap::new(), HashMap::new(), BTreeSet::new());
        Self { per_share, max: max.max(per_share), places, counts, ranks, last: 0 }
    }

    /// Takes a place for the session `sid`. If none is free, takes the oldest place of the fullest share. None: that is this share.
    pub fn take(&mut self, share: Share, sid: Sid) -> Option<Taken> {
        if let Some(number) = self.take_free(share, sid) {
            return Some(Taken { number, displaced: None });
        }
        let has = self.count(share);
        let &(most, Reverse(oldest), largest) = self.ranks.last()?;
        if has >= self.per_share || has >= most {
            return None;
        }
        let displaced = self.remove(largest, oldest);
        let number = self.take_free(share, sid)?;
        Some(Taken { number, displaced })
    }

    /// The same, but only if a place is free.
    pub fn take_free(&mut self, share: Share, sid: Sid) -> Option<u64> {
        if self.count(share) >= self.per_share || self.places.len() >= self.max {
            return None;
        }
        self.last += 1;
        let before = self.rank(share);
        self.places.insert((share, self.last), sid);
        *self.counts.entry(share).or_default() += 1;
        self.rank_anew(share, before);
        Some(self.last)
    }

    /// Releases a place, and returns the session that had it. None: it was displaced.
    pub fn remove(&mut self, share: Share, number: u64) -> Option<Sid> {
        let before = self.rank(share);
        let sid = self.places.remove(&(share, number))?;
        match self.count(share) {
            0 | 1 => drop(self.counts.remove(&share)),
            n => drop(self.counts.insert(share, n - 1)),
        }
        self.rank_anew(share, before);
        Some(sid)
    }

    pub fn holds(&self, share: Share, number: u64) -> bool {
        self.places.contains_key(&(share, number))
    }

    fn count(&self, share: Share) -> usize {
        self.counts.get(&share).copied().unwrap_or(0)
    }

    fn rank(&self, share: Share) -> Option<Rank> {
        let ((_, oldest), _) = self.places.range((share, 0)..=(share, u64::MAX)).next()?;
        Some((self.count(share), Reverse(*oldest), share))
    }

    fn rank_anew(&mut self, share: Share, before: Option<Rank>) {
        if let Some(before) = before {
            self.ranks.remove(&before);
        }
        self.ranks.extend(self.rank(share));
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
        let mut pool = Pool::new(2, 10);
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
        let mut pool = Pool::new(3, 4);
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
        assert_eq!((pool.places.len(), pool.ranks.len(), pool.counts.len()), (4, 4, 4));
    }

    #[test]
    fn only_a_free_place_is_taken_without_displacing() {
        let mut pool = Pool::new(2, 2);
        assert!(take(&mut pool, 1).is_some() && take(&mut pool, 1).is_some());
        assert_eq!(pool.take_free(known(2), Sid::random()), None);
        assert!(pool.remove(known(1), 1).is_some());
        assert!(pool.take_free(known(2), Sid::random()).is_some());
    }

    #[test]
    fn nothing_is_left_behind_by_callers_that_are_gone() {
        let mut pool = Pool::new(3, 1_000);
        let taken: Vec<_> = (0..1_000).map(|n| (n % 400, take(&mut pool, n % 400).unwrap().0)).collect();
        for (share, number) in taken {
            assert!(pool.remove(known(share), number).is_some());
        }
        assert_eq!((pool.places.len(), pool.ranks.len(), pool.counts.len()), (0, 0, 0));
    }
}
