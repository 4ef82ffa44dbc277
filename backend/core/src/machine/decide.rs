//! Inputs of a machine: starts, repeats, stops, and the results of its own statements.

use std::collections::VecDeque;

use super::active::{Active, Seen, outcome};
use super::device_word::{DeviceWord, UnpaidStop};
use super::{Effect, Input, Outcome, Start, Unanswered, Waiter};
use crate::domain::id::{MachineId, PurchaseId};
use crate::domain::timestamp::Timestamp;
use crate::purchase::rules::Refusal;
use crate::purchase::state::PurchaseState;
use crate::purchase::step::{self, Held, Purchase, PurchaseEvent};
use crate::purchase::times::{MAX_WAITERS, MAX_WAITING_STARTS};

/// Inputs that may wait until what they depend on is read or held.
const MAX_EARLY: usize = 256;

/// One machine; see the module. `B` waits for a purchase, `S` for a stop.
#[derive(Debug)]
pub struct Machine<B, S> {
    pub(super) idmesin: MachineId,
    /// Whether the stored purchase was read since this actor exists. It reads first and trusts events later.
    pub(super) loaded: bool,
    pub(super) active: Option<Active<B, S>>,
    /// The purchase whose hold is being committed, and when that began.
    holding: Option<(Start<B>, Timestamp)>,
    queue: VecDeque<Start<B>>,
    /// What came before it could be judged, and when.
    early: VecDeque<(Input<B, S>, Timestamp)>,
    /// The counter `learned` at the beginning of the running read.
    loading: Option<u64>,
    /// When to read the stored purchase again.
    pub(super) load_at: Option<Timestamp>,
    /// A notification arrived while a query was in flight, so its result may be stale: reload when it completes.
    told_meanwhile: bool,
    /// Counts what was learned of the purchase, so that a slower reading of the database cannot put an older state back.
    pub(super) learned: u64,
    /// What the device last said of itself.
    pub(super) last_said: Option<DeviceWord>,
    /// The state report that is being stored; one at a time, so that an older one never overwrites a newer one.
    pub(super) recording: Option<DeviceWord>,
    pub(super) unpaid_stop: Option<UnpaidStop<S>>,
    /// Another server owns the machine. This one holds money for its customers, shows the stored cycle, and finishes one whose time is over.
    pub(super) is_remote: bool,
    /// The last purchase that is known to be over.
    pub(super) over: Option<Seen>,
    pub(super) out: Vec<Effect<B, S>>,
}

impl<B: Waiter, S: Waiter> Machine<B, S> {
    /// One of which nothing is known.
    pub fn new(idmesin: MachineId) -> Self {
        Self {
            idmesin,
            loaded: false,
            active: None,
            holding: None,
            queue: VecDeque::new(),
            early: VecDeque::new(),
            loading: None,
            load_at: None,
            told_meanwhile: false,
            learned: 0,
            last_said: None,
            recording: None,
            unpaid_stop: None,
            is_remote: false,
            over: None,
            out: Vec::new(),
        }
    }

    /// One whose open purchase has just been read.
    pub fn with_purchase(idmesin: MachineId, p: Purchase) -> Self {
        Self { loaded: true, active: Some(Active::new(p)), ..Self::new(idmesin) }
    }

    /// Decides what `input` means at `now`.
    pub fn on(&mut self, input: Input<B, S>, now: Timestamp) -> Vec<Effect<B, S>> {
        self.take(input, now);
        std::mem::take(&mut self.out)
    }

    /// When [`Input::Alarm`] is due; changes with every input.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let due = self.active.as_ref().and_then(|active| if self.is_remote { active.over_at() } else { active.wake_at() });
        [due, self.load_at].into_iter().flatten().min()
    }

    /// What runs on it.
    pub fn running(&self) -> Option<&Purchase> {
        self.active.as_ref().map(|a| &a.p).filter(|p| p.state == PurchaseState::Running)
    }

    /// Whether the actor can be dropped without a loss. A remote purchase is read again when a request needs it.
    pub fn is_idle(&self) -> bool {
        self.active.as_ref().is_none_or(|active| self.is_remote && !active.is_committing() && !active.is_awaited())
            && self.holding.is_none()
            && self.queue.is_empty()
            && self.early.is_empty()
            && self.loading.is_none()
            && self.recording.is_none()
            && self.unpaid_stop.as_ref().is_none_or(|stop| !stop.is_awaited())
    }

    fn take(&mut self, input: Input<B, S>, now: Timestamp) {
        if !self.loaded && input.needs_what_is_stored() {
            self.put_off(input, now);
            return self.load();
        }
        if self.loading.is_some() && matches!(input, Input::Said(_)) {
            // It may be about what is being read: a purchase, or a stop, that another server has begun.
            return self.put_off(input, now);
        }
        match input {
            Input::Start(start) => self.start(start, now),
            Input::Await { purchase_id, buyer } => self.wait(purchase_id, buyer, now),
            Input::Stop { purchase_id, operator } => self.stop(purchase_id, operator, now),
            // Dropped, so that the caller asks the database instead. The owner finds the stored stop.
            Input::StopUnpaid { .. } if self.is_remote => {}
            Input::StopUnpaid { cmd_id, operator } => self.stop_unpaid(cmd_id, operator, now),
            Input::Held(result) => self.held(result, now),
            Input::Applied(result) => self.applied(result, now),
            Input::Loaded(result) => self.has_loaded(result, now),
            Input::Recorded(result) => self.recorded(result, now),
            // Device messages go to the owner. One that arrives while ownership moves is dropped; the next query recovers it.
            Input::Said(_) if self.is_remote => {}
            Input::Said(event) => self.said(event, now),
            Input::Alarm => self.alarm(now),
            Input::LookAgain => self.look_again(now),
            Input::AskDevice if self.is_remote => {}
            Input::AskDevice => self.ask_device(now),
            Input::Owned(owned) => self.owned(owned, now),
            Input::Stored(stored) => self.stored(stored, now),
        }
        if self.told_meanwhile {
            self.read_newest();
        }
    }

    /// Reads the stored purchase after the running query or commit, whose result may be older.
    pub(super) fn read_newest(&mut self) {
        self.told_meanwhile = self.is_asking();
        self.load();
    }

    /// Whether an answer of the database is on its way.
    pub(super) fn is_asking(&self) -> bool {
        self.loading.is_some() || self.holding.is_some() || self.is_committing()
    }

    /// Keeps what cannot be judged yet; one too many is turned away.
    fn put_off(&mut self, input: Input<B, S>, now: Timestamp) {
        if self.early.len() < MAX_EARLY {
            self.early.push_back((input, now));
        } else {
            self.turn_away(input);
        }
    }

    /// Answers an input without a decision. A dropped sender makes its caller ask again.
    fn turn_away(&mut self, input: Input<B, S>) {
        match input {
            Input::Start(start) => self.answer(start.buyers, Outcome::Busy),
            Input::Await { buyer, .. } => self.answer(vec![buyer], Outcome::Busy),
            _ => {}
        }
    }

    fn take_early(&mut self, now: Timestamp) {
        for (input, heard_at) in std::mem::take(&mut self.early) {
            self.take(input.heard_before(heard_at.ms_until(now)), now);
        }
    }

    pub(super) fn answer(&mut self, buyers: Vec<B>, outcome: Outcome) {
        if !buyers.is_empty() {
            self.out.push(Effect::Answer { buyers, outcome });
        }
    }

    fn is_committing(&self) -> bool {
        self.active.as_ref().is_some_and(Active::is_committing)
    }

    // --- buying: one start at a time commits its hold; the others wait, or learn that the machine is in use ---

    fn start(&mut self, start: Start<B>, now: Timestamp) {
        // A receipt sent many times at once is one purchase: its repeats wait with the first.
        let waiting = self.holding.iter_mut().map(|(first, _)| first).chain(&mut self.queue);
        if let Some(first) = waiting.into_iter().find(|s| s.order == start.order) {
            first.buyers.retain(|buyer| !buyer.gone());
            if first.buyers.len() < MAX_WAITERS {
                first.buyers.extend(start.buyers);
            } else {
                self.answer(start.buyers, Outcome::Busy);
            }
            return;
        }
        if self.queue.len() >= MAX_WAITING_STARTS {
            return self.answer(start.buyers, Outcome::Refused(Refusal::MachineBusy));
        }
        self.queue.push_back(start);
        if self.is_remote && self.active.is_some() {
            // The known purchase of another server may be stale; the facts of this start were just read.
            self.read_newest();
        }
        self.next_start(now);
    }

    /// Lets the next waiting start try, or refuses all because the machine is in use.
    pub(super) fn next_start(&mut self, now: Timestamp) {
        // What is about to be read may say that the machine is free.
        if self.is_asking() || self.told_meanwhile {
            return;
        }
        if self.active.is_some() || self.reports_unpaid_run() {
            for start in std::mem::take(&mut self.queue) {
                self.answer(start.buyers, Outcome::Refused(Refusal::MachineBusy));
            }
            return;
        }
        while let Some(start) = self.queue.pop_front() {
            if start.is_awaited() {
                let Start { order, machine, service, .. } = &start;
                let (order, machine, service) = (order.clone(), machine.clone(), service.clone());
                self.out.push(Effect::Hold { order, machine, service, at: now });
                self.holding = Some((start, now));
                return;
            }
        }
    }

    fn held(&mut self, result: Result<Held, Unanswered>, now: Timestamp) {
        let Some((start, at)) = self.holding.take() else { return };
        match result {
            Ok(Held::Won { purchase_id, cmd_id, epoch }) => {
                let duration_s = i64::from(start.service.duration_s);
                let mut active = Active::new(step::first(purchase_id, cmd_id, epoch, duration_s, at, now));
                active.buyers = start.buyers;
                self.learned += 1;
                self.active = Some(active);
                self.loaded = true;
                if self.is_remote {
                    // Its owner finds it, and says to the device what is to be said.
                    self.forget_exchange();
                    self.look_soon(now);
                } else {
                    self.feed(PurchaseEvent::Wake, now);
                }
            }
            Ok(Held::Lost(refusal)) => {
                self.answer(start.buyers, Outcome::Refused(refusal));
                if refusal == Refusal::MachineBusy {
                    // Another purchase holds the machine and is not known here yet.
                    self.load();
                }
            }
            Ok(Held::Changed) => self.answer(start.buyers, Outcome::ReadAgain),
            Err(Unanswered) => {
                // The commit may have happened although its answer was lost; the stored purchase decides.
                self.answer(start.buyers, Outcome::Busy);
                self.load();
            }
        }
        self.take_early(now);
        self.next_start(now);
    }

    fn wait(&mut self, purchase_id: PurchaseId, buyer: B, now: Timestamp) {
        match &mut self.active {
            Some(a) if a.p.id == purchase_id => {
                if let Some(outcome) = outcome(a.p.state) {
                    return self.answer(vec![buyer], outcome);
                }
                a.buyers.retain(|buyer| !buyer.gone());
                if a.buyers.len() < MAX_WAITERS {
                    a.buyers.push(buyer);
                } else {
                    self.answer(vec![buyer], Outcome::Busy);
                }
                self.look_soon(now);
            }
            // It may be the one whose hold is committed and not answered yet.
            _ if self.holding.is_some() || self.loading.is_some() => self.put_off(Input::Await { purchase_id, buyer }, now),
            _ => {
                self.answer(vec![buyer], Outcome::ReadAgain);
                self.load();
            }
        }
    }

    fn stop(&mut self, purchase_id: PurchaseId, operator: S, now: Timestamp) {
        match &mut self.active {
            Some(a) if a.p.id == purchase_id && a.operators.len() < MAX_WAITERS => {
                a.operators.retain(|operator| !operator.gone());
                a.operators.push(operator);
                self.feed(PurchaseEvent::StopRequested, now);
                self.look_soon(now);
            }
            // Dropped, so that the operator asks again.
            _ => self.load(),
        }
    }

    // --- reading the stored purchase ---

    pub(super) fn load(&mut self) {
        if !self.is_asking() {
            self.loading = Some(self.learned);
            self.out.push(Effect::Load);
        }
    }

    fn has_loaded(&mut self, result: Result<Option<Purchase>, Unanswered>, now: Timestamp) {
        let Some(learned) = self.loading.take() else { return };
        match result {
            // The running commit is newer and notifies by itself.
            _ if self.is_committing() => {}
            // The actor learned or invalidated something during the read.
            _ if learned != self.learned => self.load(),
            Ok(stored) => {
                (self.loaded, self.load_at) = (true, None);
                self.take_over(stored, now);
                self.look_soon(now);
            }
            Err(Unanswered) => {
                if self.loaded || self.active.is_some() {
                    self.load_at = Some(now.plus_ms(super::active::LOAD_AFTER_MS));
                }
                if !self.loaded {
                    std::mem::take(&mut self.early).into_iter().for_each(|(input, _)| self.turn_away(input));
                }
            }
        }
        self.take_early(now);
        self.next_start(now);
    }

    fn look_again(&mut self, now: Timestamp) {
        match &self.active {
            Some(a) if !self.is_remote && a.wake_at().is_some_and(|at| at <= now) => self.feed(PurchaseEvent::Wake, now),
            _ => self.read_newest(),
        }
    }

    fn alarm(&mut self, now: Timestamp) {
        if self.load_at.is_some_and(|at| at <= now) {
            self.load_at = None;
            self.load();
        }
        if self.wake_at().is_some_and(|at| at <= now) {
            self.feed(PurchaseEvent::Wake, now);
        }
    }
}

impl<B, S> Input<B, S> {
    /// A start does not: its facts have just been read, and the hold finds out what has changed since.
    fn needs_what_is_stored(&self) -> bool {
        matches!(self, Self::Await { .. } | Self::Stop { .. } | Self::Said(_))
    }

    /// The same, when it is looked at only so much later.
    fn heard_before(self, ms: i64) -> Self {
        match self {
            Self::Said(event) => Self::Said(event.heard_before(ms)),
            same => same,
        }
    }
}
