//! A cashier at a paired till who sells through the kills, and keeps every answer: one may be lost, none may be told that is not so.

use std::iter::Sum;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::Market;
use super::audit::balance;
use crate::http::{Pool, ask};
use crate::server::Server;
use crate::shop::BALANCE;
use crate::till::{Till, once, token_of, who};

/// How long somebody waits who was told that the server is busy, or not at all.
const RETRY_AFTER: Duration = Duration::from_millis(30);
/// Between two sales, so that the customers' purchases stay what the kills meet most.
const PAUSE: Duration = Duration::from_millis(20);
/// Rupiah, so many thousands at most.
const MAX_THOUSANDS: i64 = 50;
/// Only of the newest sales one is taken back: half an hour is soon over.
const VOIDED_OF: usize = 20;
/// Sales that are sent once more after a crash.
const RECHECKED: usize = 3;

/// What a key was sent with, so that it is asked again until it is decided.
#[derive(Debug, Clone)]
struct Call {
    key: String,
    path: String,
    body: Value,
    deed: Deed,
}

#[derive(Debug, Clone)]
enum Deed {
    Open { float: i64 },
    Sell { customer: usize, nominal: i64, in_cash: bool },
    Void { sale: usize },
    Close,
    HandOver,
}

#[derive(Debug)]
struct Sale {
    id: String,
    key: String,
    body: Value,
    /// Which of the two sold it.
    by: usize,
    customer: usize,
    nominal: i64,
    in_cash: bool,
    voided: bool,
}

/// What a till hears of an id that it has not found within the hour.
const NOT_FOUND: &str = "pelanggan tidak ditemukan";

/// What was answered at the tills.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deeds {
    pub sold: usize,
    pub voided: usize,
    pub handed_over: usize,
}

impl Sum for Deeds {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |a, b| Self {
            sold: a.sold + b.sold,
            voided: a.voided + b.voided,
            handed_over: a.handed_over + b.handed_over,
        })
    }
}

/// One till and whoever stands there.
pub struct Cashier {
    market: Arc<Market>,
    till: Till,
    /// The customers whom nobody else tops up.
    customers: Vec<usize>,
    people: [i64; 2],
    at_work: usize,
    token: String,
    rng: StdRng,
    open: Option<Call>,
    sales: Vec<Sale>,
    /// Rupiah that should be in the drawer; `None` without a shift.
    drawer: Option<i64>,
    deeds: Deeds,
}

impl Cashier {
    /// Pairs a till with the first outlet, and hires two who relieve each other.
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
        let mut cashier = Self {
            market: market.clone(),
            till,
            customers,
            people: [0; 2],
            at_work: 0,
            token: String::new(),
            rng: StdRng::seed_from_u64(seed),
            open: None,
            sales: Vec::new(),
            drawer: None,
            deeds: Deeds::default(),
        };
        for at in [1, 0] {
            let hired = cashier.till.hire(&pool, &market.key, &format!("Kasir {index}{at}")).await?;
            (cashier.people[at], cashier.token) = hired;
        }
        Ok(cashier)
    }

    pub fn deeds(&self) -> Deeds {
        self.deeds
    }

    /// The next thing at this till, or once more what was not answered. An error is a broken promise.
    pub async fn work(&mut self, to: SocketAddr) -> Result<(), String> {
        let call = match self.open.take() {
            Some(call) => call,
            None => self.choose(),
        };
        let decided = self.send(to, call).await?;
        tokio::time::sleep(if decided { PAUSE } else { RETRY_AFTER }).await;
        Ok(())
    }

    /// Sends what is not decided once more; whether it still is not.
    pub async fn is_open(&mut self, to: SocketAddr) -> Result<bool, String> {
        match self.open.take() {
            Some(call) => Ok(!self.send(to, call).await?),
            None => Ok(false),
        }
    }

    fn choose(&mut self) -> Call {
        let Some(drawer) = self.drawer else {
            let float = self.rng.random_range(0..MAX_THOUSANDS) * 1_000;
            return self.call("shift".to_owned(), json!({ "modal": float }), Deed::Open { float });
        };
        match self.rng.random_range(0..30) {
            0 => self.call("shift/tutup".to_owned(), json!({ "dihitung": drawer }), Deed::Close),
            1 => {
                let next = who(self.people[1 - self.at_work]);
                self.call("shift/tutup".to_owned(), json!({ "dihitung": drawer, "lanjut": next }), Deed::HandOver)
            }
            2..=5 if self.voidable(drawer).is_some() => {
                let sale = self.voidable(drawer).unwrap_or_default();
                let path = format!("topup/{}/batal", self.sales[sale].id);
                self.call(path, json!({ "alasan": "salah nominal" }), Deed::Void { sale })
            }
            _ => self.sell(),
        }
    }

    /// The newest sale that may be taken back here.
    fn voidable(&self, drawer: i64) -> Option<usize> {
        let newest = self.sales.iter().enumerate().rev().take(VOIDED_OF);
        let mut may = newest.filter(|(_, sale)| !sale.voided && (!sale.in_cash || sale.nominal <= drawer));
        may.next().map(|(at, _)| at)
    }

    fn sell(&mut self) -> Call {
        let customer = self.customers[self.rng.random_range(0..self.customers.len())];
        let (nominal, in_cash) = (self.rng.random_range(1..=MAX_THOUSANDS) * 1_000, self.rng.random_bool(0.75));
        let body = json!({
            "id_customer_global": self.market.shop.customers[customer].id_customer_global, "idoutlet": self.till.idoutlet,
            "nominal": nominal, "cara_bayar": if in_cash { "tunai" } else { "qris" }, "ulang": true,
        });
        self.call("topup".to_owned(), body, Deed::Sell { customer, nominal, in_cash })
    }

    fn call(&self, path: String, body: Value, deed: Deed) -> Call {
        Call { key: once(), path, body, deed }
    }

    /// Whether it is decided now; otherwise it is kept for the next time.
    async fn send(&mut self, to: SocketAddr, call: Call) -> Result<bool, String> {
        // A connection that broke tells nothing.
        let Ok(answer) = self.till.call(to, &self.token, &call.path, &call.key, &call.body).await else {
            return Ok(self.keep(call));
        };
        match answer.status {
            200 => self.done(to, call, &answer.data).await,
            // Handed over, and the answer with the next one's session was lost.
            401 if matches!(call.deed, Deed::HandOver) && answer.message == "sesi berakhir" => {
                self.done(to, call, &Value::Null).await
            }
            // A kill in the middle of a PIN leaves a wrong try behind.
            403 | 429 if matches!(call.deed, Deed::HandOver) => {
                self.forgive(to).await?;
                Ok(self.keep(call))
            }
            // Not found here yet, or an hour ago. The refusal is an answer to its key, so the sale is a new one.
            404 if answer.message == NOT_FOUND => {
                self.find(to, &call).await?;
                Ok(self.keep(Call { key: once(), ..call }))
            }
            503 | 504 => Ok(self.keep(call)),
            _ => Err(format!("{} {}: {answer:?}", call.path, call.body)),
        }
    }

    /// Finds the customer of a sale; a server that is down is asked the next time.
    async fn find(&self, to: SocketAddr, call: &Call) -> Result<(), String> {
        let Deed::Sell { customer, .. } = call.deed else { return Err(format!("{}: 404", call.path)) };
        match self.till.find(to, &self.token, &self.market.shop.customers[customer].telp).await {
            Ok(answer) if !matches!(answer.status, 200 | 503) => Err(format!("pelanggan/cari: {answer:?}")),
            _ => Ok(()),
        }
    }

    fn keep(&mut self, call: Call) -> bool {
        self.open = Some(call);
        false
    }

    async fn done(&mut self, to: SocketAddr, call: Call, told: &Value) -> Result<bool, String> {
        match call.deed {
            Deed::Open { float } => self.drawer = Some(float),
            Deed::Sell { customer, nominal, in_cash } => {
                let id = told["idpembelian_emoney"].as_str().ok_or_else(|| format!("no id in {told}"))?.to_owned();
                if self.sales.iter().any(|sale| sale.id == id) {
                    return Err(format!("two sales are number {id}"));
                }
                self.add_to_drawer(if in_cash { nominal } else { 0 });
                self.sales.push(Sale {
                    id,
                    key: call.key,
                    body: call.body,
                    by: self.at_work,
                    customer,
                    nominal,
                    in_cash,
                    voided: false,
                });
                self.deeds.sold += 1;
            }
            Deed::Void { sale } => {
                let sale = &mut self.sales[sale];
                sale.voided = true;
                let back = if sale.in_cash { sale.nominal } else { 0 };
                self.add_to_drawer(-back);
                self.deeds.voided += 1;
            }
            Deed::Close => {
                self.counted(told)?;
                self.drawer = None;
            }
            Deed::HandOver => {
                // Whoever has no token yet logs in; until then the handover is not over here.
                self.token = match told["token"].as_str() {
                    Some(token) => token.to_owned(),
                    None => match self.log_in(to, 1 - self.at_work).await? {
                        Some(token) => token,
                        None => return Ok(self.keep(call)),
                    },
                };
                self.at_work = 1 - self.at_work;
                if !told.is_null() {
                    self.counted(told)?;
                }
                self.deeds.handed_over += 1;
            }
        }
        Ok(true)
    }

    fn add_to_drawer(&mut self, rupiah: i64) {
        self.drawer = self.drawer.map(|drawer| drawer + rupiah);
    }

    /// What a count was told is what was sold.
    fn counted(&self, told: &Value) -> Result<(), String> {
        if told["diharapkan"].as_i64() == self.drawer {
            Ok(())
        } else {
            Err(format!("{:?} should be in the drawer: {told}", self.drawer))
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

    /// Opens the next one's lock; a server that is down is asked the next time.
    async fn forgive(&self, to: SocketAddr) -> Result<(), String> {
        let (auth, path) =
            (format!("Bearer {}", self.market.key), format!("/ops/v1/petugas/{}/buka_kunci", self.people[1 - self.at_work]));
        match ask(to, "POST", &path, &[("authorization", &auth)], &Value::Null).await {
            Ok(answer) if !matches!(answer.status, 200 | 503) => Err(format!("{path}: {answer:?}")),
            _ => Ok(()),
        }
    }

    /// After a crash: the newest sales are told again as they were, the drawer holds what was answered, and so does every customer.
    pub async fn audit(&self, to: SocketAddr) -> Result<(), String> {
        // A key belongs to whoever used it: anybody else's is a new sale.
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
        for &customer in &self.customers {
            let standing = self.sales.iter().filter(|sale| sale.customer == customer && !sale.voided);
            let expected = BALANCE.cast_signed() + standing.map(|sale| sale.nominal).sum::<i64>();
            balance(to, &self.market.shop.customers[customer], expected).await?;
        }
        Ok(())
    }
}
