//! `finish`: machines that were started one after the other end in the same second; everybody who watches gets one final tick.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use tokio::task::JoinSet;

use super::steps::join_all;
use super::{Outcome, run};
use crate::engine::{Command, Engine, Plan, Report as Told};
use crate::http::Pool;
use crate::interrupt::Interrupt;
use crate::money;
use crate::options::Common;
use crate::report::Report;
use crate::run::Run;
use crate::shop::{Bought, Machine, PRICE, Shop, Wish, ops};
use crate::target::{Target, make_room};

/// The shortest run: the last machines are started so long before the end.
const SHORTEST_S: usize = 3;
/// Until the first machines are started.
const LEAD: Duration = Duration::from_secs(1);
/// Final ticks that are not here so long after the end do not come: the engine gives each 3 s.
const FINALS_WITHIN: Duration = Duration::from_secs(6);

#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:
  nyala-loadtest finish --machines 2000 --sessions 4000 --fail-if 'final_max_ms > 400' --fail-if 'finals_missing > 0'")]
pub struct Finish {
    #[command(flatten)]
    pub common: Common,
    /// Machines that end together
    #[arg(long, short, default_value_t = 500)]
    pub machines: usize,
    /// Sessions that watch them, one machine each; machines are shared or left alone when the numbers differ
    #[arg(long, short = 'n', default_value_t = 1_000)]
    pub sessions: usize,
    /// Machines of one outlet
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub machines_per_outlet: usize,
    /// Machines that are started in each second before
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub starts_per_second: usize,
}

impl Finish {
    /// # Errors
    /// One line on what made it impossible.
    pub fn run(&self) -> Result<Outcome, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        if [self.machines, self.sessions, self.machines_per_outlet, self.starts_per_second].contains(&0) {
            return Err("--machines, --sessions, --machines-per-outlet and --starts-per-second must be at least 1".to_owned());
        }
        make_room(self.sessions + self.starts_per_second)?;
        let target = self.common.target()?;
        let key = self.common.root_key()?;
        let pool = target.ready().await?;
        let mut run = Run::new("finish", &self.common, interrupt)?;
        run.ui.part("preparing", 1);
        let wish = Wish {
            machines: self.machines,
            machines_per_outlet: self.machines_per_outlet,
            customers: self.sessions.max(self.machines),
            durasi_s: 1,
        };
        let shop = Arc::new(Shop::open(&pool, &key, wish).await?);
        if let Some(mut engine) = self.join(&mut run, &target, &shop).await? {
            self.end_together(&mut run, &mut engine, &target, &shop, &key).await?;
        }
        money::check(&mut run, &pool, &self.common, &shop.customers).await;
        Ok(run.report(&target))
    }

    async fn join(&self, run: &mut Run, target: &Target, shop: &Shop) -> Result<Option<Engine>, String> {
        run.values.count("sessions", self.sessions as u64);
        run.values.count("machines", self.machines as u64);
        run.values.count("subscriptions", self.sessions as u64);
        run.before_sessions();
        let mut engine = Engine::start(Plan {
            address: target.address,
            host: target.host.clone(),
            tokens: shop.customers.iter().take(self.sessions).map(|c| c.token.clone()).collect(),
            topics: (0..self.sessions).map(|s| vec![shop.machines[s % self.machines].topic()]).collect(),
            topics_per_session: 1,
            groups: shop.groups,
            period_ms: 1000,
            bare: false,
            in_flight: 256,
        })?;
        Ok(join_all(run, &mut engine, self.sessions).await?.then_some(engine))
    }

    async fn end_together(
        &self,
        run: &mut Run,
        engine: &mut Engine,
        target: &Target,
        shop: &Arc<Shop>,
        key: &str,
    ) -> Result<(), String> {
        engine.tell(Command::CountRuns);
        run.begin();
        let waves = self.machines.div_ceil(self.starts_per_second);
        let longest_s = waves - 1 + SHORTEST_S;
        let first = Instant::now() + LEAD;
        let end = first + Duration::from_secs(longest_s as u64);
        run.ui.part("running", longest_s as u64 + LEAD.as_secs());
        let starts = self.start_in_waves(target, shop, key, first);
        let expected = self.sessions as u64;
        run.values.count("finals_expected", expected);
        let watching = run.take(engine, end + FINALS_WITHIN, |run, told| {
            if let Told::Second(second) = told {
                let line = format!("{} of {expected} final ticks, {}", run.counters.finals, run.line(second));
                let elapsed = run.elapsed().as_secs();
                run.ui.progress(elapsed, longest_s as u64 + LEAD.as_secs(), elapsed, &line);
            }
            // A little longer than the end: what comes twice comes now.
            run.counters.finals + run.counters.finals_missing >= expected && Instant::now() > end + Duration::from_secs(2)
        });
        let (watched, started) = tokio::join!(watching, all_started(starts));
        watched?;
        run.end();
        for why in started? {
            run.deeds.failed += 1;
            run.errors.add(&why, 1);
        }
        run.deeds.planned = self.machines as u64;
        run.deeds.done = run.deeds.planned - run.deeds.failed;
        Ok(())
    }

    /// Wave after wave, a second apart, each with a service one second shorter.
    fn start_in_waves(
        &self,
        target: &Target,
        shop: &Arc<Shop>,
        key: &str,
        first: Instant,
    ) -> JoinSet<Result<Vec<String>, String>> {
        let pool = Pool::new(target.address, self.starts_per_second);
        let mut starts = JoinSet::new();
        let waves = self.machines.div_ceil(self.starts_per_second);
        for group in 0..shop.groups {
            let machines: Vec<usize> = (0..self.machines).filter(|m| shop.machines[*m].group as usize == group).collect();
            let wave = (group * self.machines_per_outlet / self.starts_per_second).min(waves - 1);
            let durasi_s = waves - 1 - wave + SHORTEST_S;
            let at = first + Duration::from_secs(wave as u64);
            let (pool, shop, key) = (pool.clone(), shop.clone(), key.to_owned());
            starts.spawn(async move { start_outlet(&pool, &shop, &key, &machines, durasi_s, at).await });
        }
        starts
    }
}

/// Starts an outlet's machines together at `at`, with a service of `durasi_s`; gives what failed.
async fn start_outlet(
    pool: &Pool,
    shop: &Arc<Shop>,
    key: &str,
    machines: &[usize],
    durasi_s: usize,
    at: Instant,
) -> Result<Vec<String>, String> {
    let Some(first) = machines.first() else { return Ok(Vec::new()) };
    let service =
        json!({ "idoutlet": shop.machines[*first].idoutlet, "nama": "Cuci Serempak", "durasi": durasi_s, "harga": PRICE });
    let made = ops(pool, key, "layanan", &service).await?;
    let idlayanan = made["id"].as_i64().ok_or("a service without id")?;
    tokio::time::sleep_until(at.into()).await;
    let mut buys = JoinSet::new();
    for m in machines.iter().copied() {
        let (pool, shop) = (pool.clone(), shop.clone());
        let machine = Machine { idlayanan, ..shop.machines[m].clone() };
        buys.spawn(async move { shop.buy(&pool, &shop.customers[m], &machine).await });
    }
    let mut failed = Vec::new();
    while let Some(bought) = buys.join_next().await {
        match bought.map_err(|e| e.to_string())? {
            Bought::Runs => {}
            Bought::Refused(status, message) => failed.push(format!("pay answered {status} {message}")),
            Bought::Unknown(why) => failed.push(format!("pay: {why}")),
        }
    }
    Ok(failed)
}

async fn all_started(mut starts: JoinSet<Result<Vec<String>, String>>) -> Result<Vec<String>, String> {
    let mut failed = Vec::new();
    while let Some(outlet) = starts.join_next().await {
        failed.extend(outlet.map_err(|e| e.to_string())??);
    }
    Ok(failed)
}
