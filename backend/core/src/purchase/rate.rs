//! How many purchases a customer may ask for in a minute (docs/contract.md §7): each that is refused leaves a row behind.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::domain::id::CustomerId;
use crate::domain::timestamp::Timestamp;

const WINDOW_MS: i64 = 60_000;
/// Orders that are remembered of all customers together: 4,000 a second for a minute, in about 30 MiB. Past it the oldest are
/// forgotten, which only lets their customers ask again sooner.
const MAX_ORDERS: usize = 1 << 18;

/// The customer has asked for as many as a minute allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooSoon {
    pub wait_ms: i64,
}

/// The orders of the last minute.
#[derive(Debug)]
pub struct PurchaseRate {
    per_customer: usize,
    recent: Mutex<RecentOrders>,
}

#[derive(Debug, Default)]
struct RecentOrders {
    /// Oldest first.
    orders: VecDeque<(Timestamp, CountedOrder)>,
    /// The same, to find repeats.
    receipts: HashSet<CountedOrder>,
    /// When each customer's were asked for, oldest first.
    of: HashMap<CustomerId, VecDeque<Timestamp>>,
}

/// A customer and a receipt number's digits.
type CountedOrder = (CustomerId, u64);

impl PurchaseRate {
    pub fn new(per_customer: usize) -> Self {
        Self { per_customer, recent: Mutex::default() }
    }

    /// Counts the order of a receipt that is not decided yet; a repeat counts once.
    ///
    /// # Errors
    /// [`TooSoon`] until the customer may ask for another.
    pub fn admit(&self, id_customer_global: CustomerId, receipt: u64, now: Timestamp) -> Result<(), TooSoon> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.forget_until(now.plus_ms(-WINDOW_MS));
        let order = (id_customer_global, receipt);
        if recent.receipts.contains(&order) {
            return Ok(());
        }
        let own = recent.of.get(&id_customer_global);
        if let Some(oldest) = own.filter(|own| own.len() >= self.per_customer).and_then(VecDeque::front) {
            return Err(TooSoon { wait_ms: now.ms_until(oldest.plus_ms(WINDOW_MS)) });
        }
        recent.remember(now, order);
        Ok(())
    }
}

impl RecentOrders {
    fn remember(&mut self, now: Timestamp, order: CountedOrder) {
        if self.orders.len() >= MAX_ORDERS {
            self.forget_oldest();
        }
        self.orders.push_back((now, order));
        self.receipts.insert(order);
        self.of.entry(order.0).or_default().push_back(now);
    }

    fn forget_until(&mut self, past: Timestamp) {
        while self.orders.front().is_some_and(|(at, _)| *at <= past) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some((_, order)) = self.orders.pop_front() else { return };
        self.receipts.remove(&order);
        if let Some(own) = self.of.get_mut(&order.0) {
            own.pop_front();
            if own.is_empty() {
                self.of.remove(&order.0);
            }
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
    fn a_minute_slides_and_repeats_are_free() {
        let rate = PurchaseRate::new(2);
        rate.admit(CustomerId::new(1), 10, at(0)).unwrap();
        rate.admit(CustomerId::new(1), 11, at(30_000)).unwrap();
        rate.admit(CustomerId::new(1), 10, at(30_000)).unwrap();
        rate.admit(CustomerId::new(2), 10, at(30_000)).unwrap();
        let refused = rate.admit(CustomerId::new(1), 12, at(30_001)).unwrap_err();
        assert_eq!(refused, TooSoon { wait_ms: 29_999 });
        rate.admit(CustomerId::new(1), 12, at(60_000)).unwrap();
        let refused = rate.admit(CustomerId::new(1), 13, at(60_000)).unwrap_err();
        assert_eq!(refused, TooSoon { wait_ms: 30_000 });
    }

    #[test]
    fn what_is_remembered_is_bounded_and_forgotten() {
        let rate = PurchaseRate::new(1);
        for customer in 0..=i64::try_from(MAX_ORDERS).unwrap() {
            rate.admit(CustomerId::new(customer), 1, at(0)).unwrap();
        }
        assert_eq!(rate.recent.lock().unwrap().orders.len(), MAX_ORDERS);
        rate.admit(CustomerId::new(0), 2, at(1)).unwrap();
        rate.admit(CustomerId::new(5), 2, at(1)).unwrap_err();
        rate.admit(CustomerId::new(5), 2, at(60_001)).unwrap();
        let recent = rate.recent.lock().unwrap();
        assert_eq!((recent.orders.len(), recent.receipts.len(), recent.of.len()), (1, 1, 1));
    }
}
