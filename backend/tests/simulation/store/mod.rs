//! The database in memory: the constraints of the schema and the movements of `ledger::purchase`, nothing more. Each write is kept in
//! `journal` with its outcome, so that PostgreSQL can be asked the same.

mod journal;
mod record;
mod rows;

use std::collections::HashMap;

use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{OutletId, OwnerId, PurchaseId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::prices::Tariff;
use nyala_core::purchase::device::Pulses;
use nyala_core::purchase::facts::{
    CoinInput, Epay, Facts, KnownReceipt, MachineFacts, SaleVersions, ServiceFacts, TestFacts, Wallet,
};
use nyala_core::purchase::rules::{Decision, Refusal, decide};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::{Change, Exchange, Held, Purchase};
use nyala_core::purchase::times::CMD_TTL_MS;
use uuid::Uuid;

pub use journal::{Asked, MachineWrite, Stored, decision_text, outcome};
pub use record::Recorded;
pub use rows::{Kind, MachineRow, Movement, OrderRow, PurchaseRow, WalletRow};
use rows::{purchase_id, purchase_index};

/// Price of every service, in rupiah.
pub const PRICE: i64 = 10_000;
/// Duration of each service, in seconds.
pub const SERVICES_S: [i32; 4] = [5, 60, 300, 1_800];
/// The machine that wants coins, and how it is started.
pub const COIN_MACHINE: usize = 2;
pub const PULSES: Pulses = Pulses { n: 4, width_ms: 50, gap_ms: 100, sense_s: 60 };
const DAY_MS: i64 = 24 * 60 * 60_000;
const OUTLET: OutletId = OutletId::new(1);
const OWNER: OwnerId = OwnerId::new(1);

struct Receipt {
    body_hash: Vec<u8>,
    refusal: Option<Refusal>,
}

pub struct Store {
    pub wallets: Vec<WalletRow>,
    pub machines: Vec<MachineRow>,
    /// Purchase `n` is at `n - 1`.
    pub purchases: Vec<PurchaseRow>,
    pub ledger: Vec<Movement>,
    /// Purchases whose device was found to run although they were not paid.
    pub unpaid_runs: Vec<PurchaseId>,
    pub journal: Vec<Asked>,
    receipts: HashMap<(usize, u32), Receipt>,
}

impl Store {
    /// Every customer begins with `saldo`.
    pub fn new(customers: usize, machines: usize, balance: i64) -> Self {
        let topup = |customer| Movement { kind: Kind::Topup, customer, amount: balance, purchase: None };
        Self {
            wallets: vec![WalletRow { credits: balance, ..WalletRow::default() }; customers],
            machines: vec![MachineRow { online: true, ..MachineRow::default() }; machines],
            purchases: Vec::new(),
            ledger: (0..customers).map(topup).collect(),
            unpaid_runs: Vec::new(),
            journal: Vec::new(),
            receipts: HashMap::new(),
        }
    }

    pub fn purchase(&self, id: PurchaseId) -> &PurchaseRow {
        &self.purchases[purchase_index(id)]
    }

    /// The open purchases with their ids: each occupies a machine.
    pub fn open(&self) -> impl Iterator<Item = (PurchaseId, &PurchaseRow)> {
        self.purchases.iter().enumerate().filter(|(_, p)| p.state.open()).map(|(i, p)| (purchase_id(i), p))
    }

    pub fn by_receipt(&self, customer: usize, receipt: u32) -> Option<PurchaseId> {
        self.purchases.iter().position(|p| p.order.customer == customer && p.order.receipt == receipt).map(purchase_id)
    }

    /// State of the purchase of that order, if there is one.
    pub fn state_of(&self, order: OrderRow) -> Option<PurchaseState> {
        self.by_receipt(order.customer, order.receipt).map(|id| self.purchase(id).state)
    }

    /// `facts::read` and the decision of the rules about it.
    pub fn decide(&mut self, order: OrderRow, now: Timestamp) -> Decision {
        let decision = decide(&order.order(), self.facts(order), now);
        self.journal.push(Asked::Facts { order, decision: decision_text(&decision), now });
        decision
    }

    fn facts(&self, order: OrderRow) -> Facts {
        let receipt = self.receipts.get(&(order.customer, order.receipt));
        let purchase = self.by_receipt(order.customer, order.receipt);
        let machine = self.machines[order.machine];
        Facts {
            receipt: receipt.map(|r| KnownReceipt {
                body_hash: r.body_hash.clone(),
                refusal: r.refusal.map(|t| t.as_str().to_owned()),
                purchase: purchase.map(|id| (id, self.purchase(id).state)),
            }),
            epay: Some(Epay {
                idowner: OWNER,
                wallet: Some(Wallet { balance: self.wallets[order.customer].balance(), expires_at: None }),
            }),
            machine: Some(MachineFacts {
                idoutlet: OUTLET,
                idowner: OWNER,
                name: "Mesin".to_owned(),
                driver: DriverKind::Sim,
                online: machine.online && !machine.needs_staff && !machine.closed && !machine.no_pulses,
                needs_staff: machine.needs_staff,
                busy: machine.unpaid.is_some()
                    || runs_itself(order.machine, machine)
                    || self.open().any(|(_, p)| p.order.machine == order.machine),
                coin: coin_of(order.machine),
                tests: TestFacts::default(),
            }),
            service: Some(ServiceFacts {
                idoutlet: OUTLET,
                name: "Cuci".to_owned(),
                duration_s: SERVICES_S[order.service],
                pulses: 1,
                tariff: Tariff::flat(PRICE),
                versions: SaleVersions { service: 1, outlet: 1 },
            }),
        }
    }

    /// `ledger::hold`; the order of its refusals is the order in which PostgreSQL meets the constraints.
    pub fn hold(&mut self, order: OrderRow, cmd_id: Uuid, now: Timestamp) -> Held {
        let held = self.try_hold(order, cmd_id, now);
        self.journal.push(Asked::Hold { order, now, held: outcome(&held) });
        held
    }

    fn try_hold(&mut self, order: OrderRow, cmd_id: Uuid, now: Timestamp) -> Held {
        let machine = self.machines[order.machine];
        let is_free = machine.unpaid.is_none() && !runs_itself(order.machine, machine);
        if !machine.online || machine.needs_staff || machine.closed || machine.no_pulses || !is_free {
            return Held::Changed;
        }
        if self.wallets[order.customer].balance() < PRICE {
            return Held::Lost(Refusal::BalanceTooLow);
        }
        if self.by_receipt(order.customer, order.receipt).is_some() {
            return Held::Changed;
        }
        if self.open().any(|(_, p)| p.order.machine == order.machine) {
            return Held::Lost(Refusal::MachineBusy);
        }
        if self.receipts.contains_key(&(order.customer, order.receipt)) {
            return Held::Changed;
        }
        let epoch = machine.epoch + 1;
        self.machines[order.machine].epoch = epoch;
        self.wallets[order.customer].pending += PRICE;
        self.receipts.insert((order.customer, order.receipt), Receipt { body_hash: order.order().body_hash(), refusal: None });
        self.purchases.push(PurchaseRow {
            order,
            state: PurchaseState::Held,
            cmd_id,
            epoch,
            created_at: now,
            started_at: None,
            ends_at: None,
            moved: 0,
            added_s: 0,
            finished_at: None,
            refunded: 0,
            gave_up: false,
            cut: false,
            sense: None,
            never_ran: false,
            stop_requested_at: None,
        });
        let id = purchase_id(self.purchases.len() - 1);
        self.moved(Kind::Pending, id, PRICE);
        Held::Won { purchase_id: id, cmd_id, epoch }
    }

    /// `ledger::remember_refusal`.
    pub fn refuse(&mut self, order: OrderRow, why: Refusal, now: Timestamp) -> bool {
        let key = (order.customer, order.receipt);
        let done = !self.receipts.contains_key(&key);
        if done {
            self.receipts.insert(key, Receipt { body_hash: order.order().body_hash(), refusal: Some(why) });
        }
        self.journal.push(Asked::Refuse { order, why, now, done });
        done
    }

    /// `ledger::apply`.
    pub fn apply(&mut self, purchase: PurchaseId, change: Change, now: Timestamp) -> bool {
        let done = self.try_apply(purchase, change, now);
        self.journal.push(Asked::Apply { purchase, change, now, done });
        done
    }

    fn try_apply(&mut self, purchase: PurchaseId, change: Change, now: Timestamp) -> bool {
        let before = self.purchase(purchase).state;
        let allowed = match change {
            Change::MarkSent => before == PurchaseState::Held,
            Change::MarkUnsure => matches!(before, PurchaseState::Held | PurchaseState::Sent),
            Change::Finish => before == PurchaseState::Running && self.purchase(purchase).ends_at.is_some_and(|at| at <= now),
            Change::Sooner { ends_at, .. } => {
                before == PurchaseState::Running && self.purchase(purchase).ends_at.is_some_and(|at| at > ends_at)
            }
            Change::Later { ends_at, .. } => {
                before == PurchaseState::Running && self.purchase(purchase).ends_at.is_some_and(|at| at < ends_at)
            }
            Change::Stop { .. } => before == PurchaseState::Running,
            _ => before.undecided(),
        };
        if !allowed {
            return false;
        }
        match change {
            Change::MarkSent => self.become_(purchase, PurchaseState::Sent),
            Change::MarkUnsure => self.become_(purchase, PurchaseState::Unsure),
            Change::Run { started_at, ends_at, added_s } => {
                self.settle(purchase, PurchaseState::Running, Some(ends_at), None);
                let p = &mut self.purchases[purchase_index(purchase)];
                (p.started_at, p.added_s) = (Some(started_at), added_s);
            }
            Change::RunAndFinish { started_at, ends_at } => {
                self.settle(purchase, PurchaseState::Finished, Some(ends_at), Some(now));
                self.purchases[purchase_index(purchase)].started_at = Some(started_at);
            }
            Change::Sooner { started_at, ends_at, added_s } => {
                let p = &mut self.purchases[purchase_index(purchase)];
                (p.started_at, p.ends_at, p.added_s) = (Some(started_at), Some(ends_at), added_s);
            }
            Change::Later { ends_at, added_s } => {
                let p = &mut self.purchases[purchase_index(purchase)];
                (p.ends_at, p.moved, p.added_s) = (Some(ends_at), p.moved + 1, added_s);
            }
            Change::Finish => self.end(purchase, PurchaseState::Finished, now),
            Change::Stop { ends_at } => {
                self.purchases[purchase_index(purchase)].ends_at = Some(ends_at);
                self.end(purchase, PurchaseState::Stopped, ends_at);
            }
            Change::Refuse => self.settle(purchase, PurchaseState::Refused, None, Some(now)),
            Change::Cut => {
                self.settle(purchase, PurchaseState::Refused, None, Some(now));
                self.cut(purchase, now);
            }
            Change::Expire => self.settle(purchase, PurchaseState::Expired, None, Some(now)),
            Change::GiveUp => {
                self.settle(purchase, PurchaseState::Expired, None, Some(now));
                self.purchases[purchase_index(purchase)].gave_up = true;
                let machine = self.purchase(purchase).order.machine;
                self.machines[machine].needs_staff = true;
                self.machines[machine].closed |= machine == COIN_MACHINE;
            }
        }
        true
    }

    /// The second loss of power in pulses within a day, and since the machine was last opened, closes it.
    fn cut(&mut self, purchase: PurchaseId, now: Timestamp) {
        let machine = self.purchase(purchase).order.machine;
        let since = self.machines[machine].opened_at.unwrap_or_default().max(now.plus_ms(-DAY_MS));
        let of_machine = |p: &&PurchaseRow| p.order.machine == machine && p.cut;
        let again = self.purchases.iter().filter(of_machine).any(|p| p.finished_at.is_some_and(|at| at > since));
        self.purchases[purchase_index(purchase)].cut = true;
        self.machines[machine].closed |= again;
    }

    /// What the record of a device's presence, abilities or trouble writes.
    pub fn set(&mut self, machine: usize, what: MachineWrite) {
        let row = &mut self.machines[machine];
        match what {
            MachineWrite::Online(online) => row.online = online,
            MachineWrite::NeedsStaff => row.needs_staff = true,
            MachineWrite::Closed => row.closed = true,
            MachineWrite::Pulses(pulses) => row.no_pulses = !pulses,
        }
        self.journal.push(Asked::Set { machine, what });
    }

    /// `POST mesin/{id}/buka`.
    pub fn open_machine(&mut self, machine: usize, now: Timestamp) {
        if std::mem::take(&mut self.machines[machine].closed) {
            self.machines[machine].opened_at = Some(now);
            self.journal.push(Asked::OpenMachine { machine, now });
        }
    }

    fn become_(&mut self, purchase: PurchaseId, state: PurchaseState) {
        self.purchases[purchase_index(purchase)].state = state;
    }

    fn end(&mut self, purchase: PurchaseId, state: PurchaseState, at: Timestamp) {
        self.become_(purchase, state);
        self.purchases[purchase_index(purchase)].finished_at = Some(at);
    }

    /// The hold ends: posted when the machine runs or ran (`ends_at`), else voided.
    fn settle(&mut self, purchase: PurchaseId, state: PurchaseState, ends_at: Option<Timestamp>, finished_at: Option<Timestamp>) {
        let settled = self.ledger.iter().any(|m| m.purchase == Some(purchase) && matches!(m.kind, Kind::Post | Kind::Void));
        assert!(!settled, "a hold is settled once");
        let p = &mut self.purchases[purchase_index(purchase)];
        (p.state, p.ends_at, p.finished_at) = (state, ends_at, finished_at);
        let wallet = &mut self.wallets[p.order.customer];
        wallet.pending -= PRICE;
        if ends_at.is_some() {
            wallet.debits += PRICE;
        }
        self.moved(if ends_at.is_some() { Kind::Post } else { Kind::Void }, purchase, PRICE);
    }

    fn moved(&mut self, kind: Kind, purchase: PurchaseId, amount: i64) {
        let customer = self.purchase(purchase).order.customer;
        self.ledger.push(Movement { kind, customer, amount, purchase: Some(purchase) });
    }

    /// An operator's stop, as `ops::mesin_stop` writes it. Returns the purchase that runs there.
    pub fn request_stop(&mut self, machine: usize, now: Timestamp) -> Option<PurchaseId> {
        let running = self
            .open()
            .find(|(_, p)| p.order.machine == machine && p.state == PurchaseState::Running && machine != COIN_MACHINE)?
            .0;
        self.purchases[purchase_index(running)].stop_requested_at.get_or_insert(now);
        self.journal.push(Asked::Stop { purchase: running, now });
        Some(running)
    }

    /// An operator's refund, as `ledger::refund` does it.
    pub fn refund(&mut self, purchase: PurchaseId, amount: i64, now: Timestamp) -> bool {
        let p = self.purchase(purchase);
        let paid = matches!(p.state, PurchaseState::Running | PurchaseState::Finished | PurchaseState::Stopped);
        let done = paid && p.refunded + amount <= PRICE;
        if done {
            let customer = p.order.customer;
            self.purchases[purchase_index(purchase)].refunded += amount;
            self.wallets[customer].credits += amount;
            self.moved(Kind::Refund, purchase, amount);
        }
        self.journal.push(Asked::Refund { purchase, amount, now, done });
        done
    }

    /// `facts::open_at`.
    pub fn load(&mut self, machine: usize) -> Option<Purchase> {
        let stored = self.open_at(machine);
        self.journal.push(Asked::Open { machine, stored: stored.as_ref().map(Stored::from) });
        stored
    }

    fn open_at(&self, machine: usize) -> Option<Purchase> {
        self.open().find(|(_, p)| p.order.machine == machine).map(|(id, p)| Self::as_read(id, p, self.machines[machine].boot))
    }

    /// `facts::awaiting_staff`.
    pub fn awaiting_staff(&self, machine: usize) -> Option<Purchase> {
        let last = self.purchases.iter().enumerate().rev().find(|(_, p)| p.order.machine == machine);
        let (i, p) = last.filter(|(_, p)| self.machines[machine].needs_staff && p.state == PurchaseState::Expired)?;
        Some(Self::as_read(purchase_id(i), p, self.machines[machine].boot))
    }

    pub fn as_read(id: PurchaseId, p: &PurchaseRow, boot: Option<i64>) -> Purchase {
        let stop_requested = p.stop_requested_at.is_some();
        Purchase {
            id,
            cmd_id: p.cmd_id,
            epoch: p.epoch,
            duration_s: i64::from(SERVICES_S[p.order.service]),
            pulses: (p.order.machine == COIN_MACHINE).then_some(PULSES),
            created_at: p.created_at,
            state: p.state,
            ends_at: p.ends_at.unwrap_or_default(),
            moved: p.moved,
            added_s: p.added_s,
            boot,
            exchange: Exchange { stop_requested, ..Exchange::default() },
        }
    }

    /// The command's `exp`, as the hold stored it.
    pub fn exp(p: &PurchaseRow) -> Timestamp {
        p.created_at.plus_ms(CMD_TTL_MS)
    }
}

/// What the coin input of a machine wants.
pub fn coin_of(machine: usize) -> Option<CoinInput> {
    let Pulses { n, width_ms, gap_ms, sense_s } = PULSES;
    (machine == COIN_MACHINE).then_some(CoinInput { n: Some(n), width_ms, gap_ms, sense_s })
}

const fn runs_itself(machine: usize, row: MachineRow) -> bool {
    machine == COIN_MACHINE && row.senses
}
