//! The machine, decided (docs: ARCHITECTURE.md): queue, cache and alarm clock of its purchase. Inputs and the time come in, effects go
//! out, and there is no mailbox, clock, database or device in here. The actor (`machine::actor`) carries the effects out and brings back
//! what became of them; the simulation in the tests drives the same code through thousands of histories.

mod active;
mod decide;
mod device_word;
mod remote;
#[cfg(test)]
mod tests;

pub use decide::Machine;

use uuid::Uuid;

use crate::domain::id::PurchaseId;
use crate::domain::timestamp::Timestamp;
use crate::purchase::device::{Command, DeviceEvent, ReportedRun};
use crate::purchase::facts::{MachineFacts, Order, ServiceFacts};
use crate::purchase::rules::Refusal;
use crate::purchase::step::{Change, Cycle, Held, Purchase, PurchaseEvent};

/// A caller who waits for an answer.
pub trait Waiter {
    /// Whether the caller no longer waits.
    fn gone(&self) -> bool;
}

/// A purchase order that was allowed by the facts when they were read.
#[derive(Debug)]
pub struct Start<B> {
    pub order: Order,
    pub machine: MachineFacts,
    pub service: ServiceFacts,
    /// Who waits: the first request, and repeats of the same receipt and body that came while it was undecided.
    pub buyers: Vec<B>,
}

impl<B: Waiter> Start<B> {
    /// Whether a caller still waits. After a 504 or a closed connection nothing is bought for that caller any more.
    fn is_awaited(&self) -> bool {
        self.buyers.iter().any(|buyer| !buyer.gone())
    }
}

/// Outcome of a purchase for all callers who wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The machine runs, or has run.
    Started,
    /// The device did not start; the money is back.
    NotStarted,
    /// Refused before any money moved; the handler remembers it.
    Refused(Refusal),
    /// What was known is out of date: read the facts again.
    ReadAgain,
    /// The database cannot take it now; nothing was decided.
    Busy,
}

/// The database gave no answer: whether it did what it was asked is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unanswered;

/// Input of a machine. `B` waits for a purchase, `S` for a stop.
#[derive(Debug)]
pub enum Input<B, S> {
    /// Buy.
    Start(Start<B>),
    /// Wait for the outcome of a purchase that is already there.
    Await { purchase_id: PurchaseId, buyer: B },
    /// An operator's stop, which is stored. Answered when the run has ended; one that is dropped is to be asked again.
    Stop { purchase_id: PurchaseId, operator: S },
    /// An operator's stop of a run that is no open purchase's.
    StopUnpaid { cmd_id: Uuid, operator: S },
    /// What became of [`Effect::Hold`].
    Held(Result<Held, Unanswered>),
    /// What became of [`Effect::Apply`]; `false`: the stored state was another one.
    Applied(Result<bool, Unanswered>),
    /// What [`Effect::Load`] found: the open purchase.
    Loaded(Result<Option<Purchase>, Unanswered>),
    /// What became of [`Effect::Record`]: whether a purchase that was finished runs again.
    Recorded(Result<bool, Unanswered>),
    /// The device said something.
    Said(DeviceEvent),
    /// [`Machine::wake_at`] has come.
    Alarm,
    /// Notifications may have been missed: read the stored purchase.
    LookAgain,
    /// The machine waits for staff: ask its device what it runs.
    AskDevice,
    /// Whether this server owns the machine; at first it does.
    Owned(bool),
    /// The stored open purchase of a remote machine, read together with many others.
    Stored(Option<Purchase>),
}

/// What is to be done, in this order.
#[derive(Debug)]
pub enum Effect<B, S> {
    /// Hold the money. `at` becomes the purchase's `created_at`.
    Hold { order: Order, machine: MachineFacts, service: ServiceFacts, at: Timestamp },
    /// Commit `change`, after which the purchase is `next`. `cause`: what it was made of.
    Apply { next: Purchase, change: Change, cause: PurchaseEvent, at: Timestamp },
    /// Read the machine's open purchase.
    Load,
    /// Store what the device says of itself; `foreign`: its run is not the open purchase's.
    Record { online: bool, run: Option<ReportedRun>, foreign: bool, at: Timestamp },
    /// Give it to the device.
    Command(Command),
    /// The device answered the open purchase's command, `after_ms` milliseconds after it was first sent.
    Answered { after_ms: i64 },
    /// Write the cycle to the machine's status, then notify the watchers.
    Show { cycle: Option<Cycle>, news: Option<CycleNews> },
    /// Answer the waiting purchases.
    Answer { buyers: Vec<B>, outcome: Outcome },
    /// Answer the operators who wait for the end of the cycle.
    Ended(Vec<S>),
}

/// What has just become of a countdown (docs/contract.md §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CycleNews {
    Runs(Cycle),
    Over {
        ends_at: Timestamp,
    },
    /// A hold was voided.
    GivenBack,
}
