//! `soak`: purchases and watchers for hours; every run's ticks are looked at, and whether memory grows.

use std::time::Duration;

use clap::Args;

use super::buying::Buying;
use super::{Outcome, run};
use crate::interrupt::Interrupt;
use crate::money;
use crate::options::{Common, MAX_LENGTH_S};
use crate::report::Report;
use crate::run::Run;

#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:
  nyala-loadtest soak --minutes 480 --watchers 5000 --rate 20 --server-pid $(pgrep -xo nyala) --report out \\
      --fail-if 'server_rss_slope_mib_per_h > 5'")]
pub struct Soak {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub buying: Buying,
    /// Sessions that watch all the time, besides those who buy
    #[arg(long, default_value_t = 1_000)]
    pub watchers: usize,
    /// Machines that each of them watches
    #[arg(long, default_value_t = 8, value_name = "K")]
    pub per_session: usize,
    /// Length of the measurement
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=MAX_LENGTH_S / 60))]
    pub minutes: u64,
}

impl Soak {
    /// # Errors
    /// One line on what made it impossible.
    pub fn run(&self) -> Result<Outcome, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        let target = self.common.target()?;
        let mut run = Run::new("soak", &self.common, interrupt)?;
        let opened = self.buying.open(&mut run, &self.common, &target, self.watchers, self.per_session).await?;
        if let Some(mut counter) = opened {
            run.values.count("subscriptions", (self.watchers * self.per_session) as u64);
            counter.serve(&mut run, &self.buying, Duration::from_secs(self.minutes * 60)).await?;
            let (pool, shop) = (counter.pool.clone(), counter.shop.clone());
            drop(counter);
            money::check(&mut run, &pool, &self.common, &shop.customers).await;
        }
        Ok(run.report(&target))
    }
}
