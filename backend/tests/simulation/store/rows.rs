//! The rows of the database in memory.

use nyala_core::domain::id::{CustomerId, MachineId, PurchaseId, ServiceId, WalletId};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::facts::Order;
use nyala_core::purchase::state::PurchaseState;
use uuid::Uuid;

use super::{OUTLET, PRICE};

/// What a customer wants; indices into the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OrderRow {
    pub customer: usize,
    pub receipt: u32,
    pub machine: usize,
    pub service: usize,
}

impl OrderRow {
    /// The row of an order that [`Self::order`] has made.
    pub fn of(order: &Order) -> Self {
        Self {
            customer: index(order.id_customer_global.get()),
            receipt: order.receipt_number.as_str()[3..].parse().unwrap(),
            machine: index(order.idmesin.get()),
            service: index(order.idlayanan.get()),
        }
    }

    pub fn receipt_number(self) -> ReceiptNumber {
        ReceiptNumber::parse(&format!("SLF{:015}", self.receipt)).unwrap()
    }

    /// The body as the rules see it, with the store's own ids.
    pub fn order(self) -> Order {
        Order {
            id_customer_global: CustomerId::new(id(self.customer)),
            receipt_number: self.receipt_number(),
            idcustomer: WalletId::new(id(self.customer)),
            idmesin: MachineId::new(id(self.machine)),
            idoutlet: OUTLET,
            idlayanan: ServiceId::new(id(self.service)),
            total: PRICE,
            grandtotal: PRICE,
            test: None,
        }
    }
}

fn id(index: usize) -> i64 {
    i64::try_from(index).unwrap() + 1
}

pub(super) fn purchase_id(index: usize) -> PurchaseId {
    PurchaseId::new(id(index))
}

pub(super) fn purchase_index(id: PurchaseId) -> usize {
    index(id.get())
}

fn index(id: i64) -> usize {
    usize::try_from(id).unwrap() - 1
}

#[derive(Debug, Clone)]
pub struct PurchaseRow {
    pub order: OrderRow,
    pub state: PurchaseState,
    pub cmd_id: Uuid,
    pub epoch: i64,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ends_at: Option<Timestamp>,
    pub moved: i32,
    pub added_s: i64,
    pub finished_at: Option<Timestamp>,
    pub refunded: i64,
    pub gave_up: bool,
    /// Power was lost in its pulses.
    pub cut: bool,
    /// Whether the sensor has seen the machine run.
    pub sense: Option<bool>,
    /// The machine has not run in it, and its customer was told so.
    pub never_ran: bool,
    pub stop_requested_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WalletRow {
    pub credits: i64,
    pub debits: i64,
    pub pending: i64,
}

impl WalletRow {
    pub fn balance(self) -> i64 {
        self.credits - self.debits - self.pending
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MachineRow {
    pub online: bool,
    pub needs_staff: bool,
    pub epoch: i64,
    /// The run that the device reports without an open purchase, and its end.
    pub unpaid: Option<(Uuid, Timestamp)>,
    pub boot: Option<i64>,
    /// Its sensor sees it run.
    pub senses: bool,
    /// The board that last said what it can do cannot send pulses.
    pub no_pulses: bool,
    /// Closed by the server.
    pub closed: bool,
    pub opened_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Topup,
    Pending,
    Post,
    Void,
    Refund,
}

#[derive(Debug, Clone, Copy)]
pub struct Movement {
    pub kind: Kind,
    pub customer: usize,
    pub amount: i64,
    /// `None` for a top-up.
    pub purchase: Option<PurchaseId>,
}
