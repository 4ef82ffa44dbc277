//! Requests that wait for a connection: those that have begun first, then the most important class, and the first come of a class first.
//!
//! Last in, first out under overload ("adaptive LIFO") was simulated and left out: refusals keep the queue to a few hundred milliseconds, and in so
//! short a queue it only spreads the waits, for fewer purchases (docs/decisions/0038-admission-by-measured-waiting.md).

use std::collections::VecDeque;

use super::Class;

/// What decides a waiter's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// A request that has had a connection and needs another one: it is finished before others begin.
    Begun,
    /// A request that needs its first connection.
    First(Class),
}

impl Rank {
    const NUMBER: usize = 1 + Class::ALL.len();

    const fn lane(self) -> usize {
        match self {
            Self::Begun => 0,
            Self::First(class) => 1 + class as usize,
        }
    }
}

/// One turn in so many goes to the lowest class that waits, so that it does not starve behind the others.
const LOWEST_EACH: u32 = 20;

#[derive(Debug)]
struct Waiter<T> {
    id: u64,
    since_ms: u64,
    item: T,
}

/// Place of a waiter, for [`WaitQueue::remove`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitId {
    rank: Rank,
    id: u64,
}

/// The waiters of one pool. `T` is how a waiter is woken.
#[derive(Debug)]
pub struct WaitQueue<T> {
    lanes: [VecDeque<Waiter<T>>; Rank::NUMBER],
    max: usize,
    next_id: u64,
    turns: u32,
}

impl<T> WaitQueue<T> {
    /// At most `max` waiters.
    pub fn new(max: usize) -> Self {
        Self { lanes: Default::default(), max, next_id: 0, turns: 0 }
    }

    pub fn len(&self) -> usize {
        self.lanes.iter().map(VecDeque::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(VecDeque::is_empty)
    }

    /// `None` when the queue is full.
    pub fn push(&mut self, rank: Rank, item: T, now_ms: u64) -> Option<WaitId> {
        if self.len() >= self.max {
            return None;
        }
        let id = self.next_id;
        self.next_id += 1;
        self.lanes[rank.lane()].push_back(Waiter { id, since_ms: now_ms, item });
        Some(WaitId { rank, id })
    }

    /// Takes out the waiter whose turn it is.
    pub fn pop(&mut self) -> Option<T> {
        let mut waiting = (0..self.lanes.len()).filter(|lane| !self.lanes[*lane].is_empty());
        let first = waiting.next()?;
        self.turns = (self.turns + 1) % LOWEST_EACH;
        let lane = if self.turns == 0 { waiting.next_back().unwrap_or(first) } else { first };
        self.lanes[lane].pop_front().map(|waiter| waiter.item)
    }

    /// Removes a waiter that gives up. `false` when it is there no more.
    pub fn remove(&mut self, WaitId { rank, id }: WaitId) -> bool {
        let waiters = &mut self.lanes[rank.lane()];
        waiters.binary_search_by_key(&id, |waiter| waiter.id).is_ok_and(|at| waiters.remove(at).is_some())
    }

    /// Longest wait of the queue, in milliseconds; `None` if the queue is empty.
    pub fn longest_ms(&self, now_ms: u64) -> Option<u64> {
        let since = self.lanes.iter().filter_map(|waiters| Some(waiters.front()?.since_ms)).min()?;
        Some(now_ms.saturating_sub(since))
    }
}
