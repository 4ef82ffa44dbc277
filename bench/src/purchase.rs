//! Purchases per second through HTTP, beside pgbench with the same two statements on the same database.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Args;
use nyala_loadtest::http::KeptConnection;
use nyala_loadtest::process::{Used, family_cpu_us};
use nyala_loadtest::server::Server;
use nyala_loadtest::shop::{PAY, Shop};

use crate::durations::Durations;
use crate::results::Figures;
use crate::server::{Scratch, pid};
use crate::shop::{self, nth_order};
use crate::{BenchError, db, pgbench};

/// Purchases before the measurement.
const WARM_UP: usize = 500;

#[derive(Debug, PartialEq, Eq, Args)]
pub struct PurchaseSpeed {
    /// Connections that buy at the same time, of HTTP and of pgbench
    #[arg(long, default_value_t = Self::default().clients, value_parser = clap::value_parser!(u32).range(1..=1000))]
    clients: u32,
    /// Ends sooner when every machine is bought
    #[arg(long, default_value_t = Self::default().seconds, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Machines of each side; each is bought once, by a separate customer
    #[arg(long, default_value_t = Self::default().machines, value_parser = clap::value_parser!(u32).range(1000..=20_000))]
    machines: u32,
}

impl Default for PurchaseSpeed {
    fn default() -> Self {
        Self { clients: 32, seconds: 10, machines: 10_000 }
    }
}

/// What one side did.
pub struct Bought {
    pub purchases: usize,
    pub took: Duration,
    pub times: Durations,
}

impl Bought {
    fn per_second(&self) -> f64 {
        self.purchases as f64 / self.took.as_secs_f64()
    }
}

impl PurchaseSpeed {
    /// A rough figure.
    pub fn quick() -> Self {
        Self { machines: 2000, ..Self::default() }
    }

    /// # Errors
    /// The first purchase that does not succeed, or whatever keeps either side from running.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let scratch = Scratch::make()?;
        let mut server = scratch.start().await?;
        let machines = self.machines as usize;
        let shop = Rc::new(shop::open(&server, 2 * machines + WARM_UP, machines).await?);
        let limit = Duration::from_secs(self.seconds.into());
        // Statistics of tables that were never used mislead the planner; no shop that is busy has such.
        buy(&server, &shop, self.clients, 2 * machines..2 * machines + WARM_UP, limit).await?;
        let postgres = db::open(&scratch.data())?;
        db::settle(&db::connect(&postgres).await?).await?;

        let (pid, postmaster) = (pid(&server)?, postgres.pid().cast_unsigned());
        let before = used_us(pid, postmaster)?;
        let bought = buy(&server, &shop, self.clients, 0..machines, limit).await?;
        let after = used_us(pid, postmaster)?;
        drop(postgres);
        server.stop().await?;

        let postgres = db::open(&scratch.data())?;
        db::settle(&db::connect(&postgres).await?).await?;
        let floor = pgbench::run(&postgres, &shop, self.clients, machines)?;
        Ok(self.figures(&bought, std::array::from_fn(|who| after[who].saturating_sub(before[who])), floor))
    }

    fn figures(&self, bought: &Bought, used_us: [u64; 3], floor: f64) -> Figures {
        let rate = bought.per_second();
        let [server, postgres, clients] = used_us.map(|us| us as f64 / bought.purchases as f64);
        Figures::list(
            format!("Purchases, {} clients, {} machines", self.clients, self.machines),
            &[
                format!(
                    "HTTP: **{rate:.0} purchases/s** ({} in {:.1} s), p50 {:.1} ms, p99 {:.1} ms",
                    bought.purchases,
                    bought.took.as_secs_f64(),
                    bought.times.ms(0.5),
                    bought.times.ms(0.99)
                ),
                format!("pgbench, the same two statements, `synchronous_commit` on: **{floor:.0} purchases/s**"),
                format!("Ratio: **{:.0} %** (aim: at least 70 %)", 100.0 * rate / floor),
                format!(
                    "Processor time per purchase: server {server:.0} µs, PostgreSQL {postgres:.0} µs, the buying clients {clients:.0} µs"
                ),
            ],
        )
    }
}

/// Processor time used so far by the server, the database and this program, in microseconds.
fn used_us(server: u32, postmaster: u32) -> Result<[u64; 3], BenchError> {
    Ok([Used::of(server)?.cpu_us, family_cpu_us(postmaster)?, Used::of(std::process::id())?.cpu_us])
}

/// Buys these machines of `shop` over `clients` connections, until `limit` at the latest.
///
/// # Errors
/// The first answer that is not 200.
pub async fn buy(
    server: &Server,
    shop: &Rc<Shop>,
    clients: u32,
    machines: Range<usize>,
    limit: Duration,
) -> Result<Bought, BenchError> {
    let (first, end) = (machines.start, machines.end);
    let next = Rc::new(Cell::new(first));
    let times = Rc::new(RefCell::new(Durations::default()));
    let mut connections = Vec::new();
    for _ in 0..clients {
        connections.push(KeptConnection::open(server.address()).await?);
    }
    let started = Instant::now();
    let buyers = tokio::task::LocalSet::new();
    let mut all = Vec::new();
    for mut http in connections {
        let (next, times, shop) = (next.clone(), times.clone(), shop.clone());
        all.push(buyers.spawn_local(async move {
            while next.get() < end && started.elapsed() < limit {
                let (token, body) = nth_order(&shop, next.replace(next.get() + 1));
                let asked = Instant::now();
                let answer = http.ask_raw("POST", PAY, token, &body).await?;
                if answer.status != 200 {
                    return Err(BenchError::from(format!("{body}: {} {}", answer.status, answer.body)));
                }
                times.borrow_mut().add(asked.elapsed());
            }
            Ok(())
        }));
    }
    buyers.await;
    let took = started.elapsed();
    for buyer in all {
        buyer.await??;
    }
    let times = times.take();
    Ok(Bought { purchases: next.get() - first, took, times })
}
