//! Who may buy what: the refusals of `create_snap_transaksi` in the order of the table of docs/contract.md §1.

use super::facts::{Facts, MachineFacts, Order, ServiceFacts, Tested};
use super::state::PurchaseState;
use crate::domain::expiry::has_expired;
use crate::domain::id::PurchaseId;
use crate::domain::timestamp::Timestamp;

/// A refusal that a repeat of the same receipt gets again (docs/contract.md §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    EpayNotFound,
    MachineNotFound,
    ServiceNotFound,
    PriceChanged,
    MachineOffline,
    MachineBusy,
    BalanceTooLow,
    /// Only for a test start, as all that follow: the machine waits for staff.
    NeedsStaff,
    /// It is started by pulses, and is tested so.
    TestedByPulses,
    /// It is started by its relay, and is tested so.
    TestedByRelay,
    /// Pulses are tested on a closed machine.
    NotClosed,
    /// No more pulses are tested on this day.
    TestsUsedUp,
}

impl Refusal {
    const ALL: [Self; 12] = [
        Self::EpayNotFound,
        Self::MachineNotFound,
        Self::ServiceNotFound,
        Self::PriceChanged,
        Self::MachineOffline,
        Self::MachineBusy,
        Self::BalanceTooLow,
        Self::NeedsStaff,
        Self::TestedByPulses,
        Self::TestedByRelay,
        Self::NotClosed,
        Self::TestsUsedUp,
    ];

    /// As it is stored in `nota.tolak`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EpayNotFound => "EPAY_NOT_FOUND",
            Self::MachineNotFound => "MESIN_NOT_FOUND",
            Self::ServiceNotFound => "LAYANAN_NOT_FOUND",
            Self::PriceChanged => "HARGA_CHANGED",
            Self::MachineOffline => "MESIN_OFFLINE",
            Self::MachineBusy => "MESIN_BUSY",
            Self::BalanceTooLow => "SALDO_TOO_LOW",
            Self::NeedsStaff => "PERLU_PETUGAS",
            Self::TestedByPulses => "UJI_PULSA",
            Self::TestedByRelay => "UJI_RELAI",
            Self::NotClosed => "BELUM_DITUTUP",
            Self::TestsUsedUp => "UJI_HABIS",
        }
    }

    fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.as_str() == text)
    }
}

/// Result of an order according to the facts.
#[derive(Debug)]
pub enum Decision {
    /// Allowed: hold the money.
    Allowed { machine: MachineFacts, service: ServiceFacts },
    /// Refused now; to be remembered.
    Refused(Refusal),
    /// Refused before, with the same text.
    RefusedBefore(Refusal),
    /// The receipt number belongs to another body.
    ReceiptTaken,
    /// The receipt is a purchase already.
    Purchased { purchase_id: PurchaseId, state: PurchaseState },
}

impl Decision {
    /// Whether the receipt number was never decided: to refuse it or to hold money for it makes rows.
    pub const fn is_new(&self) -> bool {
        matches!(self, Self::Allowed { .. } | Self::Refused(_))
    }
}

/// Decides; the first failing row answers.
pub fn decide(p: &Order, f: Facts, now: Timestamp) -> Decision {
    if let Some(receipt) = f.receipt {
        if receipt.body_hash != p.body_hash() {
            return Decision::ReceiptTaken;
        }
        if let Some((purchase_id, state)) = receipt.purchase {
            return Decision::Purchased { purchase_id, state };
        }
        if let Some(refusal) = receipt.refusal.as_deref().and_then(Refusal::from_stored) {
            return Decision::RefusedBefore(refusal);
        }
    }
    let Some(epay) = f.epay else { return Decision::Refused(Refusal::EpayNotFound) };
    if f.machine.as_ref().is_some_and(|m| m.idowner != epay.idowner) {
        return Decision::Refused(Refusal::EpayNotFound);
    }
    let Some(machine) = f.machine else { return Decision::Refused(Refusal::MachineNotFound) };
    let Some(service) = f.service.filter(|l| l.idoutlet == machine.idoutlet && p.idoutlet == machine.idoutlet) else {
        return Decision::Refused(Refusal::ServiceNotFound);
    };
    let price = service.tariff.price(now);
    if p.total != price || p.grandtotal != price {
        return Decision::Refused(Refusal::PriceChanged);
    }
    if p.test.is_some() && machine.needs_staff {
        return Decision::Refused(Refusal::NeedsStaff);
    }
    if !machine.online {
        return Decision::Refused(Refusal::MachineOffline);
    }
    if machine.busy {
        return Decision::Refused(Refusal::MachineBusy);
    }
    if let Some(refusal) = p.test.as_ref().and_then(|test| refuse_test(test.of, &machine)) {
        return Decision::Refused(refusal);
    }
    let enough =
        epay.wallet.is_some_and(|wallet| !wallet.expires_at.is_some_and(|at| has_expired(at, now)) && wallet.balance >= price);
    if enough { Decision::Allowed { machine, service } } else { Decision::Refused(Refusal::BalanceTooLow) }
}

fn refuse_test(test: Tested, machine: &MachineFacts) -> Option<Refusal> {
    match (test, machine.coin) {
        (Tested::Run(_), None) => None,
        (Tested::Run(_), Some(_)) => Some(Refusal::TestedByPulses),
        (Tested::Pulses { .. }, None) => Some(Refusal::TestedByRelay),
        (Tested::Pulses { .. }, Some(_)) if !machine.tests.closed => Some(Refusal::NotClosed),
        (Tested::Pulses { n, .. }, Some(_)) => {
            (machine.tests.pulses + i64::from(n) > i64::from(Tested::MAX_PULSES_A_DAY)).then_some(Refusal::TestsUsedUp)
        }
    }
}
