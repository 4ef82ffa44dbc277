//! How soon purchases are decided that were paid for when their devices' lines had just died, once the devices are back, too late to start.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nyala_loadtest::fleet::Fleet;
use nyala_loadtest::http::Pool;
use nyala_loadtest::server::Server;
use nyala_loadtest::shop::{Shop, TestMachine};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until};
use tokio_postgres::Client;

use crate::BenchError;
use crate::durations::Durations;

/// Maximum number of machines, each paid for on a separate connection.
const MACHINES: usize = 200;
/// Time from the death of the connections until they are opened again: longer than the 10 s that a start may wait for its device.
pub const AWAY: Duration = Duration::from_secs(12);
const DECIDED_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Machines of one order to the devices, which take lines of 512 bytes with 64 numbers at most.
const AN_ORDER: usize = 32;

/// $1 machines: those with undecided purchases.
const UNDECIDED: &str = "SELECT idmesin FROM snap_transaksi WHERE idmesin = ANY($1) AND state IN ('HELD', 'SENT', 'UNSURE')";

/// What they came to.
pub struct Undecided {
    /// How many purchases were.
    pub total: usize,
    /// From the order to connect again, so with the login, until PostgreSQL had it.
    pub times: Durations,
}

/// Customers scan the last machines of the shop, which are free; then the connections die, and then the customers pay.
///
/// # Errors
/// When the devices or the database cannot be asked.
pub async fn measure(
    server: &Server,
    shop: &Arc<Shop>,
    fleet: &Fleet,
    db: &Client,
    bought: usize,
) -> Result<Undecided, BenchError> {
    let free = &shop.machines[bought..];
    let machines = &free[free.len().saturating_sub(MACHINES)..];
    let pool = Pool::new(server.address(), MACHINES);
    each(shop, machines, &pool, |shop, pool, customer, machine| async move {
        let body = json!({ "qr": machine.qr, "limit": 10, "skip": 0 });
        let token = &shop.customers[customer].token;
        drop(pool.call("POST", "/scan/v1/transaksi/get_layanan", token, &body).await);
    })
    .join_all()
    .await;
    order(fleet, "fault", machines, "half-open").await?;
    let dead = tokio::time::Instant::now();
    let paying = each(shop, machines, &pool, |shop, pool, customer, machine| async move {
        // Refused in the end: the command is past its time.
        drop(shop.buy(&pool, &shop.customers[customer], &machine).await);
    });
    sleep_until(dead + AWAY).await;
    let all: Vec<i64> = machines.iter().map(|m| m.idmesin).collect();
    let mut open = undecided(db, &all).await?;
    let total = open.len();
    let mut back = HashMap::new();
    for some in machines.chunks(AN_ORDER) {
        let since = Instant::now();
        back.extend(some.iter().map(|m| (m.idmesin, since)));
        order(fleet, "come-back", some, "").await?;
    }
    let (mut times, began) = (Durations::default(), Instant::now());
    while !open.is_empty() && began.elapsed() < DECIDED_WITHIN {
        let still = undecided(db, &open).await?;
        for idmesin in open.iter().filter(|id| !still.contains(id)) {
            times.add(back[idmesin].elapsed());
        }
        open = still;
        sleep(LOOK_EVERY).await;
    }
    paying.join_all().await;
    Ok(Undecided { total, times })
}

async fn undecided(db: &Client, of: &[i64]) -> Result<Vec<i64>, BenchError> {
    Ok(db.query(UNDECIDED, &[&of]).await?.iter().map(|row| row.get(0)).collect())
}

/// Has a customer of each machine do something, all at once.
fn each<F>(
    shop: &Arc<Shop>,
    machines: &[TestMachine],
    pool: &Pool,
    act: impl Fn(Arc<Shop>, Pool, usize, TestMachine) -> F,
) -> JoinSet<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    let customers = shop.customers.len();
    let acts = machines.iter().enumerate().map(|(n, machine)| act(shop.clone(), pool.clone(), n % customers, machine.clone()));
    acts.collect()
}

/// Gives the devices of these machines an order.
async fn order(fleet: &Fleet, what: &str, machines: &[TestMachine], how: &str) -> Result<(), BenchError> {
    for some in machines.chunks(AN_ORDER) {
        let who: Vec<String> = some.iter().map(|m| m.idmesin.to_string()).collect();
        fleet.ask(&format!("{what} {} {how}", who.join(","))).await?;
    }
    Ok(())
}
