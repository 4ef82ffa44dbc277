//! Cost of several servers on one database: heartbeats and polling, while machines run and there are no purchases.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use embedded_postgres::{Postgres, die_with_parent};
use nix::sys::signal::Signal;
use nyala_loadtest::local::{free_port, installed};
use nyala_loadtest::process::{Used, family_cpu_us};
use nyala_loadtest::server::Server;

use crate::results::Figures;
use crate::server::{Scratch, pid};
use crate::{BenchError, db, running, shop};

const NAMES: [&str; 3] = ["n1", "n2", "n3"];
/// A server's share of the database's connections.
const CONNECTIONS: u32 = 12;
/// Time after which the first server has unloaded the actors of transferred shards, which have no watchers.
const IDLE_S: &str = "5";
/// After the start, until all that has happened.
const SETTLE: Duration = Duration::from_secs(15);
const SHARED_WITHIN: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug, PartialEq, Eq, Args)]
pub struct ClusterCost {
    /// Machines that run, one measurement each
    #[arg(long, value_delimiter = ',', default_values_t = Self::default().machines, value_parser = clap::value_parser!(u32).range(1..=200_000))]
    machines: Vec<u32>,
    /// How long the processors are watched
    #[arg(long, default_value_t = Self::default().seconds, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
}

impl Default for ClusterCost {
    fn default() -> Self {
        Self { machines: vec![500, 5_000, 50_000], seconds: 20 }
    }
}

/// A NATS server between them.
struct Nats {
    process: Child,
    port: u16,
}

impl Nats {
    /// `None` where there is none.
    fn start() -> Result<Option<Self>, BenchError> {
        let Some(program) = installed("nats-server") else { return Ok(None) };
        let port = free_port()?;
        let mut command = Command::new(program);
        command.args(["-a", "127.0.0.1", "-p", &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
        die_with_parent(&mut command, Signal::SIGKILL);
        Ok(Some(Self { process: command.spawn()?, port }))
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// In per cent of a core, and KiB.
struct Cost {
    server: f64,
    server_kib: f64,
    postgres: f64,
    nats: Option<f64>,
}

impl ClusterCost {
    /// A rough figure.
    pub fn quick() -> Self {
        Self { machines: vec![500], seconds: 2 }
    }

    /// # Errors
    /// When the servers do not share the machines.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let mut rows = vec![
            "| machines that run | news | each server, % of a core | MiB each | PostgreSQL, % of a core | NATS, % of a core |"
                .to_owned(),
            "|---|---|---|---|---|---|".to_owned(),
        ];
        for machines in &self.machines {
            for with_news in [false, true] {
                let nats = if with_news { Nats::start()? } else { None };
                if with_news && nats.is_none() {
                    rows.push(format!("| {machines} | nats-server is not here | | | | |"));
                    continue;
                }
                let cost = self.measure(*machines, nats.as_ref()).await?;
                rows.push(format!(
                    "| {machines} | {} | **{:.2}** | {:.0} | **{:.2}** | {} |",
                    if with_news { "NATS" } else { "–" },
                    cost.server,
                    cost.server_kib / 1024.0,
                    cost.postgres,
                    cost.nats.map_or_else(|| "–".to_owned(), |used| format!("{used:.2}")),
                ));
            }
        }
        let title = format!("{} servers on one database, nobody buys and nobody watches", NAMES.len());
        Ok(Figures { title, body: rows.join("\n") + "\n" })
    }

    async fn measure(&self, machines: u32, nats: Option<&Nats>) -> Result<Cost, BenchError> {
        let scratch = Scratch::make()?;
        let postgres = db::make(&scratch.data())?;
        fill(&scratch, &postgres, machines).await?;
        let mut servers = Vec::new();
        for name in NAMES {
            servers.push(start(&scratch, &postgres, name, nats).await?);
        }
        shared(&servers, machines).await?;
        tokio::time::sleep(SETTLE).await;
        let pids = servers.iter().map(pid).collect::<Result<Vec<u32>, _>>()?;
        let used = || -> Result<[u64; 3], BenchError> {
            let servers = pids.iter().map(|pid| Ok(Used::of(*pid)?.cpu_us)).sum::<Result<u64, BenchError>>()?;
            let nats = nats.map(|nats| Used::of(nats.process.id())).transpose()?.map_or(0, |used| used.cpu_us);
            Ok([servers, family_cpu_us(postgres.pid().unsigned_abs())?, nats])
        };
        let (before, began) = (used()?, Instant::now());
        tokio::time::sleep(Duration::from_secs(self.seconds.into())).await;
        let (after, took) = (used()?, began.elapsed().as_secs_f64());
        let share = |n: usize| 100.0 * (after[n] - before[n]) as f64 / 1e6 / took;
        let kib = pids.iter().map(|pid| Ok(Used::of(*pid)?.rss_kib)).sum::<Result<u64, BenchError>>()?;
        for server in &mut servers {
            server.stop().await?;
        }
        let each = servers.len() as f64;
        Ok(Cost { server: share(0) / each, server_kib: kib as f64 / each, postgres: share(1), nats: nats.map(|_| share(2)) })
    }
}

/// Inserts machines with a running purchase, whose devices connect to no server.
async fn fill(scratch: &Scratch, postgres: &Postgres, machines: u32) -> Result<(), BenchError> {
    let mut alone = server(scratch, postgres, "shop", &[])?;
    alone.start().await.map_err(|e| format!("{e}: {}", alone.log()))?;
    let shop = shop::open(&alone, 1, 1).await?;
    alone.stop().await?;
    let client = db::connect(postgres).await?;
    running::fill(&client, &shop, machines as usize).await?;
    client.batch_execute("UPDATE mesin SET driver = 'mqtt'").await?;
    db::settle(&client).await
}

fn server(scratch: &Scratch, postgres: &Postgres, name: &str, more: &[(&'static str, &str)]) -> Result<Server, BenchError> {
    let (url, connections) = (postgres.connection_string("postgres"), CONNECTIONS.to_string());
    let shared = [("DATABASE_URL", url.as_str()), ("NYALA__DATABASE__CONNECTIONS", &connections), ("NYALA__HTTP__WORKERS", "2")];
    let dir = scratch.data().join(name);
    fs::create_dir_all(&dir)?;
    let program = nyala_loadtest::server::program()?;
    Ok(Server::new(program, "config".as_ref(), dir, &[shared.as_slice(), more].concat())?)
}

async fn start(scratch: &Scratch, postgres: &Postgres, name: &'static str, nats: Option<&Nats>) -> Result<Server, BenchError> {
    let url = nats.map(|nats| format!("nats://127.0.0.1:{}", nats.port));
    let mut settings =
        vec![("NYALA__CLUSTER__ENABLED", "true"), ("NYALA__CLUSTER__NAME", name), ("NYALA__MESIN__IDLE_S", IDLE_S)];
    settings.extend(url.as_deref().map(|url| ("NYALA__CLUSTER__NATS_URL", url)));
    let mut server = server(scratch, postgres, name, &settings)?;
    fs::copy(scratch.data().join("shop/secrets.toml"), server.data_dir().join("secrets.toml"))?;
    server.start().await.map_err(|e| format!("{e}: {}", server.log()))?;
    Ok(server)
}

/// Waits until all machines have an owner.
async fn shared(servers: &[Server], machines: u32) -> Result<(), BenchError> {
    let began = Instant::now();
    while began.elapsed() < SHARED_WITHIN {
        let (mut shards, mut actors) = (0.0, 0.0);
        for server in servers {
            shards += server.metric("nyala_cluster_shards_owned").await?;
            actors += server.metric("nyala_machine_actors").await?;
        }
        if shards >= 256.0 && actors >= f64::from(machines) {
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Err("the servers do not share the machines".into())
}
