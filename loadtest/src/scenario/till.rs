//! `till`: cashiers make top-ups at a rate that does not depend on the server, while sessions watch running machines.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use tokio::task::JoinSet;

use super::watching::Watching;
use super::{Verdict, run};
use crate::http::Pool;
use crate::interrupt::Interrupt;
use crate::money;
use crate::options::{Common, at_least_1};
use crate::report::Report;
use crate::run::Measurement;
use crate::shop::{Shop, TestCustomer};
use crate::target::{Target, make_room};
use crate::till::{Till, once};

const NOMINAL: u64 = 10_000;
const MAX_TILLS: usize = 1_000;

#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:
  nyala-loadtest till --tills 50 --rate 1 --sessions 2000 --seconds 60 --server-pid $(pgrep -xo nyala) --report out \\
      --fail-if 'total_p99_ms > 100' --fail-if 'failed > 0'")]
pub struct Tills {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub watching: Watching,
    /// Paired tills, each with a shift and somebody who sells
    #[arg(long, default_value_t = 50, value_parser = at_least_1())]
    pub tills: usize,
    /// Top-ups of each till in a second
    #[arg(long, default_value_t = 1.0, value_name = "N")]
    pub rate: f64,
}

/// Customers of a till, which may look up sixty numbers an hour.
const CUSTOMERS_PER_TILL: usize = 50;

/// Results of a till.
#[derive(Default)]
struct Sold {
    took: Vec<Duration>,
    behind: Vec<Duration>,
    errors: Vec<String>,
}

impl Tills {
    /// # Errors
    /// One line with the cause.
    pub fn run(&self) -> Result<Verdict, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        if self.watching.bare || !(self.rate > 0.0 && self.rate <= 100.0) || self.tills > MAX_TILLS {
            return Err(format!("--rate must be above 0 and at most 100, --tills at most {MAX_TILLS}, and there is no --bare"));
        }
        let target = self.common.target()?;
        self.watching.check()?;
        make_room(self.watching.sessions + self.tills)?;
        let mut run = Measurement::new("till", &self.common, interrupt)?;
        let cast = self.watching.cast(&mut run, &self.common, &target).await?;
        let (pool, shop) = cast.shop.clone().ok_or("nothing was prepared")?;
        let tills = run.prepare(self.open(&pool, &shop)).await?;
        if let Some(mut engine) = self.watching.join(&mut run, &target, &cast).await? {
            let selling = self.sell(&target, &shop, tills);
            self.watching.window(&mut run, &mut engine).await?;
            take(&mut run, selling).await?;
        }
        if !run.interrupt.came() {
            money::check(&mut run, &pool, &self.common, &shop.customers).await;
        }
        Ok(run.report(&target))
    }

    /// Opens tills with shifts at the outlet of the customers' wallets.
    async fn open(&self, pool: &Pool, shop: &Shop) -> Result<Vec<(Till, String)>, String> {
        let (key, idoutlet) = (self.common.root_key()?, shop.machines.first().ok_or("a shop without machines")?.idoutlet);
        let mut tills = Vec::new();
        for n in 0..self.tills {
            let till = Till::pair(pool, &key, idoutlet, &format!("Tablet {n}")).await?;
            let (_, token) = till.hire(pool, &key, &format!("Kasir {n}")).await?;
            match till.call(pool.address(), &token, "shift", &once(), &json!({ "modal": 100_000 })).await {
                Ok(answer) if answer.status == 200 => tills.push((till, token)),
                Ok(answer) => return Err(answer.refusal_of("shift")),
                Err(e) => return Err(format!("shift: {e}")),
            }
        }
        Ok(tills)
    }

    /// Makes top-ups at even intervals from the end of the warm-up to the end of the window.
    fn sell(&self, target: &Target, shop: &Arc<Shop>, tills: Vec<(Till, String)>) -> JoinSet<Sold> {
        let (to, every) = (target.address, Duration::from_secs_f64(1.0 / self.rate));
        let first = Instant::now() + Duration::from_secs(self.watching.warmup);
        let until = first + Duration::from_secs(self.watching.seconds);
        let count = tills.len();
        let mut selling = JoinSet::new();
        for (n, (till, token)) in tills.into_iter().enumerate() {
            let (shop, mut next, mut customer) = (shop.clone(), first + every.mul_f64(n as f64 / count as f64), 0);
            selling.spawn(async move {
                let mut sold = Sold::default();
                while next < until {
                    tokio::time::sleep_until(next.into()).await;
                    sold.behind.push(next.elapsed());
                    match top_up(to, &till, &token, &shop.customers[(n + customer * count) % shop.customers.len()]).await {
                        Ok(()) => sold.took.push(next.elapsed()),
                        Err(why) => sold.errors.push(why),
                    }
                    customer = (customer + 1) % CUSTOMERS_PER_TILL;
                    next += every;
                }
                sold
            });
        }
        selling
    }
}

async fn top_up(to: SocketAddr, till: &Till, token: &str, customer: &TestCustomer) -> Result<(), String> {
    let body = json!({
        "id_customer_global": customer.id_customer_global, "idoutlet": till.idoutlet, "nominal": NOMINAL, "cara_bayar": "tunai",
        "ulang": true,
    });
    let sell = async || till.call(to, token, "topup", &once(), &body).await.map_err(|e| format!("topup: {e}"));
    let mut answer = sell().await?;
    if answer.status == 404 {
        // As at a real till, the customer is looked up before the first sale of the hour.
        let found = till.find(to, token, &customer.telp).await.map_err(|e| format!("pelanggan/cari: {e}"))?;
        if found.status != 200 {
            return Err(found.refusal_of("pelanggan/cari"));
        }
        answer = sell().await?;
    }
    if answer.status != 200 {
        return Err(answer.refusal_of("topup"));
    }
    customer.is_topped_up(NOMINAL);
    Ok(())
}

/// Results of all tills; empty after Ctrl-C.
async fn take(run: &mut Measurement, mut selling: JoinSet<Sold>) -> Result<(), String> {
    while !run.interrupt.came()
        && let Some(sold) = selling.join_next().await
    {
        let sold = sold.map_err(|e| e.to_string())?;
        let deeds = &mut run.deeds;
        deeds.planned += sold.behind.len() as u64;
        deeds.done += sold.took.len() as u64;
        deeds.failed += sold.errors.len() as u64;
        sold.took.into_iter().for_each(|took| deeds.total.took(took));
        sold.behind.into_iter().for_each(|behind| deeds.behind.took(behind));
        sold.errors.iter().for_each(|why| run.errors.add(why, 1));
    }
    Ok(())
}
