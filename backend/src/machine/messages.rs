//! What a machine's actor is told.

use actix::Message;
use tokio::sync::oneshot;

use super::device::DeviceEvent;
use crate::domain::timestamp::Timestamp;
use crate::http::error::AppError;
use crate::ledger::purchase::Held;
use crate::purchase::facts::{MachineFacts, Order, ServiceFacts};
use crate::purchase::rules::Refusal;
use crate::purchase::step::Purchase;

/// How a purchase turned out, for everybody who waits for it.
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

pub type Waiter = oneshot::Sender<Outcome>;

/// Buy: the facts stood for it when they were read.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Start {
    pub order: Order,
    pub machine: MachineFacts,
    pub service: ServiceFacts,
    /// Who waits: the first request, and repeats of the same receipt and body that came while it was undecided.
    pub waiter: Vec<Waiter>,
}

impl Start {
    /// Whether anybody still waits: whoever was answered 504 or hung up has nothing bought in their name any more.
    pub fn is_awaited(&self) -> bool {
        self.waiter.iter().any(|waiter| !waiter.is_closed())
    }

    pub fn answer(self, outcome: Outcome) {
        for waiter in self.waiter {
            let _ = waiter.send(outcome);
        }
    }
}

/// Wait for the outcome of a purchase that is already there.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Await {
    pub idtransaksi: i64,
    pub waiter: Waiter,
}

/// An operator's stop; its audit row and outbox row are committed. Answers when the run has ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Stop {
    pub idtransaksi: i64,
    pub waiter: oneshot::Sender<()>,
}

/// The device said something.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub struct Said(pub DeviceEvent);

/// Look at the stored state again: the reaper or the outbox relay thinks something was missed.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Reload;

/// The hold's transaction ended (internal).
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct HoldDone {
    pub result: Result<Held, AppError>,
    pub now: Timestamp,
}

/// A stored purchase, or none (internal, after `Reload`).
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Loaded {
    /// What the actor had learned when it asked.
    pub learned: u64,
    pub result: Result<Option<Purchase>, AppError>,
}

/// A change was committed, found already different, or failed (internal).
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Applied {
    pub next: Purchase,
    pub send: Option<crate::purchase::step::Op>,
    pub result: Result<bool, AppError>,
}

/// Leave memory, unless something came up since the registry forgot this actor (internal).
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Leave;

/// Ask the device what it runs: the machine waits for staff.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct AskDevice;

/// The machine's alarm rang.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Ring;

/// Somebody watches who did not before: ticks are wanted.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Watched;
