//! Purchases per second through HTTP, beside pgbench with the same two statements on the same database.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Args;

use crate::cpu::Used;
use crate::http::Http;
use crate::results::Figures;
use crate::server::{Place, Server};
use crate::shop::Shop;
use crate::times::Times;
use crate::{Error, db, pgbench};

/// Purchases before the measurement.
const WARM_UP: usize = 500;
const PATH: &str = "/scan/v1/transaksi/create_snap_transaksi";

#[derive(Debug, PartialEq, Eq, Args)]
pub struct Purchase {
    /// Connections that buy at the same time, of HTTP and of pgbench
    #[arg(long, default_value_t = Self::default().clients, value_parser = clap::value_parser!(u32).range(1..=1000))]
    clients: u32,
    /// Ends sooner when every machine is bought
    #[arg(long, default_value_t = Self::default().seconds, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Machines of each side; each is bought once, by a customer of its own
    #[arg(long, default_value_t = Self::default().machines, value_parser = clap::value_parser!(u32).range(1000..=20_000))]
    machines: u32,
}

impl Default for Purchase {
    fn default() -> Self {
        Self { clients: 32, seconds: 10, machines: 10_000 }
    }
}

/// What one side did.
pub struct Bought {
    pub purchases: usize,
    pub took: Duration,
    pub times: Times,
}

impl Bought {
    fn per_second(&self) -> f64 {
        self.purchases as f64 / self.took.as_secs_f64()
    }
}

impl Purchase {
    /// A rough figure.
    pub fn quick() -> Self {
        Self { machines: 2000, ..Self::default() }
    }

    /// # Errors
    /// The first purchase that does not succeed, or whatever keeps either side from running.
    pub async fn run(&self) -> Result<Figures, Error> {
        let place = Place::make()?;
        let server = Server::start(&place).await?;
        let key = server.root_key(&place)?;
        let machines = self.machines as usize;
        let shop = Rc::new(Shop::open(server.address, &key, 2 * machines + WARM_UP, machines).await?);
        let limit = Duration::from_secs(self.seconds.into());
        // Statistics of tables that were never used mislead the planner; no shop that is busy has such.
        buy(&server, &shop, self.clients, 2 * machines..2 * machines + WARM_UP, limit).await?;
        let postgres = db::open(&place.data())?;
        db::settle(&db::connect(&postgres).await?).await?;

        let before = Used::now(server.pid(), postgres.pid())?;
        let bought = buy(&server, &shop, self.clients, 0..machines, limit).await?;
        let used = Used::now(server.pid(), postgres.pid())?.since(before);
        drop(postgres);
        server.stop()?;

        let postgres = db::open(&place.data())?;
        db::settle(&db::connect(&postgres).await?).await?;
        let floor = pgbench::run(&postgres, &shop, self.clients, machines)?;
        Ok(self.figures(&bought, used, floor))
    }

    fn figures(&self, bought: &Bought, used: Used, floor: f64) -> Figures {
        let rate = bought.per_second();
        let each = |d: Duration| d.as_secs_f64() * 1e6 / bought.purchases as f64;
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
                    "Processor time per purchase: server {:.0} µs, PostgreSQL {:.0} µs, the buying clients {:.0} µs",
                    each(used.server),
                    each(used.postgres),
                    each(used.bench)
                ),
            ],
        )
    }
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
) -> Result<Bought, Error> {
    let (first, end) = (machines.start, machines.end);
    let next = Rc::new(Cell::new(first));
    let times = Rc::new(RefCell::new(Times::default()));
    let mut connections = Vec::new();
    for _ in 0..clients {
        connections.push(Http::connect(server.address).await?);
    }
    let started = Instant::now();
    let buyers = tokio::task::LocalSet::new();
    let mut all = Vec::new();
    for mut http in connections {
        let (next, times, shop) = (next.clone(), times.clone(), shop.clone());
        all.push(buyers.spawn_local(async move {
            while next.get() < end && started.elapsed() < limit {
                let (token, body) = shop.order(next.replace(next.get() + 1));
                let asked = Instant::now();
                let answer = http.post(PATH, token, &body).await?;
                if answer.status != 200 {
                    return Err(Error::from(format!("{body}: {} {}", answer.status, answer.body)));
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
