//! `cluster`: several servers, a primary with a standby, a load balancer, devices and phones, all on this machine. One fault comes
//! after the other while customers buy; then everything that was told must be true.

mod balancer;
mod fault;
mod line;
mod phone;
mod postgres;
mod report;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::sync::watch;
use tokio::task::JoinSet;

use balancer::{Balancer, Doors};
use fault::{Fault, Happened, Schedule, Shards};
use phone::{Phone, Seen};
use postgres::{Database, connect};
use report::{Decided, Outcome};

use crate::broker::{free_port, installed};
use crate::crash::audit::{Devices, settle};
use crate::crash::flow::Flow;
use crate::crash::payer::{Known, Payer};
use crate::crash::{Market, SETTLED_OVER_MQTT_WITHIN};
use crate::fleet::{Driver, Fleet, FleetOptions, Keys};
use crate::http::Pool;
use crate::options::{at_least_1, length_s};
use crate::scenario::Verdict;
use crate::server::{self, Server};
use crate::shop::{Shop, Wish};
use crate::ui;

const NAMES: [&str; 3] = ["n1", "n2", "n3"];
/// The file that all servers have in common.
const SECRETS: &str = "secrets.toml";
const JOURNAL: &str = "devices.jsonl";
/// Seconds that a service runs: long enough that runs meet faults, short enough that machines become free.
const SERVICE_S: u32 = 6;
/// Machines that a phone watches.
const WATCHED: usize = 4;
/// One phone of so many only polls.
const POLLS_OF: usize = 3;
/// A killed server's name is free when its life is over.
const RESTARTED_AFTER: Duration = Duration::from_secs(2);
const PAUSED_FOR: Duration = Duration::from_secs(5);
const FROZEN_FOR: Duration = Duration::from_secs(4);
const PROMOTED_AFTER: Duration = Duration::from_millis(300);
/// Phones, devices and shards find their places before the first fault; after a stall everybody is quiet for so long at least.
const CALM: Duration = Duration::from_secs(5);
/// After the last purchase every run ends, and its final tick is told.
const RUNS_OUT: Duration = Duration::from_secs(SERVICE_S as u64 + 2);

#[derive(Debug, Args)]
#[command(after_help = "Needs Debian's packages haproxy and postgresql.

Examples:
  nyala-loadtest cluster --seconds 600
  nyala-loadtest cluster --seed 42 --seconds 60 --data-dir kept --report report    # the same faults again, with everybody's log")]
pub struct Cluster {
    /// How long faults come
    #[arg(long, default_value_t = 120, value_parser = length_s(), value_name = "S")]
    seconds: u64,
    /// Seconds from one fault to the next; one that takes longer delays it
    #[arg(long, default_value_t = 10, value_parser = length_s(), value_name = "S")]
    every: u64,
    /// Decides what is done to whom; a random one is taken and printed
    #[arg(long)]
    seed: Option<u64>,
    /// Machines, each with a device over MQTT
    #[arg(long, default_value_t = 200, value_parser = at_least_1())]
    machines: usize,
    /// Outlets that they stand in: a shard for each
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
    /// Kill the primary, too, in the middle: its standby takes over
    #[arg(long)]
    primary: bool,
    /// Folder of the servers' settings
    #[arg(long, default_value = "config")]
    config_dir: PathBuf,
    /// Folder for everybody's data and logs, kept afterwards; otherwise one that is removed after success
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Folder for report.json
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

/// Names what this needs and does not find.
pub fn missing() -> Option<String> {
    let (haproxy, postgres) = (installed(balancer::PROGRAM).is_none(), postgres::programs().is_none());
    let packages: Vec<&str> =
        [(haproxy, "haproxy"), (postgres, "postgresql")].iter().filter(|(m, _)| *m).map(|(_, p)| *p).collect();
    (!packages.is_empty())
        .then(|| format!("not installed here: {} (apt-get install {})", packages.join(", "), packages.join(" ")))
}

/// Everything that runs. Servers end before their database.
struct Site {
    nodes: Vec<Server>,
    balancer: Balancer,
    database: Database,
}

impl Cluster {
    /// # Errors
    /// One line on what made it impossible.
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
        if !kept {
            fs::remove_dir_all(&folder).map_err(|e| e.to_string())?;
        }
        Ok(Verdict::Fine)
    }

    async fn measure(&self, seed: u64, folder: &Path) -> Result<Outcome, String> {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut site = self.start(folder).await?;
        let market = Arc::new(self.market(&site).await?);
        let journal = folder.join(JOURNAL);
        let _fleet = self.devices(&site, &market, &journal, rng.random()).await?;
        let (over, is_over) = watch::channel(false);
        let mut phones = self.phones(&site, &market, &is_over, &mut rng);
        let (closed, is_closed) = watch::channel(false);
        let mut buyers = self.buyers(site.balancer.phones, &market, &is_closed, &mut rng);
        tokio::time::sleep(CALM).await;

        let mut outcome = Outcome { seed, seconds: self.seconds, ..Outcome::default() };
        let since = Instant::now();
        self.faults(&mut site, since, &mut outcome, &mut rng).await?;
        closed.send_replace(true);
        let mut payers = Vec::new();
        while let Some(bought) = buyers.join_next().await {
            let (payer, decided, broken) = bought.map_err(|e| e.to_string())?;
            let since_faults = |(begun, decided): (Instant, Instant)| Decided {
                at: decided.saturating_duration_since(since),
                after: decided - begun,
            };
            outcome.purchases.extend(decided.into_iter().map(since_faults));
            outcome.broken.extend(broken);
            payers.push(payer);
        }
        payers.sort_by_key(Payer::index);
        let mut devices = Devices::over_mqtt(journal, SETTLED_OVER_MQTT_WITHIN);
        match settle(&site.nodes[0], &market, payers, &mut [], &mut devices).await {
            Ok(payers) => {
                outcome.paid = payers.iter().map(|p| p.paid() as u64).sum();
                outcome.broken.extend(audit(&site.database, &payers).await?);
            }
            Err(why) => outcome.broken.push(why),
        }
        tokio::time::sleep(RUNS_OUT).await;
        over.send_replace(true);
        while let Some(seen) = phones.join_next().await {
            outcome.add(seen.map_err(|e| e.to_string())?);
        }
        for node in &mut site.nodes {
            if let Err(why) = node.stop().await {
                outcome.broken.push(why);
            }
        }
        Ok(outcome)
    }

    async fn start(&self, folder: &Path) -> Result<Site, String> {
        let bin = postgres::programs().ok_or("PostgreSQL is not here")?;
        let database = Database::start(bin, folder.join("postgres")).await?;
        let port = || free_port().map_err(|e| e.to_string());
        let (program, url) = (server::program()?, database.url());
        let (mut nodes, mut doors) = (Vec::new(), Vec::new());
        for name in NAMES {
            let door = Doors { http: port()?, mqtt: port()? };
            let (http, mqtt) = (door.http.to_string(), door.mqtt.to_string());
            let settings = [
                ("DATABASE_URL", url.as_str()),
                ("NYALA__CLUSTER__ENABLED", "true"),
                ("NYALA__CLUSTER__NAME", name),
                ("NYALA__HTTP__PORT", &http),
                ("NYALA__HTTP__TRUSTED_PROXIES", "127.0.0.1"),
                ("NYALA__MQTT__PORT", &mqtt),
            ];
            let dir = folder.join(name);
            let mut node = Server::new(program.clone(), &self.config_dir, dir.clone(), &settings)?;
            if !nodes.is_empty() {
                fs::copy(folder.join(NAMES[0]).join(SECRETS), dir.join(SECRETS)).map_err(|e| format!("{SECRETS}: {e}"))?;
            }
            node.start().await.map_err(|why| format!("{name}: {why}"))?;
            nodes.push(node);
            doors.push((name, door));
        }
        let balancer = Balancer::start(folder, &doors)?;
        Ok(Site { nodes, balancer, database })
    }

    async fn market(&self, site: &Site) -> Result<Market, String> {
        let key = site.nodes[0].root_key().await?;
        let pool = Pool::new(site.nodes[0].address(), 4);
        let wish = Wish {
            driver: Driver::Mqtt,
            machines: self.machines,
            machines_per_outlet: self.machines.div_ceil(self.outlets),
            customers: self.customers + self.phones,
            duration_s: SERVICE_S,
        };
        let shop = Shop::open(&pool, &key, wish).await?;
        Ok(Market { key, shop, services: Vec::new() })
    }

    async fn devices(&self, site: &Site, market: &Market, journal: &Path, seed: u64) -> Result<Fleet, String> {
        let pool = Pool::new(site.nodes[0].address(), 4);
        let keys = Arc::new(Keys::make(&pool, &market.key, &market.shop.machines).await?);
        let options = FleetOptions {
            program: site.nodes[0].program().to_owned(),
            server: Some(site.balancer.devices),
            journal: Some(journal.to_owned()),
            flags: vec!["--seed".to_owned(), seed.to_string()],
        };
        Fleet::start(keys, options).await
    }

    fn phones(&self, site: &Site, market: &Market, over: &watch::Receiver<bool>, rng: &mut StdRng) -> JoinSet<Seen> {
        let mut phones = JoinSet::new();
        for n in 0..self.phones {
            let all = &market.shop.machines;
            let machines =
                rand::seq::index::sample(rng, all.len(), WATCHED.min(all.len())).iter().map(|i| all[i].idmesin).collect();
            let token = market.shop.customers[self.customers + n].token.clone();
            let polls = n % POLLS_OF == 0;
            let phone = Phone { to: site.balancer.phones, token, polls, machines, seed: rng.random() };
            phones.spawn(phone.watch(over.clone()));
        }
        phones
    }

    fn buyers(&self, to: SocketAddr, market: &Arc<Market>, closed: &watch::Receiver<bool>, rng: &mut StdRng) -> JoinSet<Bought> {
        let mut buyers = JoinSet::new();
        let pause = Duration::from_secs_f64(self.customers as f64 / self.rate);
        for n in 0..self.customers {
            let payer = Payer::new(market, n, rng.random());
            buyers.spawn(buy(payer, to, pause, closed.clone(), StdRng::seed_from_u64(rng.random())));
        }
        buyers
    }

    async fn faults(&self, site: &mut Site, since: Instant, outcome: &mut Outcome, rng: &mut StdRng) -> Result<(), String> {
        let mut schedule = Schedule::new(NAMES.len());
        let (length, every) = (Duration::from_secs(self.seconds), Duration::from_secs(self.every));
        let mut shards = Shards::new(site.database.config());
        let mut primary = self.primary;
        while since.elapsed() < length {
            let fault = if primary && since.elapsed() >= length / 2 {
                primary = false;
                Fault::KillPrimary
            } else {
                schedule.next(rng)
            };
            let at = since.elapsed();
            let (happened, broken) = site.suffer(fault, at, &mut shards).await.map_err(|why| format!("{fault}: {why}"))?;
            outcome.broken.extend(broken.map(|why| format!("{fault} at {:.1} s: {why}", at.as_secs_f64())));
            ui::told(&report::line(&happened));
            outcome.faults.push(happened);
            tokio::time::sleep((at + every).saturating_sub(since.elapsed())).await;
        }
        Ok(())
    }
}

impl Site {
    /// One fault and its mending. What could not be done is an error; what came of it and must not, is the second of what it tells.
    async fn suffer(&mut self, fault: Fault, at: Duration, shards: &mut Shards) -> Result<(Happened, Option<String>), String> {
        let before = shards.epochs().await?;
        let since = Instant::now();
        let (mut taken, mut whole_after) = (None, None);
        match fault {
            Fault::Kill(node) => {
                let id = shards.node(NAMES[node]).await?;
                let since = Instant::now();
                self.nodes[node].kill_program().await?;
                taken = Some(shards.taken(id, since).await);
                tokio::time::sleep(RESTARTED_AFTER.saturating_sub(since.elapsed())).await;
                self.nodes[node].start().await?;
            }
            Fault::Pause(node) => {
                let id = shards.node(NAMES[node]).await?;
                let since = Instant::now();
                self.signal(node, Signal::SIGSTOP)?;
                taken = Some(shards.taken(id, since).await);
                tokio::time::sleep(PAUSED_FOR.saturating_sub(since.elapsed())).await;
                self.signal(node, Signal::SIGCONT)?;
                self.nodes[node].come_back().await?;
            }
            Fault::Stop(node) => {
                let id = shards.node(NAMES[node]).await?;
                let since = Instant::now();
                let (stopped, gone) = tokio::join!(self.nodes[node].stop(), shards.taken(id, since));
                stopped?;
                taken = Some(gone);
                self.nodes[node].start().await?;
            }
            Fault::FreezeDatabase => {
                self.database.freeze()?;
                tokio::time::sleep(FROZEN_FOR).await;
                self.database.wake()?;
                whole_after = Some(since.elapsed());
                // What moves for it moves in the next lives of the servers.
                tokio::time::sleep(CALM).await;
            }
            Fault::KillPrimary => {
                self.database.fail_over(PROMOTED_AFTER).await?;
                whole_after = Some(since.elapsed());
                tokio::time::sleep(CALM).await;
            }
        }
        let whole_after = whole_after.unwrap_or_else(|| since.elapsed());
        let moved = match shards.epochs().await {
            Ok(now) => now - before,
            // The connection was the old primary's.
            Err(_) => shards.epochs().await? - before,
        };
        let (taken_after, broken) = match taken {
            Some(Err(why)) => (None, Some(why)),
            Some(Ok(after)) => (Some(after), None),
            None => (None, None),
        };
        Ok((Happened { at, fault, whole_after, taken_after, moved }, broken))
    }

    fn signal(&self, node: usize, signal: Signal) -> Result<(), String> {
        let pid = self.nodes[node].pid().ok_or("the server does not run")?;
        kill(Pid::from_raw(pid.cast_signed()), signal).map_err(|e| e.to_string())
    }
}

/// A customer, when each receipt was first sent and when it was decided, and a promise that was broken.
type Bought = (Payer, Vec<(Instant, Instant)>, Option<String>);

/// A customer who buys now and then, and asks again with the same receipt until it is decided.
async fn buy(mut payer: Payer, to: SocketAddr, pause: Duration, mut closed: watch::Receiver<bool>, mut rng: StdRng) -> Bought {
    let (mut times, flow) = (Vec::new(), Flow::default());
    loop {
        let wait = pause.mul_f64(rng.random_range(0.0..2.0));
        tokio::select! {
            _ = closed.wait_for(|closed| *closed) => return (payer, times, None),
            () = tokio::time::sleep(wait) => {}
        }
        let since = Instant::now();
        loop {
            if let Err(why) = payer.buy(to, &flow).await {
                return (payer, times, Some(why));
            }
            if !payer.receipts().any(|(_, r)| r.told == Known::Nothing) {
                times.push((since, Instant::now()));
                break;
            }
            // Whoever is still undecided at the end is asked again by the audit.
            if *closed.borrow() {
                return (payer, times, None);
            }
        }
    }
}

/// What the database knows against what customers were told, beyond the ledger's own rules.
async fn audit(database: &Database, payers: &[Payer]) -> Result<Vec<String>, String> {
    let client = connect(&database.config()).await?;
    let told = |e: tokio_postgres::Error| e.to_string();
    let mut broken = Vec::new();
    for payer in payers {
        let whose = payer.account().id_customer_global;
        let receipts = "SELECT no_nota FROM snap_transaksi WHERE id_customer_global = $1 AND state IN ('RUNNING', 'FINISHED')";
        let bought: Vec<String> = client.query(receipts, &[&whose]).await.map_err(told)?.iter().map(|row| row.get(0)).collect();
        for (number, receipt) in payer.receipts() {
            if (receipt.told == Known::Runs) != bought.contains(number) {
                broken
                    .push(format!("receipt {number} of customer {whose:?} was told {:?}, the database disagrees", receipt.told));
            }
        }
    }
    let open = "SELECT count(*) FROM snap_transaksi WHERE state IN ('HELD', 'SENT', 'UNSURE')";
    let open: i64 = client.query_one(open, &[]).await.map_err(told)?.get(0);
    if open > 0 {
        broken.push(format!("{open} purchases are undecided"));
    }
    let twice = "SELECT count(*) FROM (SELECT FROM snap_transaksi GROUP BY cmd_id HAVING count(*) > 1) AS twice";
    let twice: i64 = client.query_one(twice, &[]).await.map_err(told)?.get(0);
    if twice > 0 {
        broken.push(format!("{twice} commands belong to two purchases"));
    }
    Ok(broken)
}
