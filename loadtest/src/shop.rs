//! Shop of a load test: an owner, outlets with a few machines, and customers with money. The operators' bulk calls create it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::engine::Topic;
use crate::fleet::Driver;
use crate::http::{Pool, ServerAnswer};
use crate::report::metrics::Values;

/// Price of every service, in rupiah.
pub const PRICE: u64 = 1_000;
/// Balance with which each customer begins, in rupiah.
pub const BALANCE: u64 = 20_000_000;
/// Greatest number of items of a bulk call.
const BULK: usize = 20_000;
/// Time limit of a bulk call.
const BULK_WITHIN: Duration = Duration::from_secs(60);
/// Path of a purchase.
pub const PAY: &str = "/scan/v1/transaksi/create_snap_transaksi";
/// First phone number of the customers.
const TELP_PREFIX: &str = "8199";
/// Number of repeats of a purchase whose outcome is unknown, and the pause before each.
const MAX_PURCHASE_ATTEMPTS: u32 = 30;
const PURCHASE_AGAIN: Duration = Duration::from_millis(100);
/// How often a customer comes back whom the overloaded server has refused.
pub const MAX_RETURNS: u32 = 3;
/// Time limit of a purchase; the server answers after 8 s at the latest.
const PURCHASE_WITHIN: Duration = Duration::from_secs(12);

#[derive(Debug, Clone)]
pub struct TestMachine {
    pub idmesin: i64,
    pub qr: String,
    pub idoutlet: i64,
    pub idlayanan: i64,
    /// Index of the outlet.
    pub group: u32,
}

impl TestMachine {
    pub const fn topic(&self) -> Topic {
        Topic { idmesin: self.idmesin, group: self.group }
    }
}

#[derive(Debug)]
pub struct TestCustomer {
    pub token: Arc<str>,
    /// `None` for a customer who registered: only operators receive it.
    pub id_customer_global: Option<i64>,
    pub idcustomer: i64,
    pub telp: String,
    receipts: AtomicU64,
    /// Number of confirmed purchases.
    paid: AtomicU64,
    /// Number of purchases whose outcome is unknown.
    open: AtomicU64,
    /// Top-ups by a cashier, in rupiah.
    topped_up: AtomicU64,
}

impl TestCustomer {
    pub fn new(token: Arc<str>, id_customer_global: Option<i64>, idcustomer: i64, telp: String) -> Self {
        let none = || AtomicU64::new(0);
        Self { token, id_customer_global, idcustomer, telp, receipts: none(), paid: none(), open: none(), topped_up: none() }
    }

    /// New receipt number of this customer.
    pub fn receipt(&self) -> String {
        format!("SLF{:015}", self.receipts.fetch_add(1, Ordering::Relaxed) + 1)
    }

    pub fn paid(&self) -> u64 {
        self.paid.load(Ordering::Relaxed)
    }

    pub fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    pub fn topped_up(&self) -> u64 {
        self.topped_up.load(Ordering::Relaxed)
    }

    pub fn is_topped_up(&self, rupiah: u64) {
        self.topped_up.fetch_add(rupiah, Ordering::Relaxed);
    }

    /// Counts a purchase that is requested: from now on the money may be spent.
    pub fn pays(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts its confirmation.
    pub fn has_paid(&self) {
        self.paid.fetch_add(1, Ordering::Relaxed);
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts its refusal.
    pub fn has_not_paid(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Answers to payments that decided nothing, so that the payment was repeated with the same receipt number.
#[derive(Debug, Default)]
pub struct Undecided {
    overloaded: AtomicU64,
    busy: AtomicU64,
    no_word: AtomicU64,
    lost: AtomicU64,
}

impl Undecided {
    /// Counts an answer. `status` is 503 or 504, or `None` without an answer.
    pub fn add(&self, status: Option<u16>) {
        let count = match status {
            Some(503) => &self.busy,
            Some(_) => &self.no_word,
            None => &self.lost,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call, of any kind, that was refused because of overload.
    pub fn add_refused(&self) {
        self.overloaded.fetch_add(1, Ordering::Relaxed);
    }

    /// Calls that were refused because of overload until now.
    pub fn refused(&self) -> u64 {
        self.overloaded.load(Ordering::Relaxed)
    }

    pub fn add_to(&self, values: &mut Values) {
        values.count("refused", self.refused());
        for (name, count) in [("pay_503", &self.busy), ("pay_504", &self.no_word), ("pay_unanswered", &self.lost)] {
            values.count(name, count.load(Ordering::Relaxed));
        }
    }
}

/// Size of a shop.
#[derive(Debug, Clone, Copy)]
pub struct Wish {
    pub driver: Driver,
    pub machines: usize,
    pub machines_per_outlet: usize,
    pub customers: usize,
    /// Duration of a service, in seconds.
    pub duration_s: u32,
}

#[derive(Debug)]
pub struct Shop {
    pub idowner: i64,
    pub groups: usize,
    pub machines: Vec<TestMachine>,
    pub customers: Vec<Arc<TestCustomer>>,
    pub undecided: Arc<Undecided>,
}

impl Shop {
    /// # Errors
    /// One line with the refused call.
    pub async fn open(pool: &Pool, key: &str, wish: Wish) -> Result<Self, String> {
        let owner = ops(pool, key, "owner", &json!({ "nama": "Uji Beban" })).await?;
        let idowner = id(&owner["idowner"])?;
        let per_outlet = wish.machines_per_outlet.max(1);
        let groups = wish.machines.div_ceil(per_outlet).max(1);
        let mut outlets = JoinSet::new();
        for group in 0..groups {
            let machines = per_outlet.min(wish.machines - group * per_outlet);
            let (pool, key) = (pool.clone(), key.to_owned());
            outlets.spawn(async move { outlet(&pool, &key, idowner, group, machines, wish).await });
        }
        let mut machines = Vec::with_capacity(wish.machines);
        while let Some(made) = outlets.join_next().await {
            machines.extend(made.map_err(|e| e.to_string())??);
        }
        machines.sort_by_key(|m| (m.group, m.idmesin));
        let first = machines.first().ok_or("at least one machine is needed")?.idoutlet;
        let customers = customers(pool, key, first, wish.customers).await?;
        Ok(Self { idowner, groups, machines, customers, undecided: Arc::default() })
    }

    /// Pays `machine` as `customer`, and repeats the payment with the same receipt number until it is decided. Then the machine runs. Returns
    /// the time of the attempt that was answered with that.
    ///
    /// # Errors
    /// Kind of error: the server's refusal, or an outcome that is still unknown after all attempts.
    pub async fn buy(&self, pool: &Pool, customer: &TestCustomer, machine: &TestMachine) -> Result<Duration, String> {
        let order = order(&customer.receipt(), customer, machine);
        let (mut last, mut returns, mut maybe_paid) = (String::new(), 0, false);
        customer.pays();
        for _ in 0..MAX_PURCHASE_ATTEMPTS {
            let (asked, mut pause) = (Instant::now(), PURCHASE_AGAIN);
            match pay(pool, customer, &order).await {
                Ok(answer) if answer.status == 200 => {
                    customer.has_paid();
                    return Ok(asked.elapsed());
                }
                Ok(answer) if answer.refused_for().is_some() => {
                    self.undecided.add_refused();
                    returns += 1;
                    if returns > MAX_RETURNS && !maybe_paid {
                        customer.has_not_paid();
                        return Err(answer.refusal_of("pay"));
                    }
                    pause = answer.refused_for().unwrap_or(pause);
                }
                Ok(answer) if !matches!(answer.status, 503 | 504) => {
                    customer.has_not_paid();
                    return Err(answer.refusal_of("pay"));
                }
                Ok(answer) => {
                    maybe_paid = true;
                    self.undecided.add(Some(answer.status));
                    last = format!("{} {}", answer.status, answer.message);
                }
                Err(e) => {
                    maybe_paid = true;
                    self.undecided.add(None);
                    last = e.to_string();
                }
            }
            tokio::time::sleep(pause).await;
        }
        Err(format!("pay: {last}"))
    }
}

/// Body of a purchase with this receipt number.
pub fn order(receipt: &str, customer: &TestCustomer, machine: &TestMachine) -> Value {
    json!({
        "id": receipt, "idcustomer": customer.idcustomer, "idmesin": machine.idmesin, "idoutlet": machine.idoutlet,
        "idsnap_layanan": machine.idlayanan, "total": PRICE, "grandtotal": PRICE,
    })
}

/// Sends one payment.
///
/// # Errors
/// When no answer comes.
pub async fn pay(pool: &Pool, customer: &TestCustomer, order: &Value) -> io::Result<ServerAnswer> {
    pool.call_within(PURCHASE_WITHIN, "POST", PAY, &customer.token, order).await
}

/// Sends an operator's call that must succeed, and returns its data.
///
/// # Errors
/// One line with the refusal.
pub async fn ops(pool: &Pool, key: &str, call: &str, body: &Value) -> Result<Value, String> {
    let path = format!("/ops/v1/{call}");
    let answer = pool.call_patiently(BULK_WITHIN, "POST", &path, key, body).await.map_err(|e| format!("{path}: {e}"))?;
    match answer.status {
        200 => Ok(answer.data),
        401 => Err("the API key is not known to this server; `nyala key add --role root --nama loadtest` prints one".to_owned()),
        status => Err(format!("{path}: {status} {}", answer.message)),
    }
}

async fn outlet(
    pool: &Pool,
    key: &str,
    idowner: i64,
    group: usize,
    machines: usize,
    Wish { driver, duration_s, .. }: Wish,
) -> Result<Vec<TestMachine>, String> {
    let place = json!({
        "idowner": idowner, "nama": format!("Uji {}", group + 1), "kota": "Bandung", "latitude": -6.9, "longitude": 107.6,
    });
    let idoutlet = id(&ops(pool, key, "outlet", &place).await?["idoutlet"])?;
    let service = json!({ "idoutlet": idoutlet, "nama": "Cuci Uji", "durasi": duration_s, "harga": PRICE });
    let idlayanan = id(&ops(pool, key, "layanan", &service).await?["id"])?;
    let group = u32::try_from(group).map_err(|e| e.to_string())?;
    let machine = |m: &Value| {
        let qr = m["qr"].as_str().ok_or("a machine without qr")?.to_owned();
        Ok::<_, String>(TestMachine { idmesin: id(&m["id"])?, qr, idoutlet, idlayanan, group })
    };
    let mut all = Vec::with_capacity(machines);
    while all.len() < machines {
        let count = (machines - all.len()).min(BULK);
        let many = json!({ "idoutlet": idoutlet, "jumlah": count, "awalan": "Mesin", "driver": driver.as_str() });
        let made = ops(pool, key, "mesin/bulk", &many).await?;
        let made = list(&made["mesin"])?;
        if made.is_empty() {
            return Err("/ops/v1/mesin/bulk made no machine".to_owned());
        }
        for m in made {
            all.push(machine(m)?);
        }
    }
    Ok(all)
}

async fn customers(pool: &Pool, key: &str, idoutlet: i64, wanted: usize) -> Result<Vec<Arc<TestCustomer>>, String> {
    let mut all = Vec::with_capacity(wanted);
    while all.len() < wanted {
        let count = (wanted - all.len()).min(BULK);
        let many = json!({ "jumlah": count, "awalan_telp": TELP_PREFIX, "idoutlet": idoutlet, "saldo": BALANCE });
        let made = ops(pool, key, "pelanggan/bulk", &many).await?;
        let made = list(&made["pelanggan"])?;
        if made.is_empty() {
            return Err("/ops/v1/pelanggan/bulk made no customer".to_owned());
        }
        for c in made {
            let text = |name: &str| c[name].as_str().ok_or_else(|| format!("a customer without {name}"));
            let (global, own) = (id(&c["id_customer_global"])?, id(&c["idcustomer"])?);
            all.push(Arc::new(TestCustomer::new(text("token")?.into(), Some(global), own, text("telp")?.to_owned())));
        }
    }
    Ok(all)
}

/// # Errors
/// One line when the value has another type.
pub fn id(value: &Value) -> Result<i64, String> {
    let number = value.as_i64().or_else(|| value.as_str().and_then(|s| s.parse().ok()));
    number.ok_or_else(|| format!("an id was expected, not {value}"))
}

/// # Errors
/// One line when the value has another type.
pub fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("a list was expected, not {value}"))
}
