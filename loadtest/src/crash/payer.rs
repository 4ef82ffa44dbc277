//! A customer who keeps every receipt, and what was said about it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;

use super::Market;
use super::flow::Flow;
use super::heard::Heard;
use crate::http::{ServerAnswer, ask};
use crate::shop::{PAY, TestCustomer, TestMachine, order};

const REFUSED_BY_DEVICE: &str = "mesin gagal dinyalakan, saldo dikembalikan";
/// Refusals of the table: remembered, so a repeat hears the same.
const REMEMBERED: [&str; 2] = ["mesin sedang digunakan", "mesin sedang offline"];
/// How long somebody waits who was told that the server is busy, or not at all.
const RETRY_AFTER: Duration = Duration::from_millis(30);

/// What is known of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
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
    pub told: Known,
    /// The server that decided it, where a load balancer tells.
    pub server: Option<String>,
    /// Until it was decided.
    pub heard: Heard,
}

pub struct Payer {
    market: Arc<Market>,
    index: usize,
    rng: StdRng,
    receipts: BTreeMap<String, Receipt>,
    next: u64,
}

impl Payer {
    pub fn new(market: &Arc<Market>, index: usize, seed: u64) -> Self {
        Self { market: market.clone(), index, rng: StdRng::seed_from_u64(seed), receipts: BTreeMap::new(), next: 1 }
    }

    pub fn index(&self) -> usize {
        self.index
    }

    /// Who it is to the server.
    pub fn account(&self) -> &TestCustomer {
        &self.market.shop.customers[self.index]
    }

    pub fn receipts(&self) -> impl Iterator<Item = (&String, &Receipt)> {
        self.receipts.iter()
    }

    pub fn latest(&self) -> Option<&Receipt> {
        self.receipts.values().next_back()
    }

    /// Purchases that were confirmed.
    pub fn paid(&self) -> usize {
        self.receipts.values().filter(|r| r.told == Known::Runs).count()
    }

    /// One press of `Bayar`: something new, or once more what was not answered. An error is a broken promise.
    pub async fn buy(&mut self, to: SocketAddr, flow: &Flow) -> Result<(), String> {
        let open = self.receipts.iter().find(|(_, r)| r.told == Known::Nothing).map(|(number, _)| number.clone());
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
            self.receipts.iter().filter(|(_, r)| r.told == Known::Nothing).map(|(number, _)| number.clone()).collect();
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
        let (machines, services) = (&self.market.shop.machines, &self.market.services);
        let machine = &machines[self.rng.random_range(0..machines.len())];
        let idlayanan = if services.is_empty() { machine.idlayanan } else { services[self.rng.random_range(0..services.len())] };
        let body = order(&number, self.account(), &TestMachine { idlayanan, ..machine.clone() });
        self.receipts.insert(number.clone(), Receipt { body, told: Known::Nothing, server: None, heard: Heard::default() });
        number
    }

    /// Whether the receipt is decided now.
    async fn send(&mut self, to: SocketAddr, number: &str) -> Result<bool, String> {
        let Some(body) = self.receipts.get(number).map(|r| r.body.clone()) else { return Ok(false) };
        let auth = format!("Bearer {}", self.account().token);
        let sent = Instant::now();
        let answer = ask(to, "POST", PAY, &[("authorization", &auth)], &body).await;
        let Some(receipt) = self.receipts.get_mut(number) else { return Ok(false) };
        if receipt.told == Known::Nothing {
            receipt.heard.add(sent, &answer);
        }
        // A connection that broke tells nothing.
        let Ok(answer) = answer else { return Ok(false) };
        let told = meaning(&answer).map_err(|why| format!("{number}: {why}"))?;
        if receipt.told != Known::Nothing && told != receipt.told {
            return Err(format!("{number}: told {:?} before, now {told:?} ({answer:?})", receipt.told));
        }
        receipt.told = told;
        receipt.server = answer.server;
        Ok(receipt.told != Known::Nothing)
    }
}

/// What an answer says about a receipt; an error for one that no customer may ever get here.
fn meaning(answer: &ServerAnswer) -> Result<Known, String> {
    match (answer.status, answer.message.as_str()) {
        (200, _) => Ok(Known::Runs),
        (409, REFUSED_BY_DEVICE) => Ok(Known::DidNotStart),
        (409, why) if REMEMBERED.contains(&why) => Ok(Known::Refused(why.to_owned())),
        (503 | 504, _) => Ok(Known::Nothing),
        _ => Err(format!("answered {answer:?}")),
    }
}
