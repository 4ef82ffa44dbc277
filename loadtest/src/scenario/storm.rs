//! `storm`: every session disconnects and reconnects at the same moment, as after a network failure or a restart.

use std::time::{Duration, Instant};

use clap::Args;

use super::steps::drain;
use super::watching::Watching;
use super::{Verdict, run};
use crate::engine::stats::Spans;
use crate::engine::{EngineCommand, EngineReport, SessionEngine};
use crate::interrupt::Interrupt;
use crate::listener;
use crate::money;
use crate::options::{Common, at_least_1, length_s};
use crate::report::Report;
use crate::run::Measurement;

/// Pause between two storms.
const CALM: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:
  nyala-loadtest storm --sessions 10000 --machines 1000 --storms 5 --fail-if 'storm_all_s > 1.5'

After the last storm the ticks of --seconds are watched, so that nothing is lost for those who came back. The sessions are
websockets from the beginning; phones begin with polling, which takes two more requests.")]
pub struct Storm {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub watching: Watching,
    /// How often all come back
    #[arg(long, default_value_t = 3, value_parser = at_least_1())]
    pub storms: usize,
    /// How long all may take to be back
    #[arg(long, default_value_t = 120, value_name = "S", value_parser = length_s())]
    pub back_within: u64,
}

impl Storm {
    /// # Errors
    /// One line with the cause.
    pub fn run(&self) -> Result<Verdict, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        let target = self.common.target()?;
        // Like phones, sessions do not wait for each other.
        let in_flight = self.watching.in_flight.or(Some(self.watching.sessions));
        let watching = Watching { in_flight, ..self.watching.clone() };
        watching.check()?;
        let mut run = Measurement::new("storm", &self.common, interrupt)?;
        let cast = watching.cast(&mut run, &self.common, &target).await?;
        if let Some(mut engine) = watching.join(&mut run, &target, &cast).await? {
            // From here on connect and subscribe times are those of the storms. The next report of a second still has those of the
            // joining.
            drain(&mut run, &mut engine, |_, report| matches!(report, EngineReport::Second(_))).await;
            run.spans = Spans::new()?;
            let before = listener::overflows(&target);
            let going = self.all(&mut run, &mut engine).await?;
            if let (Some(before), Some(after)) = (before, listener::overflows(&target)) {
                run.values.count("listener_overflows", after.saturating_sub(before));
            }
            if going {
                watching.window(&mut run, &mut engine).await?;
            }
        }
        if let Some((pool, shop)) = &cast.shop {
            money::check(&mut run, pool, &self.common, &shop.customers).await;
        }
        Ok(run.report(&target))
    }

    /// Returns `false` after Ctrl-C.
    async fn all(&self, run: &mut Measurement, engine: &mut SessionEngine) -> Result<bool, String> {
        let began = Instant::now();
        run.ui.part("storms", self.storms as u64);
        // For each storm that has ended: its duration, when all have reconnected, and the number of sessions that have not.
        let (mut took_us, mut absent) = (Vec::new(), Vec::new());
        let mut going = true;
        for n in 1..=self.storms {
            engine.send(EngineCommand::Storm);
            let mut back = None;
            let storm = Instant::now();
            going = run
                .take(engine, storm + Duration::from_secs(self.back_within), |_, report| {
                    if let EngineReport::Settled { after_us, live } = report {
                        back = Some((*after_us, *live));
                    }
                    back.is_some()
                })
                .await?;
            if !going {
                break;
            }
            if back.is_none() {
                // The next report of a second has the number of live sessions.
                drain(run, engine, |_, report| matches!(report, EngineReport::Second(_))).await;
                run.note(&format!("Storm {n}: not all sessions were back or had given up after {} s.", self.back_within));
            }
            let live = back.map_or(run.live, |(_, live)| live);
            took_us.push(back.filter(|_| live == self.watching.sessions).map(|(after_us, _)| after_us));
            absent.push(self.watching.sessions.saturating_sub(live));
            let took = storm.elapsed().as_secs_f64();
            run.ui.print(&format!("storm {n}: {live} sessions back after {took:.2} s"));
            going = run.take(engine, Instant::now() + CALM, |_, _| false).await?;
            if !going {
                break;
            }
            run.ui.progress(n as u64, self.storms as u64, began.elapsed().as_secs(), "");
        }
        if let Some(worst) = absent.into_iter().max() {
            run.values.count("sessions_not_back", worst as u64);
        }
        let slowest_us = took_us.into_iter().collect::<Option<Vec<i64>>>().and_then(|all| all.into_iter().max());
        if let Some(us) = slowest_us {
            run.values.set("storm_all_s", us as f64 / 1e6);
        }
        Ok(going)
    }
}
