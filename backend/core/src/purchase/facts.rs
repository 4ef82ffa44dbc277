//! What a purchase's rules need to know.

use super::device::Pulses;
use super::state::PurchaseState;
use crate::domain::driver_kind::DriverKind;
use crate::domain::id::{CustomerId, MachineId, OutletId, OwnerId, PurchaseId, ServiceId, WalletId};
use crate::domain::receipt_number::ReceiptNumber;
use crate::domain::timestamp::Timestamp;
use crate::prices::Tariff;

/// What the customer asks for: the body of `create_snap_transaksi` (docs/product.md §3) and who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub id_customer_global: CustomerId,
    pub receipt_number: ReceiptNumber,
    pub idcustomer: WalletId,
    pub idmesin: MachineId,
    pub idoutlet: OutletId,
    pub idlayanan: ServiceId,
    pub total: i64,
    pub grandtotal: i64,
    /// `None` for a customer's purchase.
    pub test: Option<TestStart>,
}

/// A test start by staff, which is also possible on a closed machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestStart {
    pub of: Tested,
    /// Who starts it, as the audit log has it.
    pub by: String,
}

/// What a test start does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tested {
    /// Closes the relay for so many seconds.
    Run(i32),
    /// Sends coin pulses, which begin no run.
    Pulses {
        n: i32,
        /// When the outlet's business day began.
        day_began: Timestamp,
    },
}

impl Tested {
    /// Most coin pulses of a test.
    pub const MAX_PULSES: i32 = 5;
    /// Most of all tests of a machine in a business day. Those that the device refused count: it may have sent them.
    pub const MAX_PULSES_A_DAY: i32 = 10;

    /// Seconds for which the machine runs.
    pub const fn seconds(self) -> i32 {
        match self {
            Self::Run(seconds) => seconds,
            Self::Pulses { .. } => 0,
        }
    }

    pub const fn pulses(self) -> Option<i32> {
        match self {
            Self::Run(_) => None,
            Self::Pulses { n, .. } => Some(n),
        }
    }

    pub const fn day_began(self) -> Option<Timestamp> {
        match self {
            Self::Run(_) => None,
            Self::Pulses { day_began, .. } => Some(day_began),
        }
    }
}

impl Order {
    /// The same number and body is the same purchase (docs/contract.md §2); this is the body, canonically.
    pub fn body_hash(&self) -> Vec<u8> {
        use sha2::{Digest, Sha256};
        let mut text = format!(
            "{}|{}|{}|{}|{}|{}",
            self.idcustomer, self.idmesin, self.idoutlet, self.idlayanan, self.total, self.grandtotal
        );
        match self.test.as_ref().map(|test| test.of) {
            Some(Tested::Run(seconds)) => text += &format!("|{seconds}"),
            Some(Tested::Pulses { n, .. }) => text += &format!("|pulsa {n}"),
            None => {}
        }
        Sha256::digest(text.as_bytes()).to_vec()
    }
}

/// A receipt number that was used before.
#[derive(Debug, Clone)]
pub struct KnownReceipt {
    pub body_hash: Vec<u8>,
    /// A remembered refusal (`rules::Refusal::as_str`).
    pub refusal: Option<String>,
    /// The purchase it became.
    pub purchase: Option<(PurchaseId, PurchaseState)>,
}

#[derive(Debug, Clone)]
pub struct Epay {
    pub idowner: OwnerId,
    /// `None`: the account was never topped up.
    pub wallet: Option<Wallet>,
}

#[derive(Debug, Clone)]
pub struct Wallet {
    pub balance: i64,
    /// The last moment at which it pays; `None` for an account that never expires.
    pub expires_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineFacts {
    pub idoutlet: OutletId,
    pub idowner: OwnerId,
    pub name: String,
    pub driver: DriverKind,
    /// Reachable and on sale; for a test start: reachable.
    pub online: bool,
    /// Its money was returned although its device sent nothing. For customers it is offline then.
    pub needs_staff: bool,
    pub busy: bool,
    /// How it is started by coin pulses; `None`: by a relay.
    pub coin: Option<CoinInput>,
    pub tests: TestFacts,
}

/// What a test of coin pulses needs to know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestFacts {
    /// Closed by staff.
    pub closed: bool,
    /// Pulses of the machine's tests since the business day began.
    pub pulses: i64,
}

/// What a machine's coin input wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoinInput {
    /// Pulses of this machine; `None`: the service's.
    pub n: Option<i32>,
    pub width_ms: i32,
    pub gap_ms: i32,
    /// Seconds without the running signal after which the machine has ended.
    pub sense_s: i32,
}

impl MachineFacts {
    /// What starts it for a service; `None`: its relay does.
    pub fn pulses(&self, service: &ServiceFacts) -> Option<Pulses> {
        let CoinInput { n, width_ms, gap_ms, sense_s } = self.coin?;
        Some(Pulses { n: n.unwrap_or(service.pulses), width_ms, gap_ms, sense_s })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceFacts {
    pub idoutlet: OutletId,
    pub name: String,
    pub duration_s: i32,
    /// Coin pulses that it takes, of a machine that is started so.
    pub pulses: i32,
    pub tariff: Tariff,
    pub versions: SaleVersions,
}

/// What a hold compares: the facts were of these versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaleVersions {
    pub service: i64,
    pub outlet: i64,
}

#[derive(Debug, Clone)]
pub struct Facts {
    pub receipt: Option<KnownReceipt>,
    pub epay: Option<Epay>,
    pub machine: Option<MachineFacts>,
    pub service: Option<ServiceFacts>,
}
