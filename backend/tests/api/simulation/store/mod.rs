//! The database in memory: the constraints of the schema and the movements of `ledger::pembelian`, nothing more. Whatever it
//! is asked to write is kept in `journal` with its outcome, so that PostgreSQL can be asked the same.

mod journal;
mod rows;

use std::collections::HashMap;

use nyala::domain::waktu::Waktu;
use nyala::ledger::pembelian::Held;
use nyala::pembelian::aturan::{Putusan, Tolakan, putuskan};
use nyala::pembelian::batas::CMD_LIFE_MS;
use nyala::pembelian::fakta::{Dompet, Epay, Fakta, LayananFakta, MesinFakta, NotaLama};
use nyala::pembelian::keadaan::Keadaan;
use nyala::pembelian::step::{Change, Obrolan, Pembelian};
use uuid::Uuid;

pub use journal::{Asked, Stored, outcome, told};
pub use rows::{Kind, Machine, Movement, Order, OutboxOp, OutboxRow, Purchase, Wallet};
use rows::{id, index};

/// Rupiah of every service.
pub const PRICE: i64 = 10_000;
/// Seconds of each service.
pub const SERVICES_S: [i32; 4] = [5, 60, 300, 1_800];
const OUTLET: i64 = 1;
const OWNER: i64 = 1;

struct Receipt {
    body_hash: Vec<u8>,
    tolak: Option<Tolakan>,
}

pub struct Store {
    pub wallets: Vec<Wallet>,
    pub machines: Vec<Machine>,
    /// Purchase `n` is at `n - 1`.
    pub purchases: Vec<Purchase>,
    pub ledger: Vec<Movement>,
    pub outbox: Vec<OutboxRow>,
    /// Purchases whose run was found though nobody had paid for it.
    pub unpaid_runs: Vec<i64>,
    pub journal: Vec<Asked>,
    receipts: HashMap<(usize, u32), Receipt>,
}

impl Store {
    /// Every customer begins with `saldo`.
    pub fn new(customers: usize, machines: usize, saldo: i64) -> Self {
        let topup = |customer| Movement { kind: Kind::Topup, customer, amount: saldo, purchase: None };
        Self {
            wallets: vec![Wallet { credits: saldo, ..Wallet::default() }; customers],
            machines: vec![Machine { online: true, needs_staff: false, epoch: 0 }; machines],
            purchases: Vec::new(),
            ledger: (0..customers).map(topup).collect(),
            outbox: Vec::new(),
            unpaid_runs: Vec::new(),
            journal: Vec::new(),
            receipts: HashMap::new(),
        }
    }

    pub fn purchase(&self, id: i64) -> &Purchase {
        &self.purchases[index(id)]
    }

    /// Ids of what a machine is held by.
    pub fn open(&self) -> impl Iterator<Item = (i64, &Purchase)> {
        self.purchases.iter().enumerate().filter(|(_, p)| p.keadaan.open()).map(|(i, p)| (id(i), p))
    }

    pub fn by_receipt(&self, customer: usize, nota: u32) -> Option<i64> {
        self.purchases.iter().position(|p| p.order.customer == customer && p.order.nota == nota).map(id)
    }

    /// `fakta::baca` and what the rules make of it.
    pub fn decide(&mut self, order: Order, now: Waktu) -> Putusan {
        let putusan = putuskan(&order.pesanan(), self.facts(order), now);
        self.journal.push(Asked::Facts { order, putusan: told(&putusan), now });
        putusan
    }

    fn facts(&self, order: Order) -> Fakta {
        let receipt = self.receipts.get(&(order.customer, order.nota));
        let purchase = self.by_receipt(order.customer, order.nota);
        let machine = self.machines[order.machine];
        Fakta {
            nota: receipt.map(|r| NotaLama {
                body_hash: r.body_hash.clone(),
                tolak: r.tolak.map(|t| t.as_str().to_owned()),
                pembelian: purchase.map(|id| (id, self.purchase(id).keadaan)),
            }),
            epay: Some(Epay {
                idowner: OWNER,
                dompet: Some(Dompet { saldo: self.wallets[order.customer].saldo(), jenis_emoney: 2, masa_aktif: None }),
            }),
            mesin: Some(MesinFakta {
                idoutlet: OUTLET,
                idowner: OWNER,
                nama: "Mesin".to_owned(),
                driver: "sim".to_owned(),
                online: machine.online && !machine.needs_staff,
                busy: self.open().any(|(_, p)| p.order.machine == order.machine),
            }),
            layanan: Some(LayananFakta {
                idoutlet: OUTLET,
                nama: "Cuci".to_owned(),
                durasi_s: SERVICES_S[order.service],
                harga: PRICE,
            }),
        }
    }

    /// `ledger::hold`; the order of its refusals is the order in which PostgreSQL meets the constraints.
    pub fn hold(&mut self, order: Order, cmd_id: Uuid, now: Waktu) -> Held {
        let held = self.try_hold(order, cmd_id, now);
        self.journal.push(Asked::Hold { order, now, held: outcome(&held) });
        held
    }

    fn try_hold(&mut self, order: Order, cmd_id: Uuid, now: Waktu) -> Held {
        let machine = self.machines[order.machine];
        if !machine.online || machine.needs_staff {
            return Held::Changed;
        }
        if self.wallets[order.customer].saldo() < PRICE {
            return Held::Lost(Tolakan::SaldoTooLow);
        }
        if self.by_receipt(order.customer, order.nota).is_some() {
            return Held::Changed;
        }
        if self.open().any(|(_, p)| p.order.machine == order.machine) {
            return Held::Lost(Tolakan::MesinBusy);
        }
        if self.receipts.contains_key(&(order.customer, order.nota)) {
            return Held::Changed;
        }
        let epoch = machine.epoch + 1;
        self.machines[order.machine].epoch = epoch;
        self.wallets[order.customer].pending += PRICE;
        self.receipts.insert((order.customer, order.nota), Receipt { body_hash: order.pesanan().body_hash(), tolak: None });
        self.purchases.push(Purchase {
            order,
            keadaan: Keadaan::Held,
            cmd_id,
            epoch,
            created_at: now,
            ends_at: None,
            finished_at: None,
            refunded: 0,
            gave_up: false,
        });
        let id = id(self.purchases.len() - 1);
        self.moved(Kind::Pending, id, PRICE);
        self.outbox.push(OutboxRow { purchase: id, op: OutboxOp::Start, available_at: now });
        Held::Won { idtransaksi: id, cmd_id, epoch }
    }

    /// `ledger::remember_refusal`.
    pub fn refuse(&mut self, order: Order, why: Tolakan, now: Waktu) -> bool {
        let key = (order.customer, order.nota);
        let done = !self.receipts.contains_key(&key);
        if done {
            self.receipts.insert(key, Receipt { body_hash: order.pesanan().body_hash(), tolak: Some(why) });
        }
        self.journal.push(Asked::Refuse { order, why, now, done });
        done
    }

    /// `ledger::apply`.
    pub fn apply(&mut self, purchase: i64, change: Change, now: Waktu) -> bool {
        let done = self.try_apply(purchase, change, now);
        self.journal.push(Asked::Apply { purchase, change, now, done });
        done
    }

    fn try_apply(&mut self, purchase: i64, change: Change, now: Waktu) -> bool {
        let before = self.purchase(purchase).keadaan;
        let allowed = match change {
            Change::MarkSent => before == Keadaan::Held,
            Change::MarkUnsure => matches!(before, Keadaan::Held | Keadaan::Sent),
            Change::Finish => before == Keadaan::Running && self.purchase(purchase).ends_at.is_some_and(|at| at <= now),
            Change::Sooner { ends_at, .. } => {
                before == Keadaan::Running && self.purchase(purchase).ends_at.is_some_and(|at| at > ends_at)
            }
            Change::Stop { .. } => before == Keadaan::Running,
            _ => before.undecided(),
        };
        if !allowed {
            return false;
        }
        match change {
            Change::MarkSent => self.become_(purchase, Keadaan::Sent),
            Change::MarkUnsure => self.become_(purchase, Keadaan::Unsure),
            Change::Run { ends_at, .. } => self.settle(purchase, Keadaan::Running, Some(ends_at), None),
            Change::RunAndFinish { ends_at, .. } => self.settle(purchase, Keadaan::Finished, Some(ends_at), Some(now)),
            Change::Sooner { ends_at, .. } => self.purchases[index(purchase)].ends_at = Some(ends_at),
            Change::Finish => self.end(purchase, Keadaan::Finished, now),
            Change::Stop { ends_at } => {
                self.purchases[index(purchase)].ends_at = Some(ends_at);
                self.end(purchase, Keadaan::Stopped, ends_at);
            }
            Change::Refuse => self.settle(purchase, Keadaan::Refused, None, Some(now)),
            Change::Expire => self.settle(purchase, Keadaan::Expired, None, Some(now)),
            Change::GiveUp => {
                self.settle(purchase, Keadaan::Expired, None, Some(now));
                self.purchases[index(purchase)].gave_up = true;
                let machine = self.purchase(purchase).order.machine;
                self.machines[machine].needs_staff = true;
            }
        }
        true
    }

    fn become_(&mut self, purchase: i64, keadaan: Keadaan) {
        self.purchases[index(purchase)].keadaan = keadaan;
    }

    fn end(&mut self, purchase: i64, keadaan: Keadaan, at: Waktu) {
        self.become_(purchase, keadaan);
        self.purchases[index(purchase)].finished_at = Some(at);
        self.outbox.retain(|o| o.purchase != purchase);
    }

    /// The hold ends: posted when it runs or ran (`ends_at`), else voided.
    fn settle(&mut self, purchase: i64, keadaan: Keadaan, ends_at: Option<Waktu>, finished_at: Option<Waktu>) {
        let settled = self.ledger.iter().any(|m| m.purchase == Some(purchase) && matches!(m.kind, Kind::Post | Kind::Void));
        assert!(!settled, "a hold is settled once");
        let p = &mut self.purchases[index(purchase)];
        (p.keadaan, p.ends_at, p.finished_at) = (keadaan, ends_at, finished_at);
        let wallet = &mut self.wallets[p.order.customer];
        wallet.pending -= PRICE;
        if ends_at.is_some() {
            wallet.debits += PRICE;
        }
        self.moved(if ends_at.is_some() { Kind::Post } else { Kind::Void }, purchase, PRICE);
        self.outbox.retain(|o| o.purchase != purchase || o.op != OutboxOp::Start);
    }

    fn moved(&mut self, kind: Kind, purchase: i64, amount: i64) {
        let customer = self.purchase(purchase).order.customer;
        self.ledger.push(Movement { kind, customer, amount, purchase: Some(purchase) });
    }

    /// `perangkat::record`; `foreign` is a command that no purchase of this machine has open.
    pub fn record(&mut self, machine: usize, online: bool, runs: bool, foreign: Option<Uuid>, now: Waktu) {
        let foreign = foreign.and_then(|cmd| self.purchases.iter().position(|p| p.cmd_id == cmd)).map(id);
        let m = &mut self.machines[machine];
        m.online = online;
        m.needs_staff &= !online || runs;
        if let Some(purchase) = foreign
            && matches!(self.purchase(purchase).keadaan, Keadaan::Refused | Keadaan::Expired)
            && !self.unpaid_runs.contains(&purchase)
        {
            self.unpaid_runs.push(purchase);
        }
        self.journal.push(Asked::Record { machine, online, runs, foreign, now });
    }

    /// An operator's stop, as `ops::mesin_stop` writes it; the purchase that runs there.
    pub fn request_stop(&mut self, machine: usize, now: Waktu) -> Option<i64> {
        let running = self.open().find(|(_, p)| p.order.machine == machine && p.keadaan == Keadaan::Running)?.0;
        if !self.outbox.iter().any(|o| o.purchase == running && o.op == OutboxOp::Stop) {
            self.outbox.push(OutboxRow { purchase: running, op: OutboxOp::Stop, available_at: now });
        }
        self.journal.push(Asked::Stop { purchase: running, now });
        Some(running)
    }

    /// An operator's refund, as `ledger::refund` does it.
    pub fn refund(&mut self, purchase: i64, amount: i64, now: Waktu) -> bool {
        let p = self.purchase(purchase);
        let paid = matches!(p.keadaan, Keadaan::Running | Keadaan::Finished | Keadaan::Stopped);
        let done = paid && p.refunded + amount <= PRICE;
        if done {
            let customer = p.order.customer;
            self.purchases[index(purchase)].refunded += amount;
            self.wallets[customer].credits += amount;
            self.moved(Kind::Refund, purchase, amount);
        }
        self.journal.push(Asked::Refund { purchase, amount, now, done });
        done
    }

    /// `fakta::terbuka_di`.
    pub fn load(&mut self, machine: usize) -> Option<Pembelian> {
        let stored = self.open_at(machine);
        self.journal.push(Asked::Open { machine, stored: stored.as_ref().map(Stored::from) });
        stored
    }

    fn open_at(&self, machine: usize) -> Option<Pembelian> {
        let (id, p) = self.open().find(|(_, p)| p.order.machine == machine)?;
        let stop_requested = self.outbox.iter().any(|o| o.purchase == id && o.op == OutboxOp::Stop);
        Some(Pembelian {
            id,
            cmd_id: p.cmd_id,
            epoch: p.epoch,
            durasi_s: i64::from(SERVICES_S[p.order.service]),
            created_at: p.created_at,
            keadaan: p.keadaan,
            ends_at: p.ends_at.unwrap_or_default(),
            obrolan: Obrolan { stop_requested, ..Obrolan::default() },
        })
    }

    /// The command's `exp`, as the hold stored it.
    pub fn exp(p: &Purchase) -> Waktu {
        p.created_at.plus_ms(CMD_LIFE_MS)
    }
}
