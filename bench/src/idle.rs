//! Cost of running machines without watchers: an actor and a deadline each.

use std::time::{Duration, Instant};

use clap::Args;
use nyala_loadtest::process::Used;

use crate::memory::grown_by;
use crate::results::Figures;
use crate::server::{Scratch, pid};
use crate::{BenchError, db, running, shop};

/// After the start, until what came with it is done.
const SETTLE: Duration = Duration::from_secs(5);

#[derive(Debug, PartialEq, Eq, Args)]
pub struct Idle {
    /// Machines that run
    #[arg(long, default_value_t = Self::default().machines, value_parser = clap::value_parser!(u32).range(1..=200_000))]
    machines: u32,
    /// How long the processor is watched
    #[arg(long, default_value_t = Self::default().seconds, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
}

impl Default for Idle {
    fn default() -> Self {
        Self { machines: 100_000, seconds: 20 }
    }
}

impl Idle {
    /// A rough figure.
    pub fn quick() -> Self {
        Self { machines: 10_000, seconds: 2 }
    }

    /// # Errors
    /// When the server does not resume them all.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let scratch = Scratch::make()?;
        let (none, empty_kib) = self.measure(&scratch, 0).await?;
        let mut server = scratch.start().await?;
        let shop = shop::open(&server, 1, 1).await?;
        server.stop().await?;
        {
            let postgres = db::open(&scratch.data())?;
            let client = db::connect(&postgres).await?;
            running::fill(&client, &shop, self.machines as usize).await?;
            db::settle(&client).await?;
        }
        let (all, kib) = self.measure(&scratch, self.machines).await?;
        Ok(Figures::list(
            format!("{} running machines that nobody watches", self.machines),
            &[
                format!(
                    "Server: **{all:.2} %** of a core, of {} s (aim: at most 1 %); without machines {none:.2} %",
                    self.seconds
                ),
                match grown_by(empty_kib, kib, self.machines) {
                    Some(kib) => {
                        format!("Memory: {kib:.2} KiB resident a machine, the actor's and that of its entry in `Machines`")
                    }
                    None => format!(
                        "Memory of a machine: not measured. {} are too few to be seen: give more --machines",
                        self.machines
                    ),
                },
            ],
        ))
    }

    /// The share of a core in per cent and the resident memory in KiB of a server with this number of machines in its database.
    async fn measure(&self, scratch: &Scratch, machines: u32) -> Result<(f64, f64), BenchError> {
        let mut server = scratch.start().await?;
        let actors = server.metric("nyala_machine_actors").await?;
        if actors != f64::from(machines) {
            return Err(format!("{machines} machines run, and the server has {actors} actors").into());
        }
        tokio::time::sleep(SETTLE).await;
        let (before, began) = (Used::of(pid(&server)?)?, Instant::now());
        tokio::time::sleep(Duration::from_secs(self.seconds.into())).await;
        let after = Used::of(pid(&server)?)?;
        let share = 100.0 * (after.cpu_us - before.cpu_us) as f64 / 1e6 / began.elapsed().as_secs_f64();
        server.stop().await?;
        Ok((share, after.rss_kib as f64))
    }
}
