//! `purchase`: customers scan, pay, watch and see the end, at an arrival rate that does not depend on the server.

use std::time::Duration;

use clap::Args;

use super::buying::{Arrivals, Buying};
use super::{Verdict, run};
use crate::interrupt::Interrupt;
use crate::money;
use crate::options::{Common, length_s};
use crate::report::Report;
use crate::run::Measurement;

#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  nyala-loadtest purchase --rate 50 --seconds 60 --fail-if 'total_p99_ms > 1000' --fail-if 'failed > 0'
  nyala-loadtest purchase --rate 200 --durasi 3 --report out --nyala target/release/nyala --data-dir data

Times count from the planned moment, so a server that stalls is seen as it is by those who wait.")]
pub struct Purchases {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub buying: Buying,
    /// Length of the measurement
    #[arg(long, short, default_value_t = 30, value_name = "S", value_parser = length_s())]
    pub seconds: u64,
}

impl Purchases {
    /// # Errors
    /// One line with the cause.
    pub fn run(&self) -> Result<Verdict, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        let target = self.common.target()?;
        let mut run = Measurement::new("purchase", &self.common, interrupt)?;
        if let Some(mut counter) = self.buying.open(&mut run, &self.common, &target, 0, 1).await? {
            counter.serve(&mut run, Arrivals::AtRate(&self.buying), Duration::from_secs(self.seconds)).await?;
            let (pool, shop) = (counter.pool.clone(), counter.shop.clone());
            drop(counter);
            money::check(&mut run, &pool, &self.common, &shop.customers).await;
        }
        Ok(run.report(&target))
    }
}
