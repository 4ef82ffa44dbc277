//! `soak`: purchases and watchers for hours. It checks the ticks of every run, and whether memory grows.

use std::time::Duration;

use clap::Args;

use super::buying::{Arrivals, Buying};
use super::{Verdict, run};
use crate::interrupt::Interrupt;
use crate::money;
use crate::options::Common;
use crate::report::Report;
use crate::run::Measurement;
use crate::shop::{BALANCE, PRICE};

/// Longest soak: customers' tokens are valid for thirty days.
const MAX_MINUTES: f64 = 28.0 * 24.0 * 60.0;

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
    #[arg(long, default_value_t = 60.0)]
    pub minutes: f64,
}

impl Soak {
    /// # Errors
    /// One line with the cause.
    pub fn run(&self) -> Result<Verdict, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        if !(self.minutes > 0.0 && self.minutes <= MAX_MINUTES) {
            return Err(format!("--minutes must be above 0 and at most {MAX_MINUTES}"));
        }
        // Customers are chosen at random, so some buy more often than others.
        let purchases = self.minutes * 60.0 * self.buying.rate * 1.5 / self.buying.machine_count().max(1) as f64;
        if purchases > (BALANCE / PRICE) as f64 {
            return Err(format!(
                "the customers' money does not last for {} minutes at --rate {}: give fewer minutes, or more --machines (each \
                 brings a customer with money for {} purchases)",
                self.minutes,
                self.buying.rate,
                BALANCE / PRICE
            ));
        }
        let target = self.common.target()?;
        let mut run = Measurement::new("soak", &self.common, interrupt)?;
        let opened = self.buying.open(&mut run, &self.common, &target, self.watchers, self.per_session).await?;
        if let Some(mut counter) = opened {
            run.values.count("subscriptions", (self.watchers * self.per_session) as u64);
            counter.serve(&mut run, Arrivals::AtRate(&self.buying), Duration::from_secs_f64(self.minutes * 60.0)).await?;
            let (pool, shop) = (counter.pool.clone(), counter.shop.clone());
            drop(counter);
            money::check(&mut run, &pool, &self.common, &shop.customers).await;
        }
        Ok(run.report(&target))
    }
}
