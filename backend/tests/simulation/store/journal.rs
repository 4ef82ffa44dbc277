//! The questions to the store, with its answers. They leave out the ids that PostgreSQL generates, so that both can be compared.

use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::StateReport;
use nyala_core::purchase::rules::{Decision, Refusal};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Held;
use nyala_core::purchase::step::{Change, Purchase};

use super::record::Recorded;
use super::rows::OrderRow;

/// A question to the database, and its answer.
#[derive(Debug, Clone)]
pub enum Asked {
    Facts {
        order: OrderRow,
        decision: String,
        now: Timestamp,
    },
    Open {
        machine: usize,
        stored: Option<Stored>,
    },
    Hold {
        order: OrderRow,
        now: Timestamp,
        held: Result<PurchaseId, Option<Refusal>>,
    },
    Refuse {
        order: OrderRow,
        why: Refusal,
        now: Timestamp,
        done: bool,
    },
    Apply {
        purchase: PurchaseId,
        change: Change,
        now: Timestamp,
        done: bool,
    },
    /// `of`: the purchase whose run it is; `named`: the one of which it says that the machine never ran.
    Record {
        machine: usize,
        report: StateReport,
        of: Option<PurchaseId>,
        named: Option<PurchaseId>,
        foreign: bool,
        now: Timestamp,
        done: Recorded,
    },
    Set {
        machine: usize,
        what: MachineWrite,
    },
    Stop {
        purchase: PurchaseId,
        now: Timestamp,
    },
    OpenMachine {
        machine: usize,
        now: Timestamp,
    },
    Refund {
        purchase: PurchaseId,
        amount: i64,
        now: Timestamp,
        done: bool,
    },
}

/// What other statements than `device::record` write about a machine.
#[derive(Debug, Clone, Copy)]
pub enum MachineWrite {
    Online(bool),
    NeedsStaff,
    Closed,
    /// Whether its board knows pulses.
    Pulses(bool),
}

/// An open purchase as it is read back, without the ids that PostgreSQL generates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    pub epoch: i64,
    pub duration_s: i64,
    pub created_at: Timestamp,
    pub state: PurchaseState,
    pub ends_at: Timestamp,
    pub stop_requested: bool,
}

impl From<&Purchase> for Stored {
    fn from(p: &Purchase) -> Self {
        let Purchase { epoch, duration_s, created_at, state, ends_at, .. } = *p;
        Self { epoch, duration_s, created_at, state, ends_at, stop_requested: p.exchange.stop_requested }
    }
}

/// A decision without ids.
pub fn decision_text(decision: &Decision) -> String {
    match decision {
        Decision::Allowed { service, .. } => format!("hold {} s", service.duration_s),
        Decision::Refused(why) => format!("refused: {why:?}"),
        Decision::RefusedBefore(why) => format!("refused before: {why:?}"),
        Decision::ReceiptTaken => "another body".to_owned(),
        Decision::Purchased { state, .. } => format!("is {state:?}"),
    }
}

/// A hold's outcome without the ids that PostgreSQL generates.
pub fn outcome(held: &Held) -> Result<PurchaseId, Option<Refusal>> {
    match held {
        Held::Won { purchase_id, .. } => Ok(*purchase_id),
        Held::Lost(why) => Err(Some(*why)),
        Held::Changed => Err(None),
    }
}
