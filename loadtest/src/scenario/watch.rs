//! `watch`: many sessions watch running machines, and every tick is checked.

use clap::Args;

use super::watching::Watching;
use super::{Verdict, run};
use crate::interrupt::Interrupt;
use crate::money;
use crate::options::Common;
use crate::report::Report;
use crate::run::Measurement;

#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  nyala-loadtest watch --sessions 10000 --machines 1000 --seconds 60 --server-pid $(pgrep -xo nyala) --report out
  nyala-loadtest watch --sessions 2000 --per-session 8 --fail-if 'tick_p99_ms > 50' --fail-if 'missed > 0'
  nyala-loadtest watch --bare --url http://127.0.0.1:3000 --sessions 5000 --machines 5000   # any server that speaks the frames")]
pub struct Watch {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub watching: Watching,
}

impl Watch {
    /// # Errors
    /// One line with the cause.
    pub fn run(&self) -> Result<Verdict, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        let target = self.common.target()?;
        self.watching.check()?;
        let mut run = Measurement::new("watch", &self.common, interrupt)?;
        let cast = self.watching.cast(&mut run, &self.common, &target).await?;
        if let Some(mut engine) = self.watching.join(&mut run, &target, &cast).await? {
            self.watching.window(&mut run, &mut engine).await?;
        }
        if let Some((pool, shop)) = &cast.shop {
            money::check(&mut run, pool, &self.common, &shop.customers).await;
        }
        Ok(run.report(&target))
    }
}
