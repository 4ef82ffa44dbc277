//! Sessions that watch running machines, for `watch`, `storm` and `soak`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;

use super::steps::{drain, join_all, open_shop, start_all};
use crate::engine::{EngineCommand, EngineReport, Plan, SessionEngine, Topic};
use crate::fleet::Driver;
use crate::http::Pool;
use crate::options::{Common, at_least_1, length_s};
use crate::run::Measurement;
use crate::shop::{Shop, Wish};
use crate::target::{Target, make_room};

/// Time after the window in which late ticks still count.
const GRACE: Duration = Duration::from_millis(1_500);
/// Time that machines run longer than the measurement.
const SPARE_S: u64 = 600;
const MAX_DURATION_S: u64 = 86_400;
/// Greatest number of topics of a session, by the contract.
pub const MAX_TOPICS: usize = 32;
const IN_FLIGHT: usize = 256;

#[derive(Debug, Clone, Args)]
pub struct Watching {
    /// Sessions, each a customer of its own
    #[arg(long, short = 'n', default_value_t = 1_000, value_parser = at_least_1())]
    pub sessions: usize,
    /// Machines that run
    #[arg(long, short, default_value_t = 100, value_parser = at_least_1())]
    pub machines: usize,
    /// Machines that each session watches, neighbours in one outlet first
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = at_least_1())]
    pub per_session: usize,
    /// Machines of one outlet: they tick in one phase
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = at_least_1())]
    pub machines_per_outlet: usize,
    /// Length of the measurement
    #[arg(long, short, default_value_t = 30, value_name = "S", value_parser = length_s())]
    pub seconds: u64,
    /// Seconds between the last session's joining and the measurement, in which the phases are found
    #[arg(long, default_value_t = 4, value_name = "S", value_parser = clap::value_parser!(u64).range(..=3_600))]
    pub warmup: u64,
    /// Phase ticks in a second; Nyala has one
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub ticks_per_second: u32,
    /// Connections that are opened at once [default: 256, in a storm all]
    #[arg(long, value_name = "N", value_parser = at_least_1())]
    pub in_flight: Option<usize>,
    /// Prepare nothing: watch heartbeat/1 to heartbeat/<machines> with any token
    #[arg(long, visible_alias = "no-prepare")]
    pub bare: bool,
}

/// Machines of each session.
pub struct Cast {
    pub tokens: Vec<Arc<str>>,
    pub topics: Vec<Topic>,
    pub groups: usize,
    /// None when nothing was prepared.
    pub shop: Option<(Pool, Arc<Shop>)>,
}

impl Watching {
    /// Checks the flags, and raises the limit of open files for the sessions.
    ///
    /// # Errors
    /// One line with the cause.
    pub fn check(&self) -> Result<(), String> {
        if self.per_session > self.machines {
            return Err(format!("--per-session {} needs as many --machines, not {}", self.per_session, self.machines));
        }
        if self.per_session > MAX_TOPICS {
            return Err(format!("--per-session is at most {MAX_TOPICS}: a session may watch no more"));
        }
        if ![1, 2, 4, 5, 8, 10].contains(&self.ticks_per_second) {
            return Err("--ticks-per-second must be 1, 2, 4, 5, 8 or 10".to_owned());
        }
        make_room(self.sessions)
    }

    fn period_ms(&self) -> u64 {
        u64::from(1000 / self.ticks_per_second)
    }

    /// Creates customers and running machines, unless nothing is to be prepared.
    ///
    /// # Errors
    /// One line with the cause.
    pub async fn cast(&self, run: &mut Measurement, common: &Common, target: &Target) -> Result<Cast, String> {
        if self.bare {
            run.prepare(target.reach()).await?;
            let topic = |n: usize| Topic { idmesin: n as i64 + 1, group: u32::try_from(n).unwrap_or(u32::MAX) };
            return Ok(Cast {
                tokens: vec![Arc::from("bare"); self.sessions],
                topics: (0..self.machines).map(topic).collect(),
                groups: self.machines,
                shop: None,
            });
        }
        let key = common.root_key()?;
        run.ui.part("preparing", 1);
        let pool = run.prepare(target.ready()).await?;
        let longest = self.seconds + self.warmup + SPARE_S;
        let wish = Wish {
            driver: Driver::Sim,
            machines: self.machines,
            machines_per_outlet: self.machines_per_outlet,
            customers: self.sessions,
            duration_s: u32::try_from(longest.min(MAX_DURATION_S)).unwrap_or(u32::MAX),
        };
        let shop = open_shop(run, &pool, &key, wish).await?;
        start_all(run, &pool, &shop).await?;
        Ok(Cast {
            tokens: shop.customers.iter().map(|c| c.token.clone()).collect(),
            topics: shop.machines.iter().map(|m| m.topic()).collect(),
            groups: shop.groups,
            shop: Some((pool, shop)),
        })
    }

    /// Starts an engine whose sessions join. `None` after Ctrl-C.
    ///
    /// # Errors
    /// When no session could join.
    pub async fn join(&self, run: &mut Measurement, target: &Target, cast: &Cast) -> Result<Option<SessionEngine>, String> {
        let sessions = cast.tokens.len();
        let topics = &cast.topics;
        let of_session = |s: usize| (0..self.per_session).map(|k| topics[(s * self.per_session + k) % topics.len()]).collect();
        run.values.count("sessions", sessions as u64);
        run.values.count("machines", self.machines as u64);
        run.values.count("subscriptions", (sessions * self.per_session) as u64);
        run.before_sessions();
        let mut engine = SessionEngine::start(Plan {
            address: target.address,
            host: target.host.clone(),
            tokens: cast.tokens.clone().into(),
            topics: (0..sessions).map(of_session).collect(),
            topics_per_session: self.per_session,
            groups: cast.groups,
            period_ms: i64::try_from(self.period_ms()).unwrap_or(i64::MAX),
            bare: self.bare,
            in_flight: self.in_flight.unwrap_or(IN_FLIGHT),
        })?;
        Ok(join_all(run, &mut engine, sessions).await?.then_some(engine))
    }

    /// Measures the phases, then counts every phase tick for `--seconds`.
    ///
    /// # Errors
    /// When the engine has ended without a command.
    pub async fn window(&self, run: &mut Measurement, engine: &mut SessionEngine) -> Result<(), String> {
        run.ui.part("warm-up", self.warmup);
        let (began, warmup) = (Instant::now(), self.warmup);
        let going = run
            .take(engine, began + Duration::from_secs(warmup), |run, report| {
                if let EngineReport::Second(_) = report {
                    let elapsed = began.elapsed().as_secs();
                    run.ui.progress(elapsed, warmup, elapsed, "finding the phases");
                }
                false
            })
            .await?;
        if !going {
            return Ok(());
        }
        let length = Duration::from_secs(self.seconds);
        engine.send(EngineCommand::OpenWindow { ms: i64::try_from(length.as_millis()).unwrap_or(i64::MAX) });
        run.begin();
        run.ui.part("watching", self.seconds);
        let total = self.seconds;
        let whole = run
            .take(engine, Instant::now() + length, |run, report| {
                if let EngineReport::Second(second) = report {
                    let (line, elapsed) = (run.line("", second), run.elapsed().as_secs());
                    run.ui.progress(elapsed, total, elapsed, &line);
                }
                false
            })
            .await?;
        let measured = run.elapsed().as_secs_f64();
        run.end();
        if whole {
            // Waits for the second half of the last period, and for late ticks.
            let rest = Duration::from_millis(self.period_ms()) + GRACE;
            run.take(engine, Instant::now() + rest, |_, _| false).await?;
        }
        engine.send(EngineCommand::CloseWindow);
        drain(run, engine, |_, report| matches!(report, EngineReport::Second(_))).await;
        run.values.set("deliveries_per_s", run.counters.deliveries as f64 / measured.max(0.001));
        Ok(())
    }
}
