//! What machines cost that run while nobody looks: an actor and a deadline each.

use std::time::{Duration, Instant};

use clap::Args;

use crate::cpu::{Used, resident_kib};
use crate::memory::grown_by;
use crate::results::Figures;
use crate::server::{Place, Server};
use crate::shop::Shop;
use crate::{Error, db, running};

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
    pub async fn run(&self) -> Result<Figures, Error> {
        let place = Place::make()?;
        let (none, empty_kib) = self.measure(&place, 0).await?;
        let server = Server::start(&place).await?;
        let shop = Shop::open(server.address, &server.root_key(&place)?, 1, 1).await?;
        server.stop()?;
        {
            let postgres = db::open(&place.data())?;
            let client = db::connect(&postgres).await?;
            running::fill(&client, &shop, self.machines as usize).await?;
            db::settle(&client).await?;
        }
        let (all, kib) = self.measure(&place, self.machines).await?;
        Ok(Figures::list(
            format!("{} running machines that nobody watches", self.machines),
            &[
                format!(
                    "Server: **{all:.2} %** of a core, of {} s (aim: at most 1 %); without machines {none:.2} %",
                    self.seconds
                ),
                match grown_by(empty_kib, kib, self.machines) {
                    Some(kib) => format!("Memory: {kib:.2} KiB resident a machine, the actor's and the registry's"),
                    None => format!(
                        "Memory of a machine: not measured. {} are too few to be seen: give more --machines",
                        self.machines
                    ),
                },
            ],
        ))
    }

    /// The share of a core in per cent and the resident memory in KiB of a server with so many machines in its database.
    async fn measure(&self, place: &Place, machines: u32) -> Result<(f64, f64), Error> {
        let server = Server::start(place).await?;
        let actors = server.metric("nyala_machine_actors").await?;
        if actors != f64::from(machines) {
            return Err(format!("{machines} machines run, and the server has {actors} actors").into());
        }
        tokio::time::sleep(SETTLE).await;
        let (before, began) = (Used::of(server.pid())?, Instant::now());
        tokio::time::sleep(Duration::from_secs(self.seconds.into())).await;
        let share = 100.0 * (Used::of(server.pid())? - before).as_secs_f64() / began.elapsed().as_secs_f64();
        let kib = resident_kib(server.pid())?;
        server.stop()?;
        Ok((share, kib))
    }
}
