//! `devices`: thousands of devices over MQTT are started at a rate, then lose all connections at once and reconnect.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value;
use tokio::task::JoinSet;

use super::steps::open_shop;
use super::{Verdict, run};
use crate::fleet::{Driver, Fleet};
use crate::http::Pool;
use crate::interrupt::Interrupt;
use crate::money;
use crate::options::{Common, at_least_1, length_s};
use crate::report::Report;
use crate::run::Measurement;
use crate::shop::Wish;
use crate::target::make_room;

const REQUESTS_AT_ONCE: usize = 256;
/// Number of customers, who buy in turn.
const CUSTOMERS: usize = 500;
/// Time in which all devices must reconnect after the cut.
const BACK_WITHIN: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:
  nyala-loadtest devices --devices 10000 --rate 50 --seconds 60 --nyala target/release/nyala --server-pid $(pgrep -xo nyala) \\
      --fail-if 'devices_back_max_s > 5' --fail-if 'failed > 0'")]
pub struct DevicesCommand {
    #[command(flatten)]
    pub common: Common,
    /// Devices, each of a machine of its own
    #[arg(long, short = 'n', default_value_t = 1_000, value_parser = at_least_1())]
    pub devices: usize,
    /// Purchases that arrive in a second, each of a machine that nobody has bought yet
    #[arg(long, default_value_t = 20.0, value_name = "N")]
    pub rate: f64,
    /// Seconds that each machine runs
    #[arg(long, default_value_t = 5, value_name = "S")]
    pub durasi: u32,
    /// Length of the measurement
    #[arg(long, short, default_value_t = 30, value_name = "S", value_parser = length_s())]
    pub seconds: u64,
    /// Machines of one outlet
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = at_least_1())]
    pub machines_per_outlet: usize,
}

impl DevicesCommand {
    /// # Errors
    /// One line with the cause.
    pub fn run(&self) -> Result<Verdict, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        let purchases = (self.rate * self.seconds as f64).ceil();
        if !(self.rate > 0.0 && purchases <= self.devices as f64) {
            return Err("--rate must be above 0, and --devices at least --rate times --seconds: each is bought once".to_owned());
        }
        let target = self.common.target()?;
        make_room(REQUESTS_AT_ONCE)?;
        let key = self.common.root_key()?;
        let mut run = Measurement::new("devices", &self.common, interrupt)?;
        run.ui.part("preparing", 1);
        let pool = run.prepare(target.ready()).await?;
        let wish = Wish {
            driver: Driver::Mqtt,
            machines: self.devices,
            machines_per_outlet: self.machines_per_outlet,
            customers: CUSTOMERS.min(self.devices),
            duration_s: self.durasi,
        };
        let shop = open_shop(&mut run, &pool, &key, wish).await?;
        run.values.count("machines", self.devices as u64);
        run.before_sessions();
        let began = Instant::now();
        let fleet = run.prepare(Fleet::of_shop(&pool, &key, &shop, self.common.program())).await?;
        run.values.set("devices_there_s", began.elapsed().as_secs_f64());
        run.begin();
        self.buy(&mut run, &Pool::new(target.address, REQUESTS_AT_ONCE), &shop).await?;
        run.sample()?;
        run.end();
        if !run.interrupt.came() {
            cut(&mut run, &fleet).await?;
            money::check(&mut run, &pool, &self.common, &shop.customers).await;
        }
        Ok(run.report(&target))
    }

    /// Starts each machine once, at a rate that does not depend on the server.
    async fn buy(&self, run: &mut Measurement, pool: &Pool, shop: &Arc<crate::shop::Shop>) -> Result<(), String> {
        let (began, every) = (Instant::now(), Duration::from_secs_f64(1.0 / self.rate));
        let planned = (self.rate * self.seconds as f64) as usize;
        let mut buying = JoinSet::new();
        for n in 0..planned {
            let due = began + every.mul_f64(n as f64);
            tokio::select! {
                () = tokio::time::sleep_until(due.into()) => {}
                () = run.interrupt.wait() => break,
            }
            run.deeds.planned += 1;
            run.deeds.behind.took(due.elapsed());
            let (pool, shop) = (pool.clone(), shop.clone());
            buying.spawn(async move {
                let bought = shop.buy(&pool, &shop.customers[n % shop.customers.len()], &shop.machines[n]).await.map(drop);
                (bought, due.elapsed())
            });
            while let Some(done) = buying.try_join_next() {
                take(run, done.map_err(|e| e.to_string())?);
            }
        }
        while let Some(done) = buying.join_next().await {
            take(run, done.map_err(|e| e.to_string())?);
        }
        Ok(())
    }
}

fn take(run: &mut Measurement, (bought, took): (Result<(), String>, Duration)) {
    match bought {
        Ok(()) => {
            run.deeds.done += 1;
            run.deeds.total.took(took);
        }
        Err(why) => {
            run.deeds.failed += 1;
            run.errors.add(&why, 1);
        }
    }
}

/// Cuts all connections, and waits until all devices have reconnected.
async fn cut(run: &mut Measurement, fleet: &Fleet) -> Result<(), String> {
    run.ui.part("cut", 1);
    fleet.ask("cut all").await?;
    let since = Instant::now();
    loop {
        let stats = fleet.ask("stats").await?;
        let outage = &stats["outage"];
        if outage["over"] == Value::Bool(true) {
            let seconds = |name: &str| outage[name].as_f64().unwrap_or_default() / 1000.0;
            run.values.set("devices_back_p99_s", seconds("p99_ms"));
            run.values.set("devices_back_max_s", seconds("max_ms"));
            run.values.count("devices_not_back", 0);
            return Ok(());
        }
        if since.elapsed() > BACK_WITHIN {
            let there = stats["connected"].as_u64().unwrap_or_default();
            run.values.count("devices_not_back", (fleet.size() as u64).saturating_sub(there));
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
