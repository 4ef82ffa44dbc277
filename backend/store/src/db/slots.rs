//! Slots for the connections of admitted requests. There are fewer than connections in a thread's pool, so that decided work (a device's
//! message, a post, a finish) finds a connection however many requests wait or hold one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nyala_core::admission::{Rank, WaitId, WaitQueue};
use tokio::sync::oneshot;

use super::error::DbError;
use crate::admission::Gate;

/// Requests that wait on one thread. It is hardly ever full: who has waited for `Gate::max_wait` leaves.
const MAX_WAITING: usize = 4_096;
/// One connection in so many is for decided work alone, and at least one.
const RESERVED_OF: usize = 4;

/// The slots of one thread's pool.
#[derive(Debug)]
pub(super) struct Slots {
    gate: Gate,
    state: Mutex<SlotState>,
}

#[derive(Debug)]
struct SlotState {
    max: usize,
    used: usize,
    waiting: WaitQueue<oneshot::Sender<Slot>>,
}

/// Slots for a pool of so many connections.
fn slots_of(connections: usize) -> usize {
    let reserved = (connections / RESERVED_OF).max(1);
    connections.saturating_sub(reserved).max(1)
}

impl Slots {
    pub fn new(gate: Gate, connections: usize) -> Arc<Self> {
        let state = SlotState { max: slots_of(connections), used: 0, waiting: WaitQueue::new(MAX_WAITING) };
        Arc::new(Self { gate, state: Mutex::new(state) })
    }

    /// The pool has so many connections now. Called before its thread serves anything.
    pub fn resize(&self, connections: usize) {
        self.state().max = slots_of(connections);
    }

    /// Requests that wait for a slot.
    pub fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    /// A slot, in the order of the ranks, within `limit`. While the gate refuses requests of its class, a request that has not begun waits for
    /// `Gate::max_wait` only.
    ///
    /// # Errors
    /// When none comes free in time: `Overloaded` for a request that has not begun, else `Busy`.
    pub async fn take(self: &Arc<Self>, rank: Rank, limit: Duration) -> Result<Slot, DbError> {
        let asked = Instant::now();
        let (place, mut slot) = match self.take_or_wait(rank) {
            Place::Free(slot) => {
                self.served(rank, Duration::ZERO);
                return Ok(slot);
            }
            Place::Waits(id, slot) => (Waiting { slots: self, id }, slot),
            Place::Full => return Err(self.refused(rank)),
        };
        let served = loop {
            let left = limit.saturating_sub(asked.elapsed());
            match tokio::time::timeout(self.gate.max_wait().min(left), &mut slot).await {
                Ok(served) => break served.ok(),
                Err(_) if asked.elapsed() >= limit || self.gives_up(rank) => break None,
                Err(_) => {}
            }
        };
        drop(place);
        let slot = served.ok_or_else(|| self.refused(rank))?;
        self.served(rank, asked.elapsed());
        Ok(slot)
    }

    /// Whether a request that has waited for `Gate::max_wait` is refused: not in a burst, in which its class is admitted.
    fn gives_up(&self, rank: Rank) -> bool {
        match rank {
            Rank::First(class) => self.gate.refuses_some(class),
            Rank::Begun => false,
        }
    }

    fn served(&self, rank: Rank, wait: Duration) {
        if let Rank::First(_) = rank {
            self.gate.served(wait);
        }
    }

    fn refused(&self, rank: Rank) -> DbError {
        match rank {
            Rank::First(class) => self.gate.gave_up(class).into(),
            Rank::Begun => {
                tracing::warn!("no database connection for the rest of a request");
                DbError::Busy
            }
        }
    }

    fn take_or_wait(self: &Arc<Self>, rank: Rank) -> Place {
        let mut state = self.state();
        if state.used < state.max && state.waiting.is_empty() {
            state.used += 1;
            return Place::Free(Slot(self.clone()));
        }
        let now_ms = self.gate.now_ms();
        self.gate.waited(state.waiting.longest_ms(now_ms).unwrap_or(0), now_ms);
        let (sender, receiver) = oneshot::channel();
        state.waiting.push(rank, sender, now_ms).map_or(Place::Full, |id| Place::Waits(id, receiver))
    }

    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Place {
    Free(Slot),
    Waits(WaitId, oneshot::Receiver<Slot>),
    Full,
}

/// Leaves the queue when it is dropped.
struct Waiting<'a> {
    slots: &'a Slots,
    id: WaitId,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.slots.state().waiting.remove(self.id);
    }
}

/// A slot, free again when this is dropped.
#[derive(Debug)]
pub(super) struct Slot(Arc<Slots>);

impl Drop for Slot {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.state();
            let now_ms = self.0.gate.now_ms();
            if let Some(longest_ms) = state.waiting.longest_ms(now_ms) {
                self.0.gate.waited(longest_ms, now_ms);
            }
            let next = state.waiting.pop();
            if next.is_none() {
                state.used -= 1;
            }
            next
        };
        if let Some(next) = next {
            // A waiter that has just given up drops the slot, which then goes to the next one.
            let _ = next.send(Self(self.0.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use nyala_core::admission::Class;

    use super::*;

    const LIMIT: Duration = Duration::from_millis(200);

    fn slots(connections: usize) -> Arc<Slots> {
        Slots::new(Gate::new(Some(Duration::from_millis(5))), connections)
    }

    fn used_and_waiting(slots: &Slots) -> (usize, usize) {
        let state = slots.state();
        (state.used, state.waiting.len())
    }

    #[test]
    fn some_connections_are_for_decided_work_alone() {
        assert_eq!([1, 2, 3, 4, 8, 16].map(slots_of), [1, 1, 2, 3, 6, 12]);
    }

    #[tokio::test]
    async fn a_free_slot_goes_to_the_most_important_class() {
        let slots = slots(2);
        let held = slots.take(Rank::First(Class::List), LIMIT).await.unwrap();
        let (list, payment) = tokio::join!(biased; async { (slots.take(Rank::First(Class::List), LIMIT).await.is_ok(), Instant::now()) }, async {
            let paid = slots.take(Rank::First(Class::Payment), LIMIT);
            let (paid, ()) = tokio::join!(biased; paid, async { drop(held) });
            (paid.is_ok(), Instant::now())
        });
        assert!(list.0 && payment.0 && payment.1 <= list.1);
        assert_eq!(used_and_waiting(&slots), (0, 0));
    }

    #[tokio::test]
    async fn while_its_class_is_refused_a_request_does_not_wait_until_the_limit() {
        let slots = slots(2);
        let _held = slots.take(Rank::First(Class::List), LIMIT).await.unwrap();
        let overload = async {
            loop {
                slots.gate.waited(1_000, slots.gate.now_ms());
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let asked = Instant::now();
        tokio::select! {
            refused = slots.take(Rank::First(Class::List), Duration::from_secs(60)) => assert!(refused.is_err()),
            () = overload => {}
        }
        assert!(asked.elapsed() < Duration::from_secs(30), "{:?}", asked.elapsed());
    }

    #[tokio::test]
    async fn who_waits_in_vain_is_refused_and_who_leaves_takes_no_slot() {
        let slots = slots(2);
        let held = slots.take(Rank::First(Class::List), LIMIT).await.unwrap();
        let refused = slots.take(Rank::First(Class::Payment), LIMIT).await;
        assert!(matches!(refused, Err(DbError::Overloaded(_))), "{refused:?}");
        let mut gone = Box::pin(slots.take(Rank::First(Class::Payment), LIMIT));
        assert!(futures_util::poll!(&mut gone).is_pending());
        assert_eq!(slots.waiting(), 1);
        drop(gone);
        assert_eq!(slots.waiting(), 0);
        let mut served = Box::pin(slots.take(Rank::First(Class::Payment), LIMIT));
        assert!(futures_util::poll!(&mut served).is_pending());
        drop(held);
        // It was served and leaves before it has noticed.
        drop(served);
        assert_eq!(used_and_waiting(&slots), (0, 0));
    }
}
