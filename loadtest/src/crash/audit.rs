//! After a crash: everything is decided soon, the ledger keeps its rules, balances are what the customers' receipts say, and
//! the machines ran for exactly those who paid.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::SETTLED_WITHIN;
use super::customer::{Customer, Told};
use super::shop::{PRICE, SALDO, Shop, get};
use crate::server::Server;
use crate::shop::list;

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Old receipts that each customer sends once more.
const RECHECKED: usize = 6;
/// The simulated devices' own memory, one line a change.
const DEVICES: &str = "perangkat-sim.jsonl";

pub async fn settle(site: &Server, shop: &Arc<Shop>, customers: &mut [Customer]) -> Result<(), String> {
    let since = Instant::now();
    for customer in &mut *customers {
        while customer.ask_again(site.address()).await? > 0 {
            in_time(since, "a receipt is still undecided")?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    for machine in &shop.machines {
        while status(site, &shop.key, *machine).await? != "idle" {
            in_time(since, &format!("machine {machine} is still held"))?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    site.run(&["audit", "verify"]).await?;
    for customer in &mut *customers {
        balance(site, customer).await?;
        customer.recheck(site.address(), RECHECKED).await?;
    }
    runs(site, customers)
}

fn in_time(since: Instant, what: &str) -> Result<(), String> {
    if since.elapsed() < SETTLED_WITHIN { Ok(()) } else { Err(format!("{what} after {} s", SETTLED_WITHIN.as_secs())) }
}

async fn status(site: &Server, key: &str, machine: i64) -> Result<String, String> {
    let answer = get(site, &format!("/ops/v1/mesin/{machine}"), key).await?;
    let status = answer.data["status"].as_str().ok_or_else(|| format!("machine {machine}: {answer:?}"))?;
    if status == "offline" { Err(format!("machine {machine} is out of service: {answer:?}")) } else { Ok(status.to_owned()) }
}

/// A confirmed purchase costs its price once; everything else costs nothing.
async fn balance(site: &Server, customer: &Customer) -> Result<(), String> {
    let paid = i64::try_from(customer.paid()).map_err(|e| e.to_string())?;
    let answer = get(site, "/scan/v1/dashboard/get_user_epayment_by_id_customer_global", customer.token()).await?;
    let account = list(&answer.data)?.iter().find(|a| a["idcustomer"] == customer.idcustomer());
    let saldo = account.and_then(|a| a["quota_emoney"]["saldo"].as_i64()).ok_or_else(|| format!("no balance in {answer:?}"))?;
    let expected = SALDO - paid * PRICE;
    if saldo == expected {
        return Ok(());
    }
    Err(format!("customer {}: {paid} receipts are paid, so {expected} must be left, not {saldo}", customer.idcustomer()))
}

/// Every run that a device remembers was paid for, and every confirmed purchase ran.
fn runs(site: &Server, customers: &[Customer]) -> Result<(), String> {
    let path = site.data_dir().join(DEVICES);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut started = BTreeSet::new();
    for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        for known in list(&line["memory"]["known"])?.iter().filter(|k| k["result"] == "started") {
            started.insert(known["cmd_id"].to_string());
        }
    }
    let paid: usize = customers.iter().map(Customer::paid).sum();
    let open = customers.iter().flat_map(Customer::receipts).filter(|(_, r)| r.told == Told::Nothing).count();
    if started.len() == paid && open == 0 { Ok(()) } else { Err(format!("{} runs for {paid} paid receipts", started.len())) }
}
