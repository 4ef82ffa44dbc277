//! Customers who buy through the load balancer during faults.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rand::Rng;
use rand::rngs::StdRng;
use tokio::sync::watch;

use super::outcome::DecidedPurchase;
use super::shards::Owners;
use crate::crash::flow::Flow;
use crate::crash::payer::{Payer, ReceiptOutcome};

/// Data that all customers share.
#[derive(Clone)]
pub struct Buyers {
    /// The load balancer.
    pub to: SocketAddr,
    /// Average pause between two purchases of a customer.
    pub pause: Duration,
    /// When the faults begin; purchases that are decided earlier are not counted.
    pub since: Instant,
    pub owners: watch::Receiver<Owners>,
    /// `true`: no customer begins another purchase.
    pub closed: watch::Receiver<bool>,
}

/// A customer with the decided purchases, and a guarantee that was broken.
pub struct BuyerResult {
    pub payer: Payer,
    pub decided: Vec<DecidedPurchase>,
    pub broken: Option<String>,
}

impl Buyers {
    /// Simulates a customer who buys from time to time, and repeats each request with the same receipt number until it is decided.
    pub async fn buy(mut self, payer: Payer, mut rng: StdRng) -> BuyerResult {
        let (mut all, flow) = (BuyerResult { payer, decided: Vec::new(), broken: None }, Flow::default());
        loop {
            let wait = self.pause.mul_f64(rng.random_range(0.0..2.0));
            tokio::select! {
                _ = self.closed.wait_for(|closed| *closed) => return all,
                () = tokio::time::sleep(wait) => {}
            }
            let (begun, before) = (Instant::now(), self.owners.borrow().clone());
            loop {
                if let Err(why) = all.payer.buy(self.to, &flow).await {
                    all.broken = Some(why);
                    return all;
                }
                if let Some(receipt) = all.payer.latest().filter(|r| r.outcome != ReceiptOutcome::Undecided) {
                    let owner = |owners: &Owners| owners.of(receipt.body["idoutlet"].as_i64()?).map(str::to_owned);
                    // The server that owned the shard during the whole purchase, as far as is known.
                    let owner = owner(&before).filter(|owned| owner(&self.owners.borrow()).as_ref() == Some(owned));
                    all.decided.extend(Instant::now().checked_duration_since(self.since).map(|at| DecidedPurchase {
                        at,
                        after: begun.elapsed(),
                        ran: receipt.outcome == ReceiptOutcome::Runs,
                        answers: format!("machine {}: {}", receipt.body["idmesin"], receipt.answers),
                        by_owner: owner.zip(receipt.server.as_ref()).map(|(owner, server)| owner == *server),
                    }));
                    break;
                }
                // A purchase that is still undecided at the end is requested again by the audit.
                if *self.closed.borrow() {
                    return all;
                }
            }
        }
    }
}
