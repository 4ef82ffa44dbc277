//! A cashier at a paired till who continues to sell during the kills and keeps every answer. An answer may be lost, but none may be wrong.

use std::collections::BTreeMap;
use std::iter::Sum;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use nyala_core::domain::id::CustomerId;
use nyala_identity::qr::customer;
use nyala_store::clock::wall_clock;
use nyala_store::secrets::Secrets;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::Market;
use super::audit::balance;
use super::mover::{Mover, Newcomer};
use crate::http::{Pool, ask};
use crate::server::Server;
use crate::shop::BALANCE;
use crate::till::{Till, once, token_of, who};

/// Pause after the server was busy or did not answer.
const RETRY_AFTER: Duration = Duration::from_millis(30);
/// Pause between two sales, so that the kills mostly interrupt the customers' purchases.
const PAUSE: Duration = Duration::from_millis(20);
/// Greatest amount, in thousands of rupiah.
const MAX_THOUSANDS: i64 = 50;
/// Number of newest sales of which one is reversed: a reversal is allowed for half an hour only.
const REVERSED_OF: usize = 20;
/// Sales that are sent again after a crash.
const RECHECKED: usize = 3;

/// PendingCall with its idempotency key, which is repeated until it is decided.
#[derive(Debug, Clone)]
struct PendingCall {
    key: String,
    path: String,
    body: Value,
    act: TillAct,
}

#[derive(Debug, Clone)]
enum TillAct {
    Open {
        float: i64,
    },
    Sell {
        customer: usize,
        nominal: i64,
        quota: i64,
        in_cash: bool,
    },
    /// Cash for a payout.
    PutIn {
        nominal: i64,
    },
    /// Asks how much of the balance was paid for.
    Count {
        customer: usize,
        id: i64,
    },
    PayOut {
        customer: usize,
        paid: i64,
        bonus: i64,
    },
    /// A bill by QRIS.
    Bill {
        customer: usize,
        nominal: i64,
    },
    /// Its customer pays it at the simulated provider.
    Pay {
        id: String,
        customer: usize,
        nominal: i64,
    },
    Reverse {
        sale: usize,
    },
    /// Somebody with a new number registers, to whom the moving customer moves.
    Register,
    Move {
        to: Newcomer,
    },
    Close,
    HandOver,
}

#[derive(Debug)]
struct Sale {
    id: String,
    key: String,
    body: Value,
    /// Index of the cashier who sold it.
    by: usize,
    customer: usize,
    nominal: i64,
    quota: i64,
    in_cash: bool,
    reversed: bool,
    /// Its balance was paid out since.
    paid_out: bool,
    answered_at: SystemTime,
}

/// A bill that its customer has paid.
#[derive(Debug)]
struct PaidBill {
    id: String,
    customer: usize,
    nominal: i64,
    /// It is known to be credited.
    credited: bool,
}

/// Refusal of a customer's id that this till has not looked up within the last hour.
const NOT_FOUND: &str = "pelanggan tidak ditemukan";

/// Number of confirmed acts at the tills.
#[derive(Debug, Clone, Copy, Default)]
pub struct TillActs {
    pub sold: usize,
    pub reversed: usize,
    pub billed: usize,
    pub paid_out: usize,
    pub moved: usize,
    pub handed_over: usize,
}

impl Sum for TillActs {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |a, b| Self {
            sold: a.sold + b.sold,
            reversed: a.reversed + b.reversed,
            billed: a.billed + b.billed,
            paid_out: a.paid_out + b.paid_out,
            moved: a.moved + b.moved,
            handed_over: a.handed_over + b.handed_over,
        })
    }
}

/// A till and the cashier who works at it.
pub struct Cashier {
    market: Arc<Market>,
    till: Till,
    /// Customers who receive top-ups from this till only.
    customers: Vec<usize>,
    /// Rupiah that each of them should have.
    balances: BTreeMap<usize, i64>,
    /// Signs customers' codes, as their phones show them.
    secrets: Secrets,
    people: [i64; 2],
    at_work: usize,
    token: String,
    rng: StdRng,
    open: Option<PendingCall>,
    sales: Vec<Sale>,
    bills: Vec<PaidBill>,
    mover: Option<Mover>,
    /// Rupiah that should be in the drawer; `None` without a shift.
    drawer: Option<i64>,
    acts: TillActs,
}

impl Cashier {
    /// Pairs a till with the first outlet, and hires two cashiers who hand over to each other. In a market with moves, the last of the customers moves.
    pub async fn open(
        server: &Server,
        market: &Arc<Market>,
        index: usize,
        customers: Vec<usize>,
        seed: u64,
    ) -> Result<Self, String> {
        let (to, idoutlet) = (server.address(), market.shop.machines.first().ok_or("a shop without machines")?.idoutlet);
        let pool = Pool::new(to, 1);
        let till = Till::pair(&pool, &market.key, idoutlet, &format!("Tablet {index}")).await?;
        let mover = match customers.last() {
            Some(last) if market.moves => Some(Mover::new(*last, &market.shop.customers[*last])?),
            _ => None,
        };
        let mut cashier = Self {
            market: market.clone(),
            till,
            balances: customers.iter().map(|customer| (*customer, BALANCE.cast_signed())).collect(),
            secrets: server.secrets()?,
            customers,
            people: [0; 2],
            at_work: 0,
            token: String::new(),
            rng: StdRng::seed_from_u64(seed),
            open: None,
            sales: Vec::new(),
            bills: Vec::new(),
            mover,
            drawer: None,
            acts: TillActs::default(),
        };
        for at in [1, 0] {
            let hired = cashier.till.hire(&pool, &market.key, &format!("Kasir {index}{at}")).await?;
            (cashier.people[at], cashier.token) = hired;
        }
        Ok(cashier)
    }

    /// Ids of the answered top-ups, and when each was answered.
    pub fn sold(&self) -> impl Iterator<Item = (&str, SystemTime)> {
        self.sales.iter().map(|sale| (sale.id.as_str(), sale.answered_at))
    }

    pub fn acts(&self) -> TillActs {
        self.acts
    }

    /// Makes the next call, or repeats the one without an answer. An error is a broken guarantee.
    pub async fn work(&mut self, to: SocketAddr) -> Result<(), String> {
        let call = match self.open.take() {
            Some(call) => call,
            None => self.choose(),
        };
        let decided = self.send(to, call).await?;
        tokio::time::sleep(if decided { PAUSE } else { RETRY_AFTER }).await;
        Ok(())
    }

    /// Repeats the undecided call. Returns whether it is still undecided.
    pub async fn is_open(&mut self, to: SocketAddr) -> Result<bool, String> {
        match self.open.take() {
            Some(call) => Ok(!self.send(to, call).await?),
            None => Ok(false),
        }
    }

    fn choose(&mut self) -> PendingCall {
        let Some(drawer) = self.drawer else {
            let float = self.rng.random_range(0..MAX_THOUSANDS) * 1_000;
            return self.call("shift".to_owned(), json!({ "modal": float }), TillAct::Open { float });
        };
        match self.rng.random_range(0..30) {
            0 => self.call("shift/tutup".to_owned(), json!({ "dihitung": drawer }), TillAct::Close),
            1 => {
                let next = who(self.people[1 - self.at_work]);
                self.call("shift/tutup".to_owned(), json!({ "dihitung": drawer, "lanjut": next }), TillAct::HandOver)
            }
            2..=5 if self.reversible(drawer).is_some() => {
                let sale = self.reversible(drawer).unwrap_or_default();
                let path = format!("topup/{}/batal", self.sales[sale].id);
                self.call(path, json!({ "alasan": "salah nominal" }), TillAct::Reverse { sale })
            }
            6 | 7 => self.pay_out(drawer),
            // Cash for a payout is there.
            8..=19 if drawer >= BALANCE.cast_signed() => self.pay_out(drawer),
            20..=24 if self.market.bills => self.bill(),
            25 | 26 if self.mover.as_ref().is_some_and(Mover::may_move) => {
                self.call("pelanggan/bulk".to_owned(), Mover::newcomer(self.till.idoutlet), TillAct::Register)
            }
            _ => self.sell(),
        }
    }

    /// Pays out what was paid of a customer's whole balance, when the drawer has as much as the balance; otherwise puts that much into it. For a day after a move
    /// nothing is paid out.
    fn pay_out(&mut self, drawer: i64) -> PendingCall {
        let customer = self.customers[self.rng.random_range(0..self.customers.len())];
        if self.mover.as_ref().is_some_and(|mover| mover.customer == customer) {
            return self.sell();
        }
        let nominal = self.balances[&customer];
        // A payment may be credited at any moment: the balance is not known until it is.
        let awaits_credit = self.bills.iter().any(|bill| bill.customer == customer && !bill.credited);
        let Some(id) = self.market.shop.customers[customer].id_customer_global.filter(|_| nominal > 0 && !awaits_credit) else {
            return self.sell();
        };
        if nominal > drawer {
            let body = json!({ "jenis": "masuk", "nominal": nominal, "alasan": "untuk penarikan" });
            return self.call("shift/kas".to_owned(), body, TillAct::PutIn { nominal });
        }
        self.call("tarik/hitung".to_owned(), json!({ "qr": self.code(id) }), TillAct::Count { customer, id })
    }

    /// A customer of this till, and an amount.
    fn chosen(&mut self) -> (usize, i64) {
        let customer = self.customers[self.rng.random_range(0..self.customers.len())];
        (customer, self.rng.random_range(1..=MAX_THOUSANDS) * 1_000)
    }

    fn bill(&mut self) -> PendingCall {
        let (customer, nominal) = self.chosen();
        let (name, who) = self.named(customer);
        let body = json!({ name: who, "nominal": nominal });
        self.call("tagihan".to_owned(), body, TillAct::Bill { customer, nominal })
    }

    /// How a customer is given to the till. Who moves shows a code, because the number to look up changes.
    fn named(&self, customer: usize) -> (&'static str, Value) {
        match &self.mover {
            Some(mover) if mover.customer == customer => ("qr", json!(self.code(mover.id))),
            _ => ("id_customer_global", json!(self.market.shop.customers[customer].id_customer_global)),
        }
    }

    /// Code on the phone of a customer.
    fn code(&self, id: i64) -> String {
        customer::make(&self.secrets, CustomerId::new(id), wall_clock())
    }

    /// Some notifications of the provider are lost, others come several times.
    fn pay(&mut self, id: String, customer: usize, nominal: i64) -> PendingCall {
        let body = json!({ "aksi": "bayar", "kali": self.rng.random_range(1..=3), "diam": self.rng.random_bool(0.3) });
        self.call(format!("/dev/qris/{id}"), body, TillAct::Pay { id, customer, nominal })
    }

    /// Newest sale that this till may reverse.
    fn reversible(&self, drawer: i64) -> Option<usize> {
        let newest = self.sales.iter().enumerate().rev().take(REVERSED_OF);
        let mut may = newest.filter(|(_, sale)| !sale.reversed && !sale.paid_out && (!sale.in_cash || sale.nominal <= drawer));
        may.next().map(|(at, _)| at)
    }

    fn sell(&mut self) -> PendingCall {
        let ((customer, nominal), in_cash) = (self.chosen(), self.rng.random_bool(0.75));
        let quota = nominal + if self.rng.random_bool(0.25) { nominal / 5 } else { 0 };
        let (name, who) = self.named(customer);
        let body = json!({
            name: who, "idoutlet": self.till.idoutlet, "nominal": nominal, "quota": quota, "cara_bayar": if in_cash { "tunai" } else { "transfer" }, "ulang": true,
        });
        self.call("topup".to_owned(), body, TillAct::Sell { customer, nominal, quota, in_cash })
    }

    fn call(&self, path: String, body: Value, act: TillAct) -> PendingCall {
        PendingCall { key: once(), path, body, act }
    }

    /// Sends the call and returns whether it is decided; an undecided one is kept.
    async fn send(&mut self, to: SocketAddr, call: PendingCall) -> Result<bool, String> {
        // A broken connection decides nothing.
        let answer = match call.act {
            TillAct::Pay { .. } => ask(to, "POST", &call.path, &[], &call.body).await,
            TillAct::Register => {
                let auth = format!("Bearer {}", self.market.key);
                ask(to, "POST", &format!("/ops/v1/{}", call.path), &[("authorization", &auth)], &call.body).await
            }
            _ => self.till.call(to, &self.token, &call.path, &call.key, &call.body).await,
        };
        let Ok(answer) = answer else { return Ok(self.keep(call)) };
        match answer.status {
            200 => self.done(to, call, &answer.data).await,
            // The handover is done, but the answer with the next cashier's session was lost.
            401 if matches!(call.act, TillAct::HandOver) && answer.message == "sesi berakhir" => {
                self.done(to, call, &Value::Null).await
            }
            // A kill during the check of a PIN leaves a failed attempt in the database.
            403 | 429 if matches!(call.act, TillAct::HandOver) => {
                self.forgive(to).await?;
                Ok(self.keep(call))
            }
            // This till has not looked up the customer within the hour. The refusal used up the key, so the sale needs a new one.
            404 if answer.message == NOT_FOUND => {
                self.find(to, &call).await?;
                Ok(self.keep(PendingCall { key: once(), ..call }))
            }
            503 | 504 => Ok(self.keep(call)),
            _ => Err(format!("{} {}: {answer:?}", call.path, call.body)),
        }
    }

    /// Looks up the customer of a sale. When the server is down, the next attempt does it.
    async fn find(&self, to: SocketAddr, call: &PendingCall) -> Result<(), String> {
        let (TillAct::Sell { customer, .. } | TillAct::Bill { customer, .. }) = call.act else {
            return Err(format!("{}: 404", call.path));
        };
        match self.till.find(to, &self.token, &self.market.shop.customers[customer].telp).await {
            Ok(answer) if !matches!(answer.status, 200 | 503) => Err(format!("pelanggan/cari: {answer:?}")),
            _ => Ok(()),
        }
    }

    fn keep(&mut self, call: PendingCall) -> bool {
        self.open = Some(call);
        false
    }

    async fn done(&mut self, to: SocketAddr, call: PendingCall, data: &Value) -> Result<bool, String> {
        match call.act {
            TillAct::Open { float } => self.drawer = Some(float),
            TillAct::Sell { customer, nominal, quota, in_cash } => {
                let id = data["idpembelian_emoney"].as_str().ok_or_else(|| format!("no id in {data}"))?.to_owned();
                if self.sales.iter().any(|sale| sale.id == id) {
                    return Err(format!("two sales are number {id}"));
                }
                self.add_to_drawer(if in_cash { nominal } else { 0 });
                self.add_to_balance(customer, quota);
                self.sales.push(Sale {
                    id,
                    key: call.key,
                    body: call.body,
                    by: self.at_work,
                    customer,
                    nominal,
                    quota,
                    in_cash,
                    reversed: false,
                    paid_out: false,
                    answered_at: SystemTime::now(),
                });
                self.acts.sold += 1;
            }
            TillAct::Bill { customer, nominal } => {
                let id = data["idtagihan"].as_str().ok_or_else(|| format!("no id in {data}"))?.to_owned();
                let pay = self.pay(id, customer, nominal);
                return Ok(self.keep(pay));
            }
            TillAct::Pay { id, customer, nominal } => {
                self.bills.push(PaidBill { id, customer, nominal, credited: false });
                self.acts.billed += 1;
            }
            TillAct::Reverse { sale } => {
                let sale = &mut self.sales[sale];
                sale.reversed = true;
                let (customer, quota, back) = (sale.customer, sale.quota, if sale.in_cash { sale.nominal } else { 0 });
                self.add_to_drawer(-back);
                self.add_to_balance(customer, -quota);
                self.acts.reversed += 1;
            }
            TillAct::Register => {
                if let Some(mover) = &self.mover {
                    let to = Newcomer::made(data)?;
                    let body = json!({ "qr": self.code(to.id), "telp": mover.telp });
                    let asks = self.call("pindah".to_owned(), body, TillAct::Move { to });
                    return Ok(self.keep(asks));
                }
            }
            TillAct::Move { to } => {
                if let Some(mover) = &mut self.mover {
                    mover.is_asked(to);
                }
            }
            TillAct::PutIn { nominal } => self.add_to_drawer(nominal),
            TillAct::Count { customer, id } => {
                let (Some(paid), Some(bonus)) = (data["dibayar"].as_i64(), data["hangus"].as_i64()) else {
                    return Err(format!("no payout in {data}"));
                };
                if paid + bonus != self.balances[&customer] {
                    return Err(format!("customer {id} must have {} rupiah: {data}", self.balances[&customer]));
                }
                let body = json!({ "qr": self.code(id), "dibayar": paid, "hangus": bonus });
                let pays = self.call("tarik".to_owned(), body, TillAct::PayOut { customer, paid, bonus });
                return Ok(self.keep(pays));
            }
            TillAct::PayOut { customer, paid, bonus } => {
                self.add_to_drawer(-paid);
                self.add_to_balance(customer, -paid - bonus);
                self.sales.iter_mut().filter(|sale| sale.customer == customer).for_each(|sale| sale.paid_out = true);
                self.acts.paid_out += 1;
            }
            TillAct::Close => {
                self.counted(data)?;
                self.drawer = None;
            }
            TillAct::HandOver => {
                // Without a token in the answer the next cashier logs in; until then the handover stays open here.
                self.token = match data["token"].as_str() {
                    Some(token) => token.to_owned(),
                    None => match self.log_in(to, 1 - self.at_work).await? {
                        Some(token) => token,
                        None => return Ok(self.keep(call)),
                    },
                };
                self.at_work = 1 - self.at_work;
                if !data.is_null() {
                    self.counted(data)?;
                }
                self.acts.handed_over += 1;
            }
        }
        Ok(true)
    }

    fn add_to_drawer(&mut self, rupiah: i64) {
        self.drawer = self.drawer.map(|drawer| drawer + rupiah);
    }

    fn add_to_balance(&mut self, customer: usize, rupiah: i64) {
        *self.balances.entry(customer).or_default() += rupiah;
    }

    /// Checks that the expected cash in the answer to a count agrees with the sales.
    fn counted(&self, data: &Value) -> Result<(), String> {
        if data["diharapkan"].as_i64() == self.drawer {
            Ok(())
        } else {
            Err(format!("{:?} should be in the drawer: {data}", self.drawer))
        }
    }

    async fn log_in(&self, to: SocketAddr, at: usize) -> Result<Option<String>, String> {
        let Ok(answer) = self.till.log_in(to, self.people[at]).await else { return Ok(None) };
        match answer.status {
            403 | 429 => self.forgive(to).await.map(|()| None),
            503 => Ok(None),
            _ => token_of(&answer).map(Some),
        }
    }

    /// Unlocks the next cashier's PIN. When the server is down, the next attempt does it.
    async fn forgive(&self, to: SocketAddr) -> Result<(), String> {
        let (auth, path) =
            (format!("Bearer {}", self.market.key), format!("/ops/v1/petugas/{}/buka_kunci", self.people[1 - self.at_work]));
        match ask(to, "POST", &path, &[("authorization", &auth)], &Value::Null).await {
            Ok(answer) if !matches!(answer.status, 200 | 503) => Err(format!("{path}: {answer:?}")),
            _ => Ok(()),
        }
    }

    /// Looks at the paid bills that are not credited as far as is known. Returns whether one is still not.
    pub async fn waits_for_credit(&mut self, to: SocketAddr) -> Result<bool, String> {
        for bill in self.bills.iter_mut().filter(|bill| !bill.credited) {
            let path = format!("tagihan/{}", bill.id);
            let Ok(seen) = self.till.see(to, &self.token, &path).await else { return Ok(true) };
            match seen.data["status"].as_str() {
                Some("dibayar") => {
                    bill.credited = true;
                    *self.balances.entry(bill.customer).or_default() += bill.nominal;
                }
                Some("menunggu") => return Ok(true),
                None if seen.status == 503 => return Ok(true),
                _ => return Err(format!("bill {}, which is paid: {seen:?}", bill.id)),
            }
        }
        Ok(false)
    }

    /// Checks after a crash: the newest sales have the same answers as before, and drawer and balances agree with the answers.
    pub async fn audit(&mut self, to: SocketAddr) -> Result<(), String> {
        // A key belongs to the cashier who used it; the same key of another cashier would be a new sale.
        for sale in self.sales.iter().rev().filter(|sale| sale.by == self.at_work).take(RECHECKED) {
            let again = self.till.call(to, &self.token, "topup", &sale.key, &sale.body).await.map_err(|e| e.to_string())?;
            if again.data["idpembelian_emoney"] != *sale.id {
                return Err(format!("sale {}: now {again:?}", sale.id));
            }
        }
        let seen = self.till.see(to, &self.token, "shift").await.map_err(|e| e.to_string())?;
        if seen.status != 200 || seen.data["diharapkan"].as_i64() != self.drawer {
            return Err(format!("{:?} must be in the drawer: {seen:?}", self.drawer));
        }
        for (customer, expected) in &mut self.balances {
            match &mut self.mover {
                Some(mover) if mover.customer == *customer => {
                    let brought = mover.audit(to, &self.market.key, *expected).await?;
                    *expected += brought;
                    self.acts.moved += usize::from(brought > 0);
                }
                _ => balance(to, &self.market.shop.customers[*customer], *expected).await?,
            }
        }
        Ok(())
    }
}
