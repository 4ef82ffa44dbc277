//! A machine that another server owns. Its stored state is shown, and answers the callers who wait here.

use super::active::{Active, Seen};
use super::{Machine, Waiter};
use crate::domain::timestamp::Timestamp;
use crate::purchase::step::{Exchange, Purchase};
use crate::purchase::times::LOOK_EVERY_MS;

impl<B: Waiter, S: Waiter> Machine<B, S> {
    pub(super) fn owned(&mut self, owned: bool, now: Timestamp) {
        if self.is_remote != owned {
            return;
        }
        self.is_remote = !owned;
        // The exchange with the device is outdated: other servers may have sent commands since.
        self.forget_exchange();
        (self.last_said, self.loaded, self.unpaid_stop) = (None, false, None);
        self.learned += 1;
        if self.active.is_some() {
            self.read_newest();
        }
        self.next_start(now);
    }

    pub(super) fn forget_exchange(&mut self) {
        if let Some(active) = &mut self.active {
            active.p.boot = None;
            active.p.exchange = Exchange { stop_requested: active.p.exchange.stop_requested, ..Exchange::default() };
        }
    }

    /// Schedules a read of the stored purchase while a caller waits here for the owner's decision.
    pub(super) fn look_soon(&mut self, now: Timestamp) {
        if self.is_remote && self.load_at.is_none() && self.active.as_ref().is_some_and(Active::is_awaited) {
            self.load_at = Some(now.plus_ms(LOOK_EVERY_MS));
        }
    }

    /// Reading it alone is newer and cannot be overtaken.
    pub(super) fn stored(&mut self, stored: Option<Purchase>, now: Timestamp) {
        if !self.is_remote {
            return;
        }
        if self.is_asking() {
            return self.read_newest();
        }
        let known = self.active.as_ref().map_or(self.over, |active| Some(Seen::of(&active.p)));
        match &stored {
            Some(p) if known.is_some_and(|known| Seen::of(p) < known) => {}
            Some(_) => self.take_over(stored, now),
            // It may have been read before the purchase that is known here began.
            None if self.active.is_some() => self.load(),
            None => {}
        }
    }
}
