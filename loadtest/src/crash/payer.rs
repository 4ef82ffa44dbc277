//! A customer who keeps every receipt and its answers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;

use super::Market;
use super::answers::ReceiptAnswers;
use super::flow::Flow;
use crate::http::{ServerAnswer, ask};
use crate::shop::{PAY, TestCustomer, TestMachine, order};

const REFUSED_BY_DEVICE: &str = "mesin gagal dinyalakan, saldo dikembalikan";
/// Refusals that the server stores: a repeat gets the same answer.
const REMEMBERED: [&str; 2] = ["mesin sedang digunakan", "mesin sedang offline"];
/// Pause after the server was busy or did not answer.
const RETRY_AFTER: Duration = Duration::from_millis(30);

/// Outcome of a receipt, as far as the customer knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptOutcome {
    /// No answer has decided it yet.
    Undecided,
    /// Status 200.
    Runs,
    /// The device refused; the money is back.
    DidNotStart,
    Refused(String),
}

#[derive(Debug, Clone)]
pub struct Receipt {
    pub body: Value,
    pub outcome: ReceiptOutcome,
    pub begun_at: SystemTime,
    /// When it was decided.
    pub decided_at: Option<SystemTime>,
    /// Server that decided it, when a load balancer names it.
    pub server: Option<String>,
    /// Answers until it was decided.
    pub answers: ReceiptAnswers,
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

    /// The customer as the server knows it.
    pub fn account(&self) -> &TestCustomer {
        &self.market.shop.customers[self.index]
    }

    pub fn receipts(&self) -> impl Iterator<Item = (&String, &Receipt)> {
        self.receipts.iter()
    }

    pub fn latest(&self) -> Option<&Receipt> {
        self.receipts.values().next_back()
    }

    /// Number of confirmed purchases.
    pub fn paid(&self) -> usize {
        self.receipts.values().filter(|r| r.outcome == ReceiptOutcome::Runs).count()
    }

    /// One press of `Bayar`: a new purchase, or the undecided one again. An error is a broken guarantee.
    pub async fn buy(&mut self, to: SocketAddr, flow: &Flow) -> Result<(), String> {
        let open = self.receipts.iter().find(|(_, r)| r.outcome == ReceiptOutcome::Undecided).map(|(number, _)| number.clone());
        let number = match open {
            Some(number) => number,
            None => {
                flow.begin();
                self.order()
            }
        };
        flow.payment_sent();
        let decided = self.send(to, &number).await;
        flow.payment_ended();
        if !decided? {
            tokio::time::sleep(RETRY_AFTER).await;
        }
        Ok(())
    }

    /// Repeats all undecided receipts. Returns how many are still undecided.
    pub async fn ask_again(&mut self, to: SocketAddr) -> Result<usize, String> {
        let open: Vec<String> = self
            .receipts
            .iter()
            .filter(|(_, r)| r.outcome == ReceiptOutcome::Undecided)
            .map(|(number, _)| number.clone())
            .collect();
        let mut left = 0;
        for number in open {
            left += usize::from(!self.send(to, &number).await?);
        }
        Ok(left)
    }

    /// Repeats the latest receipts; the answers must be the same as before.
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
        let receipt = Receipt {
            body,
            outcome: ReceiptOutcome::Undecided,
            begun_at: SystemTime::now(),
            decided_at: None,
            server: None,
            answers: ReceiptAnswers::default(),
        };
        self.receipts.insert(number.clone(), receipt);
        number
    }

    /// Sends the receipt and returns whether it is decided.
    async fn send(&mut self, to: SocketAddr, number: &str) -> Result<bool, String> {
        let Some(body) = self.receipts.get(number).map(|r| r.body.clone()) else { return Ok(false) };
        let auth = format!("Bearer {}", self.account().token);
        let sent = Instant::now();
        let answer = ask(to, "POST", PAY, &[("authorization", &auth)], &body).await;
        let Some(receipt) = self.receipts.get_mut(number) else { return Ok(false) };
        if receipt.outcome == ReceiptOutcome::Undecided {
            receipt.answers.add(sent, &answer);
        }
        // A broken connection decides nothing.
        let Ok(answer) = answer else { return Ok(false) };
        let outcome = meaning(&answer).map_err(|why| format!("{number}: {why}"))?;
        if receipt.outcome != ReceiptOutcome::Undecided && outcome != receipt.outcome {
            return Err(format!("{number}: told {:?} before, now {outcome:?} ({answer:?})", receipt.outcome));
        }
        if outcome != ReceiptOutcome::Undecided {
            receipt.decided_at.get_or_insert_with(SystemTime::now);
        }
        receipt.outcome = outcome;
        receipt.server = answer.server;
        Ok(receipt.outcome != ReceiptOutcome::Undecided)
    }
}

/// Outcome that an answer gives. An error: no customer may get such an answer here.
fn meaning(answer: &ServerAnswer) -> Result<ReceiptOutcome, String> {
    match (answer.status, answer.message.as_str()) {
        (200, _) => Ok(ReceiptOutcome::Runs),
        (409, REFUSED_BY_DEVICE) => Ok(ReceiptOutcome::DidNotStart),
        (409, why) if REMEMBERED.contains(&why) => Ok(ReceiptOutcome::Refused(why.to_owned())),
        (503 | 504, _) => Ok(ReceiptOutcome::Undecided),
        _ => Err(format!("answered {answer:?}")),
    }
}
