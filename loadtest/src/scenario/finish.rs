//! `finish`: machines that were started one after the other end in the same second. Each session that watches must get one final tick.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use tokio::task::JoinSet;

use super::steps::{drain, join_all, open_shop};
use super::{Verdict, run};
use crate::engine::{EngineCommand, EngineReport, Plan, SessionEngine};
use crate::fleet::Driver;
use crate::http::Pool;
use crate::interrupt::Interrupt;
use crate::money;
use crate::options::{Common, at_least_1};
use crate::report::Report;
use crate::run::Measurement;
use crate::shop::{PRICE, Shop, TestMachine, Wish, ops};
use crate::target::{Target, make_room};

/// Shortest run: the last machines start this long before the end.
const SHORTEST_S: usize = 3;
/// Time until the first machines start.
const LEAD: Duration = Duration::from_secs(1);
/// Time after the end for all final ticks: the engine counts one as missing after 3 s.
const FINALS_WITHIN: Duration = Duration::from_secs(6);

#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:
  nyala-loadtest finish --machines 2000 --sessions 4000 --fail-if 'final_max_ms > 400' --fail-if 'finals_missing > 0'")]
pub struct Finish {
    #[command(flatten)]
    pub common: Common,
    /// Machines that end together
    #[arg(long, short, default_value_t = 500, value_parser = at_least_1())]
    pub machines: usize,
    /// Sessions that watch them, one machine each; machines are shared or left alone when the numbers differ
    #[arg(long, short = 'n', default_value_t = 1_000, value_parser = at_least_1())]
    pub sessions: usize,
    /// Machines of one outlet
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = at_least_1())]
    pub machines_per_outlet: usize,
    /// Machines that are started in each second before
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = at_least_1())]
    pub starts_per_second: usize,
}

impl Finish {
    /// # Errors
    /// One line with the cause.
    pub fn run(&self) -> Result<Verdict, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        make_room(self.sessions + self.starts_per_second)?;
        let target = self.common.target()?;
        let key = self.common.root_key()?;
        let mut run = Measurement::new("finish", &self.common, interrupt)?;
        run.ui.part("preparing", 1);
        let pool = run.prepare(target.ready()).await?;
        let wish = Wish {
            driver: Driver::Sim,
            machines: self.machines,
            machines_per_outlet: self.machines_per_outlet,
            customers: self.sessions.max(self.machines),
            duration_s: 1,
        };
        let shop = open_shop(&mut run, &pool, &key, wish).await?;
        if let Some(mut engine) = self.join(&mut run, &target, &shop).await? {
            self.end_together(&mut run, &mut engine, &target, &shop, &key).await?;
        }
        money::check(&mut run, &pool, &self.common, &shop.customers).await;
        Ok(run.report(&target))
    }

    async fn join(&self, run: &mut Measurement, target: &Target, shop: &Shop) -> Result<Option<SessionEngine>, String> {
        run.values.count("sessions", self.sessions as u64);
        run.values.count("machines", self.machines as u64);
        run.values.count("subscriptions", self.sessions as u64);
        run.before_sessions();
        let mut engine = SessionEngine::start(Plan {
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
        run: &mut Measurement,
        engine: &mut SessionEngine,
        target: &Target,
        shop: &Arc<Shop>,
        key: &str,
    ) -> Result<(), String> {
        engine.send(EngineCommand::CountRuns);
        run.begin();
        let waves = self.machines.div_ceil(self.starts_per_second);
        let longest_s = waves - 1 + SHORTEST_S;
        let first = Instant::now() + LEAD;
        let end = first + Duration::from_secs(longest_s as u64);
        run.ui.part("running", longest_s as u64 + LEAD.as_secs());
        let starts = self.start_in_waves(target, shop, key, first);
        let all = self.sessions as u64;
        let on_report = |run: &mut Measurement, report: &EngineReport, end: Instant| {
            if let EngineReport::Second(second) = report {
                let line = run.line(&format!("{} of {all} final ticks, ", run.counters.finals), second);
                let elapsed = run.elapsed().as_secs();
                run.ui.progress(elapsed, longest_s as u64 + LEAD.as_secs(), elapsed, &line);
            }
            // Waits a little longer, because a second final tick would arrive now.
            run.counters.finals + run.counters.finals_missing >= all && Instant::now() > end + Duration::from_secs(2)
        };
        let watching = run.take(engine, end + FINALS_WITHIN, |run, report| on_report(run, report, end));
        let (watched, started) = tokio::join!(watching, all_started(starts));
        let (mut watched, started) = (watched?, started?);
        if let Some((first_end, last_end)) = started.ends {
            run.values.set("ends_within_s", (last_end - first_end).as_secs_f64());
            if watched && last_end > end {
                // Machines that started late end late.
                watched = run.take(engine, last_end + FINALS_WITHIN, |run, report| on_report(run, report, last_end)).await?;
            }
        }
        run.end();
        let expected = (0..self.sessions).filter(|s| !started.failed.contains_key(&(s % self.machines))).count() as u64;
        run.values.count("finals_expected", expected);
        if watched {
            drain(run, engine, |_, report| matches!(report, EngineReport::Second(_))).await;
            // A session that did not receive the start misses the final tick too.
            let counted = run.counters.finals + run.counters.finals_missing;
            run.counters.finals_missing += expected.saturating_sub(counted);
        }
        run.deeds.planned = self.machines as u64;
        run.deeds.failed = started.failed.len() as u64;
        run.deeds.done = run.deeds.planned - run.deeds.failed;
        started.failed.values().for_each(|why| run.errors.add(why, 1));
        Ok(())
    }

    /// Starts waves of machines, one per second, each with a service one second shorter.
    fn start_in_waves(&self, target: &Target, shop: &Arc<Shop>, key: &str, first: Instant) -> JoinSet<Result<Started, String>> {
        let pool = Pool::new(target.address, self.starts_per_second);
        let mut starts = JoinSet::new();
        let waves = self.machines.div_ceil(self.starts_per_second);
        for group in 0..shop.groups {
            let machines: Vec<usize> = (0..self.machines).filter(|m| shop.machines[*m].group as usize == group).collect();
            let wave = (group * self.machines_per_outlet / self.starts_per_second).min(waves - 1);
            let duration_s = waves - 1 - wave + SHORTEST_S;
            let at = first + Duration::from_secs(wave as u64);
            let (pool, shop, key) = (pool.clone(), shop.clone(), key.to_owned());
            starts.spawn(async move { start_outlet(&pool, &shop, &key, &machines, duration_s, at).await });
        }
        starts
    }
}

/// Results of the starts.
struct Started {
    /// Reasons of failed starts, by the machine's index.
    failed: BTreeMap<usize, String>,
    /// Latest ends of the first and of the last machine: each was started before its answer arrived.
    ends: Option<(Instant, Instant)>,
}

/// Starts an outlet's machines together at `at`, with a service of `duration_s`.
async fn start_outlet(
    pool: &Pool,
    shop: &Arc<Shop>,
    key: &str,
    machines: &[usize],
    duration_s: usize,
    at: Instant,
) -> Result<Started, String> {
    let mut started = Started { failed: BTreeMap::new(), ends: None };
    let Some(first) = machines.first() else { return Ok(started) };
    let service =
        json!({ "idoutlet": shop.machines[*first].idoutlet, "nama": "Cuci Serempak", "durasi": duration_s, "harga": PRICE });
    let made = ops(pool, key, "layanan", &service).await?;
    let idlayanan = made["id"].as_i64().ok_or("a service without id")?;
    tokio::time::sleep_until(at.into()).await;
    let mut buys = JoinSet::new();
    for m in machines.iter().copied() {
        let (pool, shop) = (pool.clone(), shop.clone());
        let machine = TestMachine { idlayanan, ..shop.machines[m].clone() };
        buys.spawn(async move { (m, shop.buy(&pool, &shop.customers[m], &machine).await) });
    }
    while let Some(bought) = buys.join_next().await {
        let (m, bought) = bought.map_err(|e| e.to_string())?;
        if let Err(why) = bought {
            started.failed.insert(m, why);
        } else {
            let end = Instant::now() + Duration::from_secs(duration_s as u64);
            started.ends = Some(started.ends.map_or((end, end), |(first, last)| (first.min(end), last.max(end))));
        }
    }
    Ok(started)
}

async fn all_started(mut starts: JoinSet<Result<Started, String>>) -> Result<Started, String> {
    let mut all = Started { failed: BTreeMap::new(), ends: None };
    while let Some(outlet) = starts.join_next().await {
        let outlet = outlet.map_err(|e| e.to_string())??;
        all.failed.extend(outlet.failed);
        all.ends = match (all.ends, outlet.ends) {
            (Some((first, last)), Some((also, too))) => Some((first.min(also), last.max(too))),
            (one, other) => one.or(other),
        };
    }
    Ok(all)
}
