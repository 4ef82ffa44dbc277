//! `cluster`: several servers, PostgreSQL (a primary with two standbys), NATS, a load balancer, devices and phones, all on this machine. One fault follows
//! another while customers buy; afterwards every answer that a customer received must agree with what is stored.

mod audit;
mod balancer;
mod buyer;
mod cut_proxy;
mod fault;
mod goals;
mod inject;
mod nats;
mod outcome;
mod page;
mod phone;
mod phone_connection;
pub(crate) mod postgres;
mod report;
mod run;
mod shards;
mod site;

use std::fs;
use std::path::PathBuf;

use clap::Args;
use rand::Rng;

use crate::local::installed;
use crate::options::{at_least_1, length_s};
use crate::scenario::Verdict;
use crate::ui;

/// The servers.
const NAMES: [&str; 3] = ["n1", "n2", "n3"];

#[derive(Debug, Args)]
#[command(after_help = "Needs Debian's packages haproxy and postgresql, and nats-server unless --no-news.

Examples:
  nyala-loadtest cluster --seconds 600 --primary --judge
  nyala-loadtest cluster --seed 42 --seconds 60 --data-dir kept --report report    # the same faults again, with the log of every program")]
pub struct Cluster {
    /// How long faults are injected
    #[arg(long, default_value_t = 120, value_parser = length_s(), value_name = "S")]
    seconds: u64,
    /// Seconds from one fault to the next; a fault that takes longer delays the next one
    #[arg(long, default_value_t = 10, value_parser = length_s(), value_name = "S")]
    every: u64,
    /// Decides which fault hits which server, and when; without it a random seed is taken and printed
    #[arg(long)]
    seed: Option<u64>,
    /// Machines, each with a device over MQTT
    #[arg(long, default_value_t = 200, value_parser = at_least_1())]
    machines: usize,
    /// Outlets over which the machines are spread, each in a shard of its own
    #[arg(long, default_value_t = 20, value_parser = at_least_1())]
    outlets: usize,
    /// Phones that watch four machines each, a third of them without websockets
    #[arg(long, default_value_t = 100)]
    phones: usize,
    /// Customers who buy
    #[arg(long, default_value_t = 100, value_parser = at_least_1())]
    customers: usize,
    /// Purchases a second, all customers together
    #[arg(long, default_value_t = 10.0)]
    rate: f64,
    /// Also kill PostgreSQL's primary, and later cut the primary from its standbys; each time a standby is promoted, and the rest follow it
    #[arg(long)]
    primary: bool,
    /// Without NATS: a server finds what others did by polling PostgreSQL
    #[arg(long)]
    no_news: bool,
    /// Another build of `nyala`: a server that was stopped by SIGTERM starts again with the build that the last stopped one had: a rolling upgrade, and back
    #[arg(long, value_name = "PROGRAM")]
    other: Option<PathBuf>,
    /// Folder of the settings for --other; otherwise those of --config-dir
    #[arg(long, requires = "other")]
    other_config_dir: Option<PathBuf>,
    /// Folder of the servers' settings
    #[arg(long, default_value = "config")]
    config_dir: PathBuf,
    /// Folder for all data and logs, kept afterwards; otherwise one that is removed after success
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Judge the times, too: exit with 2 when one misses its goal (docs/loadtest.md, "Cluster")
    #[arg(long)]
    judge: bool,
    /// Folder for report.json and report.html
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

/// Names the required programs that are not installed.
pub fn missing() -> Option<String> {
    let (haproxy, postgres) = (installed(balancer::PROGRAM).is_none(), postgres::programs().is_none());
    let packages: Vec<&str> =
        [(haproxy, "haproxy"), (postgres, "postgresql")].iter().filter(|(m, _)| *m).map(|(_, p)| *p).collect();
    (!packages.is_empty())
        .then(|| format!("not installed here: {} (apt-get install {})", packages.join(", "), packages.join(" ")))
}

impl Cluster {
    /// # Errors
    /// One line: why the run was not possible.
    pub fn run(self) -> Result<Verdict, String> {
        let seed = self.seed.unwrap_or_else(|| rand::rng().random());
        ui::out(&format!("seed {seed}"));
        if !(self.rate > 0.0 && self.rate.is_finite()) {
            return Err("--rate has to be above 0".to_owned());
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let kept = self.data_dir.is_some();
        let folder =
            self.data_dir.clone().unwrap_or_else(|| std::env::temp_dir().join(format!("nyala-cluster-{}", std::process::id())));
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let folder = folder.canonicalize().map_err(|e| e.to_string())?;
        let outcome = runtime.map_err(|e| e.to_string())?.block_on(self.measure(seed, &folder));
        let outcome = outcome.map_err(|why| format!("seed {seed}: {why} (see {})", folder.display()))?;
        ui::out(outcome.summary().trim_end());
        if let Some(dir) = &self.report {
            outcome.write(dir)?;
        }
        if !outcome.broken.is_empty() {
            ui::out(&format!("Everybody's logs: {}", folder.display()));
            return Ok(Verdict::Crossed);
        }
        let missed = if self.judge { goals::missed(&outcome) } else { Vec::new() };
        for goal in &missed {
            ui::out(&format!("Missed: {goal}"));
        }
        if !kept {
            fs::remove_dir_all(&folder).map_err(|e| e.to_string())?;
        }
        Ok(if missed.is_empty() { Verdict::Fine } else { Verdict::Crossed })
    }
}
