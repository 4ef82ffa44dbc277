//! Machines, customers and money of the fake server.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::{Faults, one_in};

/// Answer of a call; a refusal is a status and a message.
pub type Answer = Result<Value, (u16, &'static str)>;

const SECOND_MS: i64 = 1_000;

/// Run of a machine, in epoch milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub began: i64,
    pub ends_at: i64,
}

#[derive(Debug, Clone, Copy)]
pub struct Machine {
    idoutlet: i64,
    /// Last run.
    pub run: Option<Run>,
}

impl Machine {
    /// Moment within a second at which it ticks.
    pub const fn phase_ms(&self) -> i64 {
        self.idoutlet * 130 % SECOND_MS
    }

    /// Present run.
    pub fn runs(&self, now: i64) -> Option<Run> {
        self.run.filter(|run| run.ends_at > now)
    }
}

#[derive(Debug, Default)]
struct Account {
    balance: i64,
    /// Movements, the newest first.
    history: Vec<i64>,
}

#[derive(Debug, Default)]
pub struct Shop {
    next: i64,
    payments: u64,
    codes: u64,
    /// Number of times that each receipt was delayed.
    put_off: HashMap<(i64, String), u64>,
    pub machines: HashMap<i64, Machine>,
    /// Outlet and duration in seconds, by service.
    services: HashMap<i64, (i64, i64)>,
    /// Customers by `idcustomer`, which the token contains.
    accounts: HashMap<i64, Account>,
    /// Customers by `telp`.
    customers: HashMap<String, i64>,
    /// Customer and receipt number.
    receipts: HashSet<(i64, String)>,
}

impl Shop {
    fn id(&mut self) -> i64 {
        self.next += 1;
        self.next
    }

    pub fn ops(&mut self, call: &str, body: &Value, faults: &Faults) -> Answer {
        let count = body["jumlah"].as_i64().unwrap_or(0);
        match call {
            "owner" => Ok(json!({ "idowner": self.id() })),
            "outlet" => Ok(json!({ "idoutlet": self.id() })),
            "layanan" => {
                let id = self.id();
                self.services.insert(id, (number(body, "idoutlet"), number(body, "durasi")));
                Ok(json!({ "id": id }))
            }
            "mesin/bulk" => {
                let idoutlet = number(body, "idoutlet");
                let one = |shop: &mut Self| {
                    let id = shop.id();
                    shop.machines.insert(id, Machine { idoutlet, run: None });
                    json!({ "id": id, "qr": format!("qr-{id}"), "kode": "00000000" })
                };
                Ok(json!({ "mesin": (0..count).map(|_| one(self)).collect::<Vec<_>>() }))
            }
            "pelanggan/bulk" => {
                let one = |shop: &mut Self| {
                    let id = shop.id();
                    let telp = format!("8199{id:07}");
                    let token = shop.open_account(id, &telp, number(body, "saldo"));
                    json!({ "id_customer_global": id, "telp": telp, "idcustomer": id, "token": token })
                };
                Ok(json!({ "pelanggan": (0..count).map(|_| one(self)).collect::<Vec<_>>() }))
            }
            "topup" => {
                let id = *self.customers.get(text(body, "telp")).ok_or((404, "nomor belum terdaftar"))?;
                let account = self.accounts.entry(id).or_default();
                account.balance += number(body, "nominal");
                if !faults.short_history {
                    account.history.insert(0, number(body, "nominal"));
                }
                Ok(json!({ "idcustomer": id }))
            }
            _ => Err((404, "alamat tidak ditemukan")),
        }
    }

    /// Token of the customer.
    fn open_account(&mut self, id: i64, telp: &str, balance: i64) -> String {
        self.accounts.insert(id, Account { balance, history: Vec::new() });
        self.customers.insert(telp.to_owned(), id);
        format!("token-{id}")
    }

    pub fn request_code(&mut self, faults: &Faults) -> Answer {
        const WAIT: [&str; 3] = ["coba lagi dalam 3599 detik", "coba lagi dalam 3598 detik", "coba lagi dalam 3597 detik"];
        self.codes += 1;
        match faults.codes {
            Some(max) if self.codes > max => Err((429, WAIT[usize::try_from(self.codes).unwrap_or(0) % WAIT.len()])),
            _ => Ok(Value::Null),
        }
    }

    pub fn register(&mut self, body: &Value) -> Answer {
        let id = self.id();
        Ok(json!({ "token": self.open_account(id, text(body, "telp"), 0) }))
    }

    pub fn service(&self, body: &Value) -> Answer {
        let id = text(body, "qr").strip_prefix("qr-").and_then(|id| id.parse::<i64>().ok());
        let machine = id.and_then(|id| self.machines.get(&id)).ok_or((404, "Mesin Not found"))?;
        let services = self.services.iter().filter(|(_, (outlet, _))| *outlet == machine.idoutlet);
        let services: Vec<Value> = services.map(|(id, (_, s))| json!({ "id": id, "durasi": s, "harga": 1000 })).collect();
        Ok(json!({ "data_mesin": { "id": id, "status": "idle" }, "data_layanan": services }))
    }

    pub fn accounts(&self, customer: i64, faults: &Faults) -> Answer {
        if faults.hide_balances {
            return Err((503, "server sedang sibuk"));
        }
        let account = self.accounts.get(&customer).ok_or((401, "token tidak berlaku"))?;
        let balance = account.balance - i64::from(faults.cheat);
        Ok(json!([{ "idcustomer": customer, "quota_emoney": { "saldo": balance, "jenis_emoney": 2 } }]))
    }

    pub fn history(&self, customer: i64) -> Answer {
        let account = self.accounts.get(&customer).ok_or((401, "token tidak berlaku"))?;
        Ok(json!({ "history_data": account.history.iter().map(|value| json!({ "value": value })).collect::<Vec<_>>() }))
    }

    /// `None`: it is done, and no answer is sent.
    pub fn pay(&mut self, customer: i64, body: &Value, faults: &Faults, now: i64) -> Option<Answer> {
        let before = self.payments;
        let answer = self.decide(customer, body, faults, now);
        let unanswered = self.payments > before && one_in(faults.pay_unanswered_one_in, self.payments);
        (!unanswered).then_some(answer)
    }

    fn decide(&mut self, customer: i64, body: &Value, faults: &Faults, now: i64) -> Answer {
        let paid = Ok(json!({ "id": body["id"], "message": "Mesin Berhasil dinyalakan" }));
        let receipt = (customer, text(body, "id").to_owned());
        if faults.pay_busy > 0 {
            let put_off = self.put_off.entry(receipt.clone()).or_default();
            *put_off += 1;
            match (*put_off).cmp(&(faults.pay_busy + 1)) {
                Ordering::Less => return Err((503, "server sedang sibuk")),
                Ordering::Equal => return Err((504, "mesin belum menjawab")),
                Ordering::Greater => {}
            }
        }
        if self.receipts.contains(&receipt) && !faults.pay_repeats {
            return paid;
        }
        self.payments += 1;
        if one_in(faults.pay_fails_one_in, self.payments) {
            return Err((500, "terjadi kesalahan"));
        }
        let (_, seconds) = *self.services.get(&number(body, "idsnap_layanan")).ok_or((404, "layanan tidak ditemukan"))?;
        let machine = self.machines.get_mut(&number(body, "idmesin")).ok_or((404, "Mesin Not found"))?;
        let account = self.accounts.get_mut(&customer).ok_or((401, "token tidak berlaku"))?;
        let price = number(body, "grandtotal");
        let is_repeat = self.receipts.contains(&receipt);
        if machine.runs(now).is_some() && !faults.many_winners && !is_repeat {
            if faults.charge_losers {
                account.balance -= price;
            }
            return Err((409, "mesin sedang digunakan"));
        }
        if !faults.no_run {
            machine.run = Some(Run { began: now, ends_at: now + seconds * SECOND_MS });
        }
        account.balance -= price * (1 + faults.overcharge);
        account.history.insert(0, -price);
        self.receipts.insert(receipt);
        paid
    }
}

fn number(body: &Value, name: &str) -> i64 {
    body[name].as_i64().unwrap_or(0)
}

fn text<'a>(body: &'a Value, name: &str) -> &'a str {
    body[name].as_str().unwrap_or_default()
}
