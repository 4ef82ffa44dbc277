//! The machine, decided (docs: ARCHITECTURE.md): queue, cache and alarm clock of its purchase. Inputs and the time come in, effects go
//! out, and there is no mailbox, clock, database or device in here. The actor (`nyala_machines::actor`) performs the effects and returns
//! their results; the simulation in the tests drives the same code through thousands of histories.

mod device_reports;
mod open_purchase;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};

use uuid::Uuid;

use crate::domain::id::{MachineId, PurchaseId};
use crate::domain::timestamp::Timestamp;
use crate::purchase::device::{Command, DeviceEvent, StateReport};
use crate::purchase::facts::{MachineFacts, Order, ServiceFacts};
use crate::purchase::rules::Refusal;
use crate::purchase::state::PurchaseState;
use crate::purchase::step::{self, Change, Cycle, Exchange, Held, Purchase, PurchaseEvent, StartCommand};
use crate::purchase::times::{LOOK_EVERY_MS, MAX_WAITERS, MAX_WAITING_STARTS};
use device_reports::UnpaidStop;
use open_purchase::{OpenPurchase, PurchaseProgress, outcome};

/// Inputs that may wait until what they depend on is read or held.
const MAX_DEFERRED: usize = 256;
/// Time until the stored purchase is read again after the database failed.
const RELOAD_AFTER_MS: i64 = 500;

/// A caller who waits for an answer. The shell knows where the answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// A purchase order that was allowed by the facts when they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    pub order: Order,
    pub machine: MachineFacts,
    pub service: ServiceFacts,
    /// Who waits: the first request, and repeats of the same receipt and body that came while it was undecided. When all of them are gone
    /// (after a 504 or a closed connection), nothing is bought for them any more.
    pub buyers: Vec<RequestId>,
}

/// Answer to all requests that wait for the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The machine runs, or has run.
    Started,
    /// The device did not start; the money is back.
    NotStarted,
    /// Refused before any money moved; the handler remembers it.
    Refused(Refusal),
    /// The cycle that an operator stops has ended.
    Ended,
    /// Nothing was decided, or what was known is out of date: read the database.
    ReadAgain,
    /// The database cannot take it now; nothing was decided.
    Busy,
}

/// The database gave no answer: whether it did what it was asked is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unanswered;

/// Input of a machine.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Buy.
    Start(Start),
    /// Wait for the outcome of a purchase that is already there.
    Await { purchase_id: PurchaseId, buyer: RequestId },
    /// An operator's stop, which is stored. Answered when the cycle has ended.
    Stop { purchase_id: PurchaseId, operator: Option<RequestId> },
    /// A stored stop of a cycle that is no open purchase's. Recovery repeats it without an operator.
    StopUnpaid { cmd_id: Uuid, operator: Option<RequestId> },
    /// Requests that no longer wait: their customers or operators have gone, or their time is over.
    Gone(BTreeSet<RequestId>),
    /// Result of [`Effect::Hold`].
    Held(Result<Held, Unanswered>),
    /// Result of [`Effect::Apply`]; `false`: the stored state was another one.
    Applied(Result<bool, Unanswered>),
    /// Result of [`Effect::Load`]: the open purchase.
    Loaded(Result<Option<Purchase>, Unanswered>),
    /// Result of [`Effect::Record`]: whether a purchase that was finished runs again.
    Recorded(Result<bool, Unanswered>),
    /// The device sent a message.
    Device(DeviceEvent),
    /// [`Machine::wake_at`] has come.
    Alarm,
    /// Notifications may have been missed: read the stored purchase.
    Reload,
    /// The machine waits for staff: ask its device what it runs.
    QueryDevice,
    /// Whether this server owns the machine; at first it does.
    Owned(bool),
    /// The stored open purchase of a remote machine, read together with many others.
    Stored(Option<Purchase>),
}

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Hold the money. `at` becomes the purchase's `created_at`.
    Hold { order: Order, machine: MachineFacts, service: ServiceFacts, at: Timestamp },
    /// Commit `change`, after which the purchase is `next`. `cause`: what it was made of.
    Apply { next: Purchase, change: Change, cause: PurchaseEvent, at: Timestamp },
    /// Read the machine's open purchase.
    Load,
    /// Store a state report; `unpaid`: its cycle is not the open purchase's.
    Record { report: StateReport, unpaid: bool, at: Timestamp },
    /// Send it to the device.
    Command(Command),
    /// The device answered the open purchase's command, `after_ms` milliseconds after it was first sent.
    Answered { after_ms: i64 },
    /// Write the cycle to the machine's status, then notify the watchers.
    Show { cycle: Option<Cycle>, change: Option<CycleChange> },
    /// Answer these requests. Each request is answered once, unless it is gone before.
    Answer { requests: Vec<RequestId>, outcome: Outcome },
}

/// What has just become of a countdown (docs/contract.md §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CycleChange {
    Runs(Cycle),
    Over {
        ends_at: Timestamp,
    },
    /// A hold was voided.
    Voided,
}

/// One machine. It decides, and nothing else: the same inputs at the same times give the same effects.
///
/// The caller performs the effects of [`Machine::on`] in their order before the next input, and owes it:
/// - one `Held`, `Applied`, `Loaded` or `Recorded` for each `Hold`, `Apply`, `Load` and `Record`. A machine asks for one hold, one apply, one
///   load and one record at a time, so a result needs no id;
/// - an `Alarm` when the time [`Machine::wake_at`] has come, which changes with every input;
/// - an `Owned` when the owner has changed, and `Gone` when a request has stopped waiting, both before the next input. An input whose
///   caller has gone before comes [without it](Input::without_caller).
///
/// It reads first: a new machine decides about a `Start` only, until the open purchase is loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    idmesin: MachineId,
    /// Whether the stored purchase was read since this machine was made.
    loaded: bool,
    open: Option<OpenPurchase>,
    /// The purchase whose hold is being committed, and when that began.
    holding: Option<(Start, Timestamp)>,
    queue: VecDeque<Start>,
    /// Inputs that came before they could be decided, and when.
    deferred: VecDeque<(Input, Timestamp)>,
    /// The counter `learned` at the beginning of the running read.
    loading: Option<u64>,
    /// When to read the stored purchase again.
    load_at: Option<Timestamp>,
    /// A notification arrived while a query was in flight, so its result may be stale: reload when it completes.
    reload_after: bool,
    /// Counts what was learned of the purchase, so that a slower reading of the database cannot put an older state back.
    learned: u64,
    /// The device's last state report.
    last_report: Option<StateReport>,
    /// The state report that is being stored; one at a time, so that an older one never overwrites a newer one.
    recording: Option<StateReport>,
    unpaid_stop: Option<UnpaidStop>,
    /// Another server owns the machine. This one holds money for its customers, shows the stored cycle, and finishes one whose time is over.
    is_remote: bool,
    /// The last purchase that is known to have ended.
    ended: Option<PurchaseProgress>,
    out: Vec<Effect>,
}

impl Machine {
    /// Machine of which nothing is known.
    pub fn new(idmesin: MachineId) -> Self {
        Self {
            idmesin,
            loaded: false,
            open: None,
            holding: None,
            queue: VecDeque::new(),
            deferred: VecDeque::new(),
            loading: None,
            load_at: None,
            reload_after: false,
            learned: 0,
            last_report: None,
            recording: None,
            unpaid_stop: None,
            is_remote: false,
            ended: None,
            out: Vec::new(),
        }
    }

    /// One whose open purchase has just been read.
    pub fn with_purchase(idmesin: MachineId, p: Purchase) -> Self {
        Self { loaded: true, open: Some(OpenPurchase::new(p)), ..Self::new(idmesin) }
    }

    /// Decides what `input` means at `now`.
    pub fn on(&mut self, input: Input, now: Timestamp) -> Vec<Effect> {
        self.take(input, now);
        std::mem::take(&mut self.out)
    }

    /// When [`Input::Alarm`] is due; changes with every input.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let due = self.open.as_ref().and_then(|open| if self.is_remote { open.over_at() } else { open.wake_at() });
        [due, self.load_at].into_iter().flatten().min()
    }

    /// What runs on it.
    pub fn running(&self) -> Option<&Purchase> {
        self.open.as_ref().map(|open| &open.p).filter(|p| p.state == PurchaseState::Running)
    }

    /// Whether the actor can be dropped without a loss. A remote purchase is read again when a request needs it.
    pub fn is_idle(&self) -> bool {
        self.open.as_ref().is_none_or(|open| self.is_remote && !open.is_committing() && !open.is_awaited())
            && self.holding.is_none()
            && self.queue.is_empty()
            && self.deferred.is_empty()
            && self.loading.is_none()
            && self.recording.is_none()
            && self.unpaid_stop.as_ref().is_none_or(|stop| stop.operators.is_empty())
    }

    fn take(&mut self, input: Input, now: Timestamp) {
        if !self.loaded && input.needs_stored_purchase() {
            self.defer(input, now);
            return self.load();
        }
        if (self.loading.is_some() || self.is_unsettled()) && matches!(input, Input::Device(_)) {
            // The message may concern the state that is being read or committed: a purchase or a stop of another server, or a cycle that the
            // clock is about to finish and that in fact ends later, because the device had no power.
            return self.defer(input, now);
        }
        match input {
            Input::Start(start) => self.start(start, now),
            Input::Await { purchase_id, buyer } => self.await_outcome(purchase_id, buyer, now),
            Input::Stop { purchase_id, operator } => self.stop(purchase_id, operator, now),
            // The caller reads the database instead. The owner finds the stored stop.
            Input::StopUnpaid { operator, .. } if self.is_remote => self.answer(operator, Outcome::ReadAgain),
            Input::StopUnpaid { cmd_id, operator } => self.stop_unpaid(cmd_id, operator, now),
            Input::Gone(requests) => self.forget(&requests),
            Input::Held(result) => self.held(result, now),
            Input::Applied(result) => self.applied(result, now),
            Input::Loaded(result) => self.has_loaded(result, now),
            Input::Recorded(result) => self.recorded(result, now),
            // Device messages go to the owner. One that arrives while ownership moves is dropped; the next query recovers it.
            Input::Device(_) if self.is_remote => {}
            Input::Device(event) => self.on_device_event(event, now),
            Input::Alarm => self.alarm(now),
            Input::Reload => self.on_reload(now),
            Input::QueryDevice if self.is_remote => {}
            Input::QueryDevice => self.query_device(now),
            Input::Owned(owned) => self.owned(owned, now),
            Input::Stored(stored) => self.stored(stored, now),
        }
        if self.reload_after {
            self.reload();
        }
    }

    /// Reads the stored purchase after the running query or commit, whose result may be older.
    fn reload(&mut self) {
        self.reload_after = self.is_query_running();
        self.load();
    }

    /// Whether an answer of the database is on its way.
    fn is_query_running(&self) -> bool {
        self.loading.is_some() || self.holding.is_some() || self.is_committing()
    }

    /// Keeps what cannot be judged yet; one too many is turned away.
    fn defer(&mut self, input: Input, now: Timestamp) {
        if self.deferred.len() < MAX_DEFERRED {
            self.deferred.push_back((input, now));
        } else {
            self.reject(input);
        }
    }

    /// Answers a deferred input without a decision.
    fn reject(&mut self, input: Input) {
        match input {
            Input::Await { buyer, .. } => self.answer([buyer], Outcome::Busy),
            Input::Stop { operator, .. } => self.answer(operator, Outcome::ReadAgain),
            _ => {}
        }
    }

    fn take_deferred(&mut self, now: Timestamp) {
        for (input, received_at) in std::mem::take(&mut self.deferred) {
            self.take(input.aged_by(received_at.ms_until(now)), now);
        }
    }

    fn answer(&mut self, requests: impl IntoIterator<Item = RequestId>, outcome: Outcome) {
        let requests = Vec::from_iter(requests);
        if !requests.is_empty() {
            self.out.push(Effect::Answer { requests, outcome });
        }
    }

    /// Forgets requests that no longer wait. Everything they asked for continues, except a purchase that is not held yet.
    fn forget(&mut self, gone: &BTreeSet<RequestId>) {
        let starts = self.holding.iter_mut().map(|(start, _)| start).chain(&mut self.queue).map(|start| &mut start.buyers);
        let open = self.open.iter_mut().flat_map(|open| [&mut open.buyers, &mut open.operators]);
        let unpaid = self.unpaid_stop.iter_mut().map(|stop| &mut stop.operators);
        starts.chain(open).chain(unpaid).for_each(|waiting| waiting.retain(|request| !gone.contains(request)));
        self.deferred.retain_mut(|(input, _)| match input {
            Input::Await { buyer, .. } => !gone.contains(buyer),
            Input::Stop { operator, .. } => {
                operator.take_if(|operator| gone.contains(operator));
                true
            }
            _ => true,
        });
    }

    fn is_committing(&self) -> bool {
        self.open.as_ref().is_some_and(OpenPurchase::is_committing)
    }

    /// Whether what the open purchase is now depends on an answer of the database.
    fn is_unsettled(&self) -> bool {
        self.open.as_ref().is_some_and(OpenPurchase::is_unsettled)
    }

    // --- buying: one start at a time commits its hold; the others wait, or learn that the machine is in use ---

    fn start(&mut self, start: Start, now: Timestamp) {
        // A receipt sent many times at once is one purchase: its repeats wait with the first.
        let waiting = self.holding.iter_mut().map(|(first, _)| first).chain(&mut self.queue);
        if let Some(first) = waiting.into_iter().find(|s| s.order == start.order) {
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
        if self.is_remote && self.open.is_some() {
            // The known purchase of another server may be stale; the facts of this start were just read.
            self.reload();
        }
        self.next_start(now);
    }

    /// Lets the next waiting start try, or refuses all because the machine is in use.
    fn next_start(&mut self, now: Timestamp) {
        // The read that is pending may find that the machine is free.
        if self.is_query_running() || self.reload_after {
            return;
        }
        if self.open.is_some() || self.reports_unpaid_run() {
            for start in std::mem::take(&mut self.queue) {
                self.answer(start.buyers, Outcome::Refused(Refusal::MachineBusy));
            }
            return;
        }
        while let Some(start) = self.queue.pop_front() {
            if !start.buyers.is_empty() {
                let Start { order, machine, service, .. } = &start;
                // An hour of other prices may have begun while it waited.
                if service.tariff.price(now) != order.grandtotal {
                    self.answer(start.buyers, Outcome::Refused(Refusal::PriceChanged));
                    continue;
                }
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
                let pulses = start.machine.pulses(&start.service);
                let command = StartCommand { cmd_id, epoch, duration_s: i64::from(start.service.duration_s), pulses };
                let mut active = OpenPurchase::new(step::first(purchase_id, command, at, now));
                active.buyers = start.buyers;
                self.learned += 1;
                self.open = Some(active);
                self.loaded = true;
                if self.is_remote {
                    // Its owner finds it, and sends the device its commands.
                    self.forget_exchange();
                    self.reload_soon(now);
                } else {
                    self.apply_event(PurchaseEvent::Wake, now);
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
        self.take_deferred(now);
        self.next_start(now);
    }

    fn await_outcome(&mut self, purchase_id: PurchaseId, buyer: RequestId, now: Timestamp) {
        match &mut self.open {
            Some(open) if open.p.id == purchase_id => {
                if let Some(outcome) = outcome(open.p.state) {
                    return self.answer([buyer], outcome);
                }
                if open.buyers.len() < MAX_WAITERS {
                    open.buyers.push(buyer);
                } else {
                    self.answer([buyer], Outcome::Busy);
                }
                self.reload_soon(now);
            }
            // It may be the one whose hold is committed and not answered yet.
            _ if self.holding.is_some() || self.loading.is_some() => self.defer(Input::Await { purchase_id, buyer }, now),
            _ => {
                self.answer([buyer], Outcome::ReadAgain);
                self.load();
            }
        }
    }

    fn stop(&mut self, purchase_id: PurchaseId, operator: Option<RequestId>, now: Timestamp) {
        match &mut self.open {
            Some(open) if open.p.id == purchase_id && open.operators.len() < MAX_WAITERS => {
                open.operators.extend(operator);
                if open.is_unsettled() {
                    return self.defer(Input::Stop { purchase_id, operator: None }, now);
                }
                self.apply_event(PurchaseEvent::StopRequested, now);
                self.reload_soon(now);
            }
            _ => {
                self.answer(operator, Outcome::ReadAgain);
                self.load();
            }
        }
    }

    // --- reading the stored purchase ---

    fn load(&mut self) {
        if !self.is_query_running() {
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
                let was_open = self.open.is_some();
                self.adopt_stored(stored, now);
                // A cycle that runs again was stored from a state report, and its device may have reported more while that was stored and read.
                if !was_open && let Some(run) = self.last_report.and_then(|report| report.run) {
                    self.apply_event(PurchaseEvent::Runs(run.at(now)), now);
                }
                self.reload_soon(now);
            }
            Err(Unanswered) => {
                if self.loaded || self.open.is_some() {
                    self.load_at = Some(now.plus_ms(RELOAD_AFTER_MS));
                }
                if !self.loaded {
                    std::mem::take(&mut self.deferred).into_iter().for_each(|(input, _)| self.reject(input));
                }
            }
        }
        self.take_deferred(now);
        self.next_start(now);
    }

    fn on_reload(&mut self, now: Timestamp) {
        match &self.open {
            Some(open) if !self.is_remote && open.wake_at().is_some_and(|at| at <= now) => {
                self.apply_event(PurchaseEvent::Wake, now)
            }
            _ => self.reload(),
        }
    }

    fn alarm(&mut self, now: Timestamp) {
        if self.load_at.is_some_and(|at| at <= now) {
            self.load_at = None;
            self.load();
        }
        if self.wake_at().is_some_and(|at| at <= now) {
            self.apply_event(PurchaseEvent::Wake, now);
        }
    }

    // --- a machine that another server owns ---

    fn owned(&mut self, owned: bool, now: Timestamp) {
        if self.is_remote != owned {
            return;
        }
        self.is_remote = !owned;
        // The exchange with the device is outdated: other servers may have sent commands since.
        self.forget_exchange();
        (self.last_report, self.loaded) = (None, false);
        let operators = self.unpaid_stop.take().map(|stop| stop.operators);
        self.answer(operators.into_iter().flatten(), Outcome::ReadAgain);
        self.learned += 1;
        if self.open.is_some() {
            self.reload();
        }
        self.next_start(now);
    }

    fn forget_exchange(&mut self) {
        if let Some(open) = &mut self.open {
            open.p.boot = None;
            open.p.exchange = Exchange { stop_requested: open.p.exchange.stop_requested, ..Exchange::default() };
        }
    }

    /// Schedules a read of the stored purchase while a caller waits here for the owner's decision.
    fn reload_soon(&mut self, now: Timestamp) {
        if self.is_remote && self.load_at.is_none() && self.open.as_ref().is_some_and(OpenPurchase::is_awaited) {
            self.load_at = Some(now.plus_ms(LOOK_EVERY_MS));
        }
    }

    /// Reading it alone is newer and cannot be overtaken.
    fn stored(&mut self, stored: Option<Purchase>, now: Timestamp) {
        if !self.is_remote {
            return;
        }
        if self.is_query_running() {
            return self.reload();
        }
        let known = self.open.as_ref().map_or(self.ended, |open| Some(PurchaseProgress::of(&open.p)));
        match &stored {
            Some(p) if known.is_some_and(|known| PurchaseProgress::of(p) < known) => {}
            Some(_) => {
                self.adopt_stored(stored, now);
                self.take_deferred(now);
            }
            // It may have been read before the purchase that is known here began.
            None if self.open.is_some() => self.load(),
            None => {}
        }
    }
}

impl Input {
    /// The input whose caller has gone before it was processed: a stop is still carried out, a purchase is not.
    #[must_use]
    pub fn without_caller(self) -> Option<Self> {
        match self {
            Self::Start(_) | Self::Await { .. } => None,
            Self::Stop { purchase_id, .. } => Some(Self::Stop { purchase_id, operator: None }),
            Self::StopUnpaid { cmd_id, .. } => Some(Self::StopUnpaid { cmd_id, operator: None }),
            other => Some(other),
        }
    }

    /// A start does not: its facts have just been read, and the hold finds out what has changed since.
    fn needs_stored_purchase(&self) -> bool {
        matches!(self, Self::Await { .. } | Self::Stop { .. } | Self::Device(_))
    }

    /// The same input, received `ms` milliseconds earlier.
    fn aged_by(self, ms: i64) -> Self {
        match self {
            Self::Device(event) => Self::Device(event.aged_by(ms)),
            same => same,
        }
    }
}
