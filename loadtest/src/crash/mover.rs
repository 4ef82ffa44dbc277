//! A customer of a till who moves to a new number again and again, while the till sells (docs/money.md, Moving to a new number).

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::ask;
use crate::shop::{TestCustomer, id, list};

/// Moves of one till in a run, which may look up sixty numbers an hour.
const MAX_MOVES: usize = 40;
/// Balance of the number that the customer moves to, in rupiah.
const BROUGHT: i64 = 25_000;
/// A message to the old number that a kill interrupted is sent again after a minute.
const HAPPENS_WITHIN: Duration = Duration::from_secs(90);

/// The customer, whose id stays and whose number changes.
#[derive(Debug)]
pub struct Mover {
    /// Index of the customer.
    pub customer: usize,
    pub id: i64,
    pub telp: String,
    waits: Option<Waits>,
    moved: usize,
}

/// Who registered with the new number.
#[derive(Debug, Clone)]
pub struct Newcomer {
    pub id: i64,
    telp: String,
}

/// A move that was asked for.
#[derive(Debug)]
struct Waits {
    to: Newcomer,
    since: Instant,
}

impl Mover {
    pub fn new(customer: usize, of: &TestCustomer) -> Result<Self, String> {
        let id = of.id_customer_global.ok_or("a customer without an id")?;
        Ok(Self { customer, id, telp: of.telp.clone(), waits: None, moved: 0 })
    }

    pub fn may_move(&self) -> bool {
        self.waits.is_none() && self.moved < MAX_MOVES
    }

    /// Body of the call that registers a newcomer.
    pub fn newcomer(idoutlet: i64) -> Value {
        json!({ "jumlah": 1, "awalan_telp": "8188", "idoutlet": idoutlet, "saldo": BROUGHT })
    }

    pub fn is_asked(&mut self, to: Newcomer) {
        self.waits = Some(Waits { to, since: Instant::now() });
    }

    /// Compares the balance with `expected` rupiah before the move that waits, if one does. Returns the rupiah that a move which has happened brought.
    pub async fn audit(&mut self, to: SocketAddr, key: &str, expected: i64) -> Result<i64, String> {
        let (telp, balance) = account(to, key, self.id).await?;
        let brought = match &self.waits {
            Some(waits) if last_digits(&telp) == last_digits(&waits.to.telp) => BROUGHT,
            Some(waits) if waits.since.elapsed() > HAPPENS_WITHIN => {
                return Err(format!(
                    "customer {}: the move to {} has not happened in {} s",
                    self.id,
                    waits.to.telp,
                    HAPPENS_WITHIN.as_secs()
                ));
            }
            _ => 0,
        };
        if balance != expected + brought {
            return Err(format!("customer {} must have {} rupiah, not {balance}", self.id, expected + brought));
        }
        if brought > 0
            && let Some(waits) = self.waits.take()
        {
            let (_, left) = account(to, key, waits.to.id).await?;
            if left != 0 {
                return Err(format!("customer {} has moved and still has {left} rupiah", waits.to.id));
            }
            self.telp = waits.to.telp;
            self.moved += 1;
        }
        Ok(brought)
    }
}

impl Newcomer {
    pub fn made(data: &Value) -> Result<Self, String> {
        let made = list(&data["pelanggan"])?.first().ok_or_else(|| format!("nobody in {data}"))?;
        let telp = made["telp"].as_str().ok_or_else(|| format!("no number in {made}"))?;
        Ok(Self { id: id(&made["id_customer_global"])?, telp: telp.to_owned() })
    }
}

/// Digits that a masked number shows.
fn last_digits(telp: &str) -> &str {
    telp.get(telp.len().saturating_sub(4)..).unwrap_or_default()
}

/// Masked number and balance of a customer, read at the same moment.
async fn account(to: SocketAddr, key: &str, customer: i64) -> Result<(String, i64), String> {
    let (path, auth) = (format!("/ops/v1/pelanggan/{customer}"), format!("Bearer {key}"));
    let seen = ask(to, "GET", &path, &[("authorization", &auth)], &Value::Null).await.map_err(|e| format!("{path}: {e}"))?;
    let accounts = list(&seen.data["akun"]).map_err(|_| format!("{path}: {seen:?}"))?;
    let balance = accounts.iter().filter_map(|account| account["saldo"].as_i64()).sum();
    Ok((seen.data["telp"].as_str().unwrap_or_default().to_owned(), balance))
}
