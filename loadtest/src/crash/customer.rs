//! A customer who keeps every receipt, and what was said about it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::flow::Flow;
use super::shop::{PRICE, Shop};
use crate::http::{Answer, ask};

const REFUSED_BY_DEVICE: &str = "mesin gagal dinyalakan, saldo dikembalikan";
/// Refusals of the table: remembered, so a repeat hears the same.
const REMEMBERED: [&str; 2] = ["mesin sedang digunakan", "mesin sedang offline"];
/// How long somebody waits who was told that the server is busy, or not at all.
const RETRY_AFTER: Duration = Duration::from_millis(30);

/// What is known of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Sent, and nothing heard that decides.
    Nothing,
    /// 200.
    Runs,
    /// The device said no; the money is back.
    DidNotStart,
    Refused(String),
}

#[derive(Debug, Clone)]
pub struct Receipt {
    pub body: Value,
    pub told: Told,
}

pub struct Customer {
    shop: Arc<Shop>,
    index: usize,
    rng: StdRng,
    receipts: BTreeMap<String, Receipt>,
    next: u64,
}

impl Customer {
    pub fn new(shop: &Arc<Shop>, index: usize, seed: u64) -> Self {
        Self { shop: shop.clone(), index, rng: StdRng::seed_from_u64(seed), receipts: BTreeMap::new(), next: 1 }
    }

    pub fn index(&self) -> usize {
        self.index
    }

    pub fn token(&self) -> &str {
        &self.shop.customers[self.index].0
    }

    pub fn idcustomer(&self) -> i64 {
        self.shop.customers[self.index].1
    }

    pub fn receipts(&self) -> impl Iterator<Item = (&String, &Receipt)> {
        self.receipts.iter()
    }

    /// Purchases that were confirmed.
    pub fn paid(&self) -> usize {
        self.receipts.values().filter(|r| r.told == Told::Runs).count()
    }

    /// One press of `Bayar`: something new, or once more what was not answered. An error is a broken promise.
    pub async fn buy(&mut self, to: SocketAddr, flow: &Flow) -> Result<(), String> {
        let open = self.receipts.iter().find(|(_, r)| r.told == Told::Nothing).map(|(number, _)| number.clone());
        let number = match open {
            Some(number) => number,
            None => {
                flow.begin();
                self.order()
            }
        };
        flow.leaves();
        let decided = self.send(to, &number).await;
        flow.arrived();
        if !decided? {
            tokio::time::sleep(RETRY_AFTER).await;
        }
        Ok(())
    }

    /// Sends every receipt that is not decided once more; how many still are not.
    pub async fn ask_again(&mut self, to: SocketAddr) -> Result<usize, String> {
        let open: Vec<String> =
            self.receipts.iter().filter(|(_, r)| r.told == Told::Nothing).map(|(number, _)| number.clone()).collect();
        let mut left = 0;
        for number in open {
            left += usize::from(!self.send(to, &number).await?);
        }
        Ok(left)
    }

    /// Sends some old receipts once more: what was told must still be told.
    pub async fn recheck(&mut self, to: SocketAddr, latest: usize) -> Result<(), String> {
        let some: Vec<String> = self.receipts.keys().rev().take(latest).cloned().collect();
        for number in some {
            if !self.send(to, &number).await? {
                return Err(format!("{number}: a decided receipt is not answered"));
            }
        }
        Ok(())
    }

    fn order(&mut self) -> String {
        let number = format!("SLF{:015}", self.next);
        self.next += 1;
        let pick = |rng: &mut StdRng, of: &[i64]| of[rng.random_range(0..of.len())];
        let (machine, service) = (pick(&mut self.rng, &self.shop.machines), pick(&mut self.rng, &self.shop.services));
        let body = json!({
            "id": number, "idcustomer": self.idcustomer(), "idmesin": machine, "idoutlet": self.shop.idoutlet,
            "idsnap_layanan": service, "total": PRICE, "grandtotal": PRICE,
        });
        self.receipts.insert(number.clone(), Receipt { body, told: Told::Nothing });
        number
    }

    /// Whether the receipt is decided now.
    async fn send(&mut self, to: SocketAddr, number: &str) -> Result<bool, String> {
        let Some(body) = self.receipts.get(number).map(|r| r.body.clone()) else { return Ok(false) };
        let auth = format!("Bearer {}", self.token());
        let path = "/scan/v1/transaksi/create_snap_transaksi";
        // A connection that broke tells nothing.
        let Ok(answer) = ask(to, "POST", path, &[("authorization", &auth)], &body).await else { return Ok(false) };
        let told = meaning(&answer).map_err(|why| format!("{number}: {why}"))?;
        let Some(receipt) = self.receipts.get_mut(number) else { return Ok(false) };
        if receipt.told != Told::Nothing && told != receipt.told {
            return Err(format!("{number}: told {:?} before, now {told:?} ({answer:?})", receipt.told));
        }
        receipt.told = told;
        Ok(receipt.told != Told::Nothing)
    }
}

/// What an answer says about a receipt; an error for one that no customer may ever get here.
fn meaning(answer: &Answer) -> Result<Told, String> {
    match (answer.status, answer.message.as_str()) {
        (200, _) => Ok(Told::Runs),
        (409, REFUSED_BY_DEVICE) => Ok(Told::DidNotStart),
        (409, why) if REMEMBERED.contains(&why) => Ok(Told::Refused(why.to_owned())),
        (503 | 504, _) => Ok(Told::Nothing),
        _ => Err(format!("answered {answer:?}")),
    }
}
