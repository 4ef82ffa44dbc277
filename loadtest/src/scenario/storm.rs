//! `storm`: every session hangs up and comes back at the same moment, as after a broken line or a restart.

use std::time::{Duration, Instant};

use clap::Args;

use super::watching::Watching;
use super::{Outcome, run};
use crate::engine::stats::Spans;
use crate::engine::{Command, Engine, Report as Told};
use crate::interrupt::Interrupt;
use crate::money;
use crate::options::Common;
use crate::report::Report;
use crate::run::Run;

/// How long all may take to be back.
const BACK_WITHIN: Duration = Duration::from_secs(120);
/// Between two storms.
const CALM: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:
  nyala-loadtest storm --sessions 10000 --machines 1000 --storms 5 --in-flight 10000 --fail-if 'storm_all_s > 2'

After the last storm the ticks of --seconds are watched, so that nothing is lost for those who came back.")]
pub struct Storm {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub watching: Watching,
    /// How often all come back
    #[arg(long, default_value_t = 3)]
    pub storms: usize,
}

impl Storm {
    /// # Errors
    /// One line on what made it impossible.
    pub fn run(&self) -> Result<Outcome, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        let target = self.common.target()?;
        self.watching.check()?;
        let mut run = Run::new("storm", &self.common, interrupt)?;
        let cast = self.watching.cast(&mut run, &self.common, &target).await?;
        if let Some(mut engine) = self.watching.join(&mut run, &target, &cast).await? {
            // From here on connect and subscribe times are those of the storms.
            run.spans = Spans::new()?;
            if self.all(&mut run, &mut engine).await? {
                self.watching.window(&mut run, &mut engine).await?;
            }
        }
        if let Some((pool, shop)) = &cast.shop {
            money::check(&mut run, pool, &self.common, &shop.customers).await;
        }
        Ok(run.report(&target))
    }

    /// `false` after Ctrl-C.
    async fn all(&self, run: &mut Run, engine: &mut Engine) -> Result<bool, String> {
        let began = Instant::now();
        run.ui.part("storms", self.storms as u64);
        let mut slowest: i64 = 0;
        for n in 1..=self.storms {
            engine.tell(Command::Storm);
            let mut back = None;
            let going = run
                .take(engine, Instant::now() + BACK_WITHIN, |_, told| {
                    if let Told::Settled { after_us, live } = told {
                        back = Some((*after_us, *live));
                    }
                    back.is_some()
                })
                .await?;
            let Some((after_us, live)) = back else {
                if going {
                    run.note(&format!("Storm {n}: not all sessions were back after {} s.", BACK_WITHIN.as_secs()));
                }
                return Ok(going);
            };
            slowest = slowest.max(after_us);
            run.values.set("storm_all_s", slowest as f64 / 1e6);
            run.ui.say(&format!("storm {n}: {live} sessions back in {:.2} s", after_us as f64 / 1e6));
            if !run.take(engine, Instant::now() + CALM, |_, _| false).await? {
                return Ok(false);
            }
            run.ui.progress(n as u64, self.storms as u64, began.elapsed().as_secs(), "");
        }
        Ok(true)
    }
}
