//! One purchase with the calls of the app: scan, choose the E-Pay wallet, pay.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Pool, ServerAnswer};
use crate::shop::{MAX_RETURNS, Shop, TestCustomer, TestMachine};

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

/// What a customer does when the overloaded server refuses a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The purchase has failed.
    Leaves,
    /// Comes back after `Retry-After`, up to three times. Then the times of scan and payment are those of the attempts that were answered.
    ComesBack,
}

pub async fn buy(pool: Pool, shop: Arc<Shop>, (customer, machine): (usize, usize), planned: Instant, refused: Refused) -> Errand {
    let behind = planned.elapsed();
    let (buyer, bought) = (&shop.customers[customer], &shop.machines[machine]);
    let outcome = match refused {
        Refused::Leaves => steps(&pool, &shop, buyer, bought, planned).await,
        Refused::ComesBack => patient_steps(&pool, &shop, buyer, bought, planned).await,
    };
    Errand { customer, machine, behind, outcome }
}

async fn patient_steps(
    pool: &Pool,
    shop: &Shop,
    customer: &TestCustomer,
    machine: &TestMachine,
    planned: Instant,
) -> Result<Took, String> {
    let body = scan_body(machine);
    let scanned = until_admitted(shop, || pool.call("POST", SCAN, &customer.token, &body));
    let (scanned, scan) = scanned.await;
    offered(asked("scan", scanned)?, machine)?;
    let path = format!("/scan/v1/transaksi/get_epayment/{}", shop.idowner);
    let (accounts, _) = until_admitted(shop, || pool.call("GET", &path, &customer.token, &Value::Null)).await;
    there(&asked("get_epayment", accounts)?, customer)?;
    let pay = shop.buy(pool, customer, machine).await?;
    Ok(Took { scan, pay, total: planned.elapsed() })
}

/// Sends a call until the server has not refused it for overload, and returns the last answer and its time.
async fn until_admitted<F: Future<Output = std::io::Result<ServerAnswer>>>(
    shop: &Shop,
    send: impl Fn() -> F,
) -> (std::io::Result<ServerAnswer>, Duration) {
    let mut returns = 0;
    loop {
        let asked = Instant::now();
        let answer = send().await;
        let took = asked.elapsed();
        let Some(pause) = answer.as_ref().ok().and_then(ServerAnswer::refused_for) else { return (answer, took) };
        shop.undecided.add_refused();
        if returns == MAX_RETURNS {
            return (answer, took);
        }
        returns += 1;
        tokio::time::sleep(pause).await;
    }
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
    offered(asked("scan", pool.call("POST", SCAN, token, &scan_body(machine)).await)?, machine)
}

const SCAN: &str = "/scan/v1/transaksi/get_layanan";

fn scan_body(machine: &TestMachine) -> Value {
    json!({ "qr": machine.qr, "limit": 10, "skip": 0, "search": "" })
}

fn offered(data: Value, machine: &TestMachine) -> Result<(), String> {
    let offers = data["data_layanan"].as_array().is_some_and(|all| all.iter().any(|l| l["id"] == machine.idlayanan));
    if data["data_mesin"]["id"] == machine.idmesin && offers { Ok(()) } else { Err("scan: another machine".to_owned()) }
}

async fn epay(pool: &Pool, customer: &TestCustomer, idowner: i64) -> Result<(), String> {
    let path = format!("/scan/v1/transaksi/get_epayment/{idowner}");
    there(&asked("get_epayment", pool.call("GET", &path, &customer.token, &Value::Null).await)?, customer)
}

fn there(data: &Value, customer: &TestCustomer) -> Result<(), String> {
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
