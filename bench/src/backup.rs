//! What the backup costs: purchases at a steady rate, with and without it, in pairs.

use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Args;
use nyala_loadtest::http::KeptConnection;
use nyala_loadtest::process::{Used, children, family_cpu_us};
use nyala_loadtest::server::Server;
use nyala_loadtest::shop::{PAY, Shop};

use crate::durations::Durations;
use crate::results::Figures;
use crate::server::{Scratch, pid};
use crate::shop::{self, nth_order};
use crate::{BenchError, db, purchase};

/// Purchases before each measurement.
const WARM_UP: usize = 200;
const WARM_UP_CLIENTS: u32 = 8;
const WARM_UP_WITHIN: Duration = Duration::from_secs(60);
/// Connections that buy in turn.
const CLIENTS: usize = 8;
const CUSTOMERS: usize = 200;
/// Until the first base backup is taken and verified.
const BACKED_UP_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(200);

#[derive(Debug, PartialEq, Eq, Args)]
pub struct BackupCost {
    /// Pairs of a server without and one with a backup
    #[arg(long, default_value_t = Self::default().pairs, value_parser = clap::value_parser!(u32).range(1..=99))]
    pairs: u32,
    /// Purchases in a second
    #[arg(long, default_value_t = Self::default().rate, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rate: u32,
    /// How long each side buys
    #[arg(long, default_value_t = Self::default().seconds, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
}

impl Default for BackupCost {
    fn default() -> Self {
        Self { pairs: 7, rate: 30, seconds: 20 }
    }
}

/// One side of a pair.
struct Side {
    p50_ms: f64,
    p95_ms: f64,
    /// Processor time per purchase, in microseconds.
    postgres_us: f64,
    receiver_us: f64,
}

impl BackupCost {
    /// # Errors
    /// The first purchase that does not succeed, or a backup that is not complete.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for pair in 0..self.pairs {
            // Each of them is the first one as often.
            for has_backup in [pair % 2 == 1, pair % 2 == 0] {
                let side = self.measure(has_backup).await?;
                if has_backup { &mut with } else { &mut without }.push(side);
            }
        }
        Ok(self.figures(&without, &with))
    }

    async fn measure(&self, has_backup: bool) -> Result<Side, BenchError> {
        let mut scratch = Scratch::make()?;
        if has_backup {
            scratch.set("NYALA__BACKUP__DIR", scratch.beside("backup").display());
        }
        let mut server = scratch.start().await?;
        let purchases = self.rate as usize * self.seconds as usize;
        let shop = Rc::new(shop::open(&server, purchases + WARM_UP, CUSTOMERS).await?);
        purchase::buy(&server, &shop, WARM_UP_CLIENTS, purchases..purchases + WARM_UP, WARM_UP_WITHIN).await?;
        let postgres = db::open(&scratch.data())?;
        db::settle(&db::connect(&postgres).await?).await?;
        if has_backup {
            backed_up(&server).await?;
        }
        let (server_pid, postmaster) = (pid(&server)?, postgres.pid().cast_unsigned());
        let used = || -> Result<[u64; 2], BenchError> {
            let receivers = children(server_pid).into_iter().filter(|child| *child != postmaster);
            Ok([family_cpu_us(postmaster)?, receivers.filter_map(|child| Some(Used::of(child).ok()?.cpu_us)).sum()])
        };
        let before = used()?;
        let times = self.buy(&server, &shop, purchases).await?;
        let after = used()?;
        drop(postgres);
        server.stop().await?;
        let each = |n: usize| after[n].saturating_sub(before[n]) as f64 / purchases as f64;
        Ok(Side { p50_ms: times.ms(0.5), p95_ms: times.ms(0.95), postgres_us: each(0), receiver_us: each(1) })
    }

    /// Buys one machine after the other, each at its moment.
    async fn buy(&self, server: &Server, shop: &Rc<Shop>, purchases: usize) -> Result<Durations, BenchError> {
        let mut connections = Vec::new();
        for _ in 0..CLIENTS {
            connections.push(KeptConnection::open(server.address()).await?);
        }
        let (began, every) = (Instant::now(), Duration::from_secs(1) / self.rate);
        let buyers = tokio::task::LocalSet::new();
        let mut all = Vec::new();
        for (first, mut http) in connections.into_iter().enumerate() {
            let shop = shop.clone();
            all.push(buyers.spawn_local(async move {
                let mut times = Vec::new();
                for n in (first..purchases).step_by(CLIENTS) {
                    let due = began + every * u32::try_from(n)?;
                    tokio::time::sleep_until(due.into()).await;
                    let (token, body) = nth_order(&shop, n);
                    let asked = Instant::now();
                    let answer = http.ask_raw("POST", PAY, token, &body).await?;
                    if answer.status != 200 {
                        return Err(BenchError::from(format!("{body}: {} {}", answer.status, answer.body)));
                    }
                    times.push(asked.elapsed());
                }
                Ok(times)
            }));
        }
        buyers.await;
        let mut times = Durations::default();
        for buyer in all {
            for took in buyer.await?? {
                times.add(took);
            }
        }
        Ok(times)
    }

    fn figures(&self, without: &[Side], with: &[Side]) -> Figures {
        type Figure = fn(&Side) -> f64;
        let of = |sides: &[Side], figure: Figure| median(sides.iter().map(figure).collect());
        let pairs = |figure: fn(&Side, &Side) -> f64| median(without.iter().zip(with).map(|(a, b)| figure(a, b)).collect());
        let (p50, p95): (Figure, Figure) = (|side| side.p50_ms, |side| side.p95_ms);
        let (postgres, receiver): (Figure, Figure) = (|side| side.postgres_us, |side| side.receiver_us);
        Figures::list(
            format!("Purchases with and without a backup, {}/s, {} pairs of {} s", self.rate, self.pairs, self.seconds),
            &[
                format!(
                    "p50 **{:.1} ms** without and **{:.1} ms** with it; p95 {:.1} and {:.1} ms",
                    of(without, p50),
                    of(with, p50),
                    of(without, p95),
                    of(with, p95)
                ),
                format!("Median of the pairs: p50 **{:+.2} ms** (aim: at most +1 ms)", pairs(|a, b| b.p50_ms - a.p50_ms)),
                format!(
                    "PostgreSQL's processor time per purchase: {:.0} and {:.0} µs, median of the pairs **{:+.0} %** (aim: at most +10 %)",
                    of(without, postgres),
                    of(with, postgres),
                    pairs(|a, b| 100.0 * (b.postgres_us / a.postgres_us - 1.0))
                ),
                format!("The receiver's, with its compression: {:.0} µs", of(with, receiver)),
            ],
        )
    }
}

/// Waits until `nyala backup status` finds nothing wrong.
async fn backed_up(server: &Server) -> Result<(), BenchError> {
    let began = Instant::now();
    while let Err(why) = server.run(&["backup", "status"]).await {
        if began.elapsed() > BACKED_UP_WITHIN {
            return Err(format!("the backup is not complete: {why}").into());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}
