//! One purchase with the calls of the app: scan, choose the E-Pay wallet, pay.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Pool, ServerAnswer};
use crate::shop::{Shop, TestCustomer, TestMachine};

/// Times of a purchase, since its planned moment; `pay`: of that call alone.
#[derive(Debug, Clone, Copy)]
pub struct Took {
    pub scan: Duration,
    pub pay: Duration,
    pub total: Duration,
}

/// Decided purchase. Customer and machine are indexes of the shop.
pub struct Errand {
    pub customer: usize,
    pub machine: usize,
    /// Delay with which the tool began.
    pub behind: Duration,
    /// Times, or the kind of error.
    pub outcome: Result<Took, String>,
}

pub async fn buy(pool: Pool, shop: Arc<Shop>, customer: usize, machine: usize, planned: Instant) -> Errand {
    let behind = planned.elapsed();
    let outcome = steps(&pool, &shop, &shop.customers[customer], &shop.machines[machine], planned).await;
    Errand { customer, machine, behind, outcome }
}

async fn steps(
    pool: &Pool,
    shop: &Shop,
    customer: &TestCustomer,
    machine: &TestMachine,
    planned: Instant,
) -> Result<Took, String> {
    scan(pool, &customer.token, machine).await?;
    let scan = planned.elapsed();
    epay(pool, customer, shop.idowner).await?;
    let pressed = Instant::now();
    shop.buy(pool, customer, machine).await?;
    Ok(Took { scan, pay: pressed.elapsed(), total: planned.elapsed() })
}

/// Scans the machine's sticker and returns the machine with the service to buy.
///
/// # Errors
/// The kind of error.
pub async fn scan(pool: &Pool, token: &str, machine: &TestMachine) -> Result<(), String> {
    let body = json!({ "qr": machine.qr, "limit": 10, "skip": 0, "search": "" });
    let data = asked("scan", pool.call("POST", "/scan/v1/transaksi/get_layanan", token, &body).await)?;
    let offers = data["data_layanan"].as_array().is_some_and(|all| all.iter().any(|l| l["id"] == machine.idlayanan));
    if data["data_mesin"]["id"] == machine.idmesin && offers { Ok(()) } else { Err("scan: another machine".to_owned()) }
}

async fn epay(pool: &Pool, customer: &TestCustomer, idowner: i64) -> Result<(), String> {
    let path = format!("/scan/v1/transaksi/get_epayment/{idowner}");
    let data = asked("get_epayment", pool.call("GET", &path, &customer.token, &Value::Null).await)?;
    let there = data.as_array().is_some_and(|all| all.iter().any(|a| a["idcustomer"] == customer.idcustomer));
    if there { Ok(()) } else { Err("get_epayment: the account is not there".to_owned()) }
}

/// Sends a call that must succeed, and returns its data.
///
/// # Errors
/// The kind of error.
pub fn asked(what: &str, answer: std::io::Result<ServerAnswer>) -> Result<Value, String> {
    match answer {
        Ok(answer) if answer.status == 200 => Ok(answer.data),
        Ok(answer) => Err(answer.refusal_of(what)),
        Err(e) => Err(format!("{what}: {e}")),
    }
}
