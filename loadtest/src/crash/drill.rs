//! `restore-drill`: while customers pay and cashiers sell, the server, its database and the receiver of its backup are killed and the data
//! folder is deleted. Then the backup is restored to a chosen moment and to the latest one, and compared with every answer.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use embedded_postgres::{Postgres, Settings};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::audit::{self, Patience};
use super::cashier::Cashier;
use super::payer::{Payer, ReceiptOutcome};
use super::rush::Rush;
use super::{Market, SETTINGS, SETTLED_OVER_MQTT_WITHIN};
use crate::cluster::postgres::{connect, programs};
use crate::fleet::{Driver, Fleet};
use crate::http::Pool;
use crate::local::free_port;
use crate::options::at_least_1;
use crate::scenario::errand;
use crate::server::{self, Server};
use crate::shop::{TestMachine, id, list, ops};
use crate::ui;

/// A sale that was committed by the moment is answered within this time.
const SALE_TAKES: Duration = Duration::from_secs(2);
/// Time in which purchases that a kill interrupted are decided. The simulated devices have lost their memory with the data folder, so a command
/// that one of them had not answered is asked about until it expires.
const PATIENCE: Patience = Patience { within: Duration::from_secs(30), come_back: false };
/// Devices over MQTT keep their memory, and reconnect with pauses of up to half a minute.
const PATIENCE_OVER_MQTT: Patience = Patience { within: SETTLED_OVER_MQTT_WITHIN, come_back: true };
/// Customers who buy nothing before a restore to a moment, and are the first to buy after it, each at another machine.
const FIRST_CUSTOMERS: usize = 16;
/// Time in which the backup is complete after a start.
const BACKED_UP_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Between the chosen moment and what must not be there after a restore to it.
const APART: Duration = Duration::from_millis(50);
/// Ids jump ahead by at least a million, of which a short run uses few.
const JUMP: i64 = 900_000;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nyala-loadtest restore-drill --rounds 10 --seconds 20
  nyala-loadtest restore-drill --driver mqtt
  nyala-loadtest restore-drill --data-dir kept        # and the folders to look at afterwards")]
pub struct RestoreDrill {
    /// How often everything is killed, deleted and restored
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// How long customers pay before each kill
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// Decides who buys what, and the moments that are restored to; a random one is taken and printed
    #[arg(long)]
    seed: Option<u64>,
    /// Customers who pay again and again
    #[arg(long, default_value_t = 32, value_parser = at_least_1())]
    customers: usize,
    /// Machines that they buy
    #[arg(long, default_value_t = 160, value_parser = at_least_1())]
    machines: usize,
    /// Paired tills where cashiers sell, reverse and hand over
    #[arg(long, default_value_t = 2)]
    tills: usize,
    /// What drives the machines; mqtt: `nyala device sim`, whose devices remember what the restored database has forgotten
    #[arg(long, value_enum, default_value_t = Driver::Sim)]
    driver: Driver,
    /// Answers of this time before the kill may be lost: the receiver is behind PostgreSQL by milliseconds, on a busy disk by more
    #[arg(long, value_name = "MS", default_value_t = 250)]
    may_be_lost: u64,
    /// Folder of the server's settings
    #[arg(long, default_value = "config")]
    config_dir: PathBuf,
    /// Folder for data, backup and log, kept afterwards; otherwise one that is removed after success
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

/// Why it cannot be run here: which package is missing.
pub fn missing() -> Option<String> {
    programs().is_none().then(|| "not installed here: postgresql (apt-get install postgresql)".to_owned())
}

/// Customer and machine that were made after the chosen moment.
struct Newcomers {
    token: String,
    idcustomer: i64,
    machine: TestMachine,
}

/// The shop of a drill with its customers and cashiers.
struct DrillShop {
    site: Server,
    market: Arc<Market>,
    /// The server's port for devices; 0: one that is free.
    port: u16,
    /// Played devices; `None`: the server simulates them.
    fleet: Option<Fleet>,
    customers: Vec<Payer>,
    cashiers: Vec<Cashier>,
    /// Receipts and top-ups that earlier rounds have counted.
    counted: [usize; 2],
}

/// Figures of all rounds.
#[derive(Debug, Default)]
struct Totals {
    receipts: usize,
    top_ups: usize,
    lost: usize,
    /// From the last answer to the kill.
    last_before_kill: Vec<Duration>,
    restores: Vec<Duration>,
}

/// Answers that a restored database lacks: how long before the kill each was given.
#[derive(Debug, Default)]
struct RestoreComparison {
    receipts: usize,
    top_ups: usize,
    missing: Vec<SystemTime>,
    /// When the last one was given.
    last: Option<SystemTime>,
}

impl RestoreDrill {
    /// # Errors
    /// One line: an answer that was lost or wrong, or what could not be run.
    pub fn run(self) -> Result<(), String> {
        let seed = self.seed.unwrap_or_else(|| rand::rng().random());
        ui::out(&format!("seed {seed}"));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.map_err(|e| e.to_string())?.block_on(self.rounds(seed)).map_err(|why| format!("seed {seed}: {why}"))
    }

    async fn rounds(&self, seed: u64) -> Result<(), String> {
        let mut rng = StdRng::seed_from_u64(seed);
        let dir =
            self.data_dir.clone().unwrap_or_else(|| std::env::temp_dir().join(format!("nyala-drill-{}", std::process::id())));
        let (mut totals, mut stage) = (Totals::default(), None);
        for round in 1..=self.rounds {
            let failed = |why: String| format!("round {round}: {why}");
            let ready = match stage.take() {
                Some(stage) => stage,
                None => self.open(&dir, &mut rng).await.map_err(failed)?,
            };
            stage = self.round(&dir, round, ready, &mut totals, &mut rng).await.map_err(failed)?;
        }
        if let Some(DrillShop { mut site, .. }) = stage {
            site.stop().await?;
        }
        totals.print();
        if self.data_dir.is_none() {
            std::fs::remove_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        }
        Ok(())
    }

    /// A new shop with a new backup.
    async fn open(&self, dir: &Path, rng: &mut StdRng) -> Result<DrillShop, String> {
        for folder in [dir.join("data"), dir.join("backup")] {
            if folder.exists() {
                std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            }
        }
        // The devices' keys name the port, so that it must not change with a restart of the server.
        let port = (self.driver == Driver::Mqtt).then(free_port).transpose().map_err(|e| e.to_string())?.unwrap_or_default();
        let mut site = self.server(dir, "data", port, true)?;
        site.start().await?;
        let customers = self.customers + self.tills * super::CUSTOMERS_PER_TILL + FIRST_CUSTOMERS;
        let market = Arc::new(Market::open(&site, self.driver, self.machines, customers).await?);
        let fleet = match self.driver {
            Driver::Sim => None,
            Driver::Mqtt => {
                let (pool, program) = (Pool::new(site.address(), 32), Some(site.program().to_owned()));
                Some(Fleet::of_shop(&pool, &market.key, &market.shop, program).await?)
            }
        };
        let (customers, cashiers) = market.people(&site, self.customers, self.tills, rng).await?;
        Ok(DrillShop { site, market, port, fleet, customers, cashiers, counted: [0; 2] })
    }

    /// `port`: for devices.
    fn server(&self, dir: &Path, data: &str, port: u16, backs_up: bool) -> Result<Server, String> {
        let (backup, port) = (dir.join("backup").display().to_string(), port.to_string());
        let backup = backs_up.then_some(("NYALA__BACKUP__DIR", backup.as_str()));
        let settings: Vec<(&str, &str)> = SETTINGS.into_iter().chain([("NYALA__MQTT__PORT", &*port)]).chain(backup).collect();
        let mut site = Server::new(server::program()?, &self.config_dir, dir.join(data), &settings)?;
        site.log_to(dir.join(format!("{data}.log")));
        Ok(site)
    }

    /// Returns the shop for the next round; `None` when answers of the last moment were lost: the customers' books no longer agree with it.
    async fn round(
        &self,
        dir: &Path,
        round: u32,
        DrillShop { mut site, market, port, fleet, customers, cashiers, counted }: DrillShop,
        totals: &mut Totals,
        rng: &mut StdRng,
    ) -> Result<Option<DrillShop>, String> {
        backed_up(&site).await?;
        let rush = Rush::begin(site.address(), customers, cashiers);
        let all = Duration::from_secs(self.seconds);
        let before = all.mul_f64(rng.random_range(0.3..0.8));
        tokio::time::sleep(before).await;
        let (moment, to) = moment()?;
        tokio::time::sleep(APART).await;
        let newcomers = newcomers(&site, &market).await?;
        tokio::time::sleep(all.saturating_sub(before + APART)).await;
        site.kill_everything().await?;
        let killed = SystemTime::now();
        let (customers, mut cashiers) = rush.end().await?;
        std::fs::remove_dir_all(site.data_dir()).map_err(|e| format!("{}: {e}", site.data_dir().display()))?;

        let mut at_moment = self.server(dir, "at_moment", port, false)?;
        let to_moment = restore(&at_moment, dir, &to).await?;
        let by_then = compare(&at_moment, &customers, &cashiers, Some(moment)).await?;
        if !by_then.missing.is_empty() {
            return Err(format!("{} answers from before {} are missing", by_then.missing.len(), to));
        }
        let served = async {
            at_moment.start().await?;
            rules(&at_moment, &market, &newcomers, true).await?;
            if fleet.is_some() {
                first_customers(&at_moment, &market).await?;
            }
            at_moment.run(&["audit", "verify"]).await?;
            at_moment.stop().await
        };
        served.await.map_err(|why| format!("restored to {}: {why}", to))?;
        at_moment.remove()?;

        let to_latest = restore(&site, dir, "latest").await?;
        let found = compare(&site, &customers, &cashiers, None).await?;
        let age = |at: SystemTime| killed.duration_since(at).unwrap_or_default();
        let oldest = found.missing.iter().copied().map(age).max().unwrap_or_default();
        site.start().await?;
        rules(&site, &market, &newcomers, false).await.map_err(|why| format!("restored to the latest: {why}"))?;
        let last = found.last.map(age).unwrap_or_default();
        ui::out(&format!(
            "round {round}: {} receipts and {} top-ups answered, {} lost{}; the last answer was {} ms before the kill. Restored to the latest \
             in {:.1} s, ready {:.1} s later. Restored to {} in {:.1} s, {} receipts and {} top-ups answered by then, all there",
            found.receipts - counted[0],
            found.top_ups - counted[1],
            found.missing.len(),
            if found.missing.is_empty() { String::new() } else { format!(" of the last {} ms", oldest.as_millis()) },
            last.as_millis(),
            to_latest.as_secs_f64(),
            site.ready_after().as_secs_f64(),
            to,
            to_moment.as_secs_f64(),
            by_then.receipts.saturating_sub(counted[0]),
            by_then.top_ups.saturating_sub(counted[1]),
        ));
        totals.receipts += found.receipts - counted[0];
        totals.top_ups += found.top_ups - counted[1];
        totals.lost += found.missing.len();
        totals.last_before_kill.push(last);
        totals.restores.extend([to_moment, to_latest]);
        if oldest > Duration::from_millis(self.may_be_lost) {
            return Err(format!("an answer that was given {} ms before the kill is lost", oldest.as_millis()));
        }
        if !found.missing.is_empty() {
            site.run(&["audit", "verify"]).await?;
            site.stop().await?;
            return Ok(None);
        }
        let patience = if fleet.is_some() { PATIENCE_OVER_MQTT } else { PATIENCE };
        let customers = audit::decided(&site, &market, customers, &mut cashiers, patience, usize::MAX).await?;
        Ok(Some(DrillShop { site, market, port, fleet, customers, cashiers, counted: [found.receipts, found.top_ups] }))
    }
}

impl Totals {
    fn print(&self) {
        let middle = |all: &[Duration]| {
            let mut all = all.to_vec();
            all.sort_unstable();
            all.get(all.len() / 2).copied().unwrap_or_default()
        };
        ui::out(&format!(
            "{} receipts and {} top-ups answered, {} lost; the last answer mostly {} ms before the kill; a restore mostly took {:.1} s",
            self.receipts,
            self.top_ups,
            self.lost,
            middle(&self.last_before_kill).as_millis(),
            middle(&self.restores).as_secs_f64(),
        ));
    }
}

/// Waits until `nyala backup status` finds nothing wrong.
async fn backed_up(site: &Server) -> Result<(), String> {
    let since = Instant::now();
    while let Err(why) = site.run(&["backup", "status"]).await {
        if since.elapsed() > BACKED_UP_WITHIN {
            return Err(format!("the backup is not complete after {} s: {why}", BACKED_UP_WITHIN.as_secs()));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// Makes a customer and a machine that a restore to an earlier moment does not have.
async fn newcomers(site: &Server, market: &Market) -> Result<Newcomers, String> {
    let pool = Pool::new(site.address(), 1);
    let first = market.shop.machines.first().ok_or("a shop without machines")?;
    let (customer, machine) = make_both(&pool, market, first).await?;
    let token = customer["token"].as_str().ok_or("a customer without token")?.to_owned();
    Ok(Newcomers { token, idcustomer: id(&customer["idcustomer"])?, machine })
}

async fn make_both(pool: &Pool, market: &Market, first: &TestMachine) -> Result<(Value, TestMachine), String> {
    let customer = json!({ "jumlah": 1, "awalan_telp": "8198", "idoutlet": first.idoutlet, "saldo": 0 });
    let customer = ops(pool, &market.key, "pelanggan/bulk", &customer).await?;
    let customer = list(&customer["pelanggan"])?.first().cloned().ok_or("no customer was made")?;
    let machine = json!({ "idoutlet": first.idoutlet, "nama": "Mesin baru", "driver": "sim" });
    let machine = ops(pool, &market.key, "mesin", &machine).await?;
    let qr = machine["qr"].as_str().ok_or("a machine without qr")?.to_owned();
    Ok((customer, TestMachine { idmesin: id(&machine["id"])?, qr, ..first.clone() }))
}

/// Restores the backup for this server, and returns how long that took.
async fn restore(site: &Server, dir: &Path, to: &str) -> Result<Duration, String> {
    let (began, backup) = (Instant::now(), dir.join("backup").display().to_string());
    let report = site.run(&["restore", "--to", to, &backup]).await.map_err(|why| format!("restore --to {to}: {why}"))?;
    let took = began.elapsed();
    if report.lines().any(|line| line == "audit: 0 broken") { Ok(took) } else { Err(format!("restore --to {to}: {report}")) }
}

/// Compares the restored database, before it is served, with the answers: until a moment, or all of them.
async fn compare(
    site: &Server,
    customers: &[Payer],
    cashiers: &[Cashier],
    until: Option<SystemTime>,
) -> Result<RestoreComparison, String> {
    const PAID: &str = "SELECT id_customer_global, no_nota FROM snap_transaksi WHERE state IN ('RUNNING', 'FINISHED')";
    /// Those of refusals, too.
    const ALL: &str = "SELECT id_customer_global, no_nota FROM nota";
    const TOP_UPS: &str = "SELECT id::TEXT FROM pembelian_emoney";
    let settings = Settings {
        data_dir: site.data_dir().to_owned(),
        folder: embedded_postgres::FOLDER,
        ready_within: embedded_postgres::READY_LIMIT,
        data_dir_is_default: false,
        create: false,
        npm_dir: None,
        max_connections: 20,
        extra_args: Vec::new(),
    };
    let postgres = Postgres::attach_or_start(&settings).map_err(|e| e.to_string())?;
    let url = postgres.connection_string("postgres");
    let client = connect(&url.parse().map_err(|e: tokio_postgres::Error| e.to_string())?).await?;
    let failed = |e: tokio_postgres::Error| e.to_string();
    let receipts = async |query: &str| {
        let rows = client.query(query, &[]).await.map_err(failed)?;
        Ok::<HashSet<(i64, String)>, String>(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    };
    let (paid, all) = (receipts(PAID).await?, receipts(ALL).await?);
    let top_ups: HashSet<String> = client.query(TOP_UPS, &[]).await.map_err(failed)?.iter().map(|row| row.get(0)).collect();
    drop(client);
    postgres.stop();

    let mut found = RestoreComparison::default();
    let counts = |at: SystemTime| until.is_none_or(|until| at <= until);
    let mut answered = |at: SystemTime, is_there: bool| {
        found.last = found.last.max(Some(at));
        if !is_there {
            found.missing.push(at);
        }
    };
    let (mut n_receipts, mut n_top_ups) = (0, 0);
    for payer in customers {
        let whose = payer.account().id_customer_global.ok_or("a customer without id")?;
        for (number, receipt) in payer.receipts() {
            let key = (whose, number.clone());
            match receipt.decided_at.filter(|at| counts(*at)) {
                Some(at) => {
                    n_receipts += 1;
                    let is_there = if receipt.outcome == ReceiptOutcome::Runs { &paid } else { &all };
                    answered(at, is_there.contains(&key));
                }
                None if until.is_some_and(|until| receipt.begun_at > until) && all.contains(&key) => {
                    return Err(format!("receipt {number} of customer {whose} is there and was begun after the moment"));
                }
                None => {}
            }
        }
    }
    for (id, at) in cashiers.iter().flat_map(Cashier::sold) {
        if counts(at) {
            n_top_ups += 1;
            answered(at, top_ups.contains(id));
        } else if top_ups.contains(id) && until.is_some_and(|until| at > until + SALE_TAKES) {
            return Err(format!("top-up {id} is there and was answered after the moment"));
        }
    }
    Ok(RestoreComparison { receipts: n_receipts, top_ups: n_top_ups, ..found })
}

/// Tokens and stickers after a restore: those from before are good, those of customers and machines that are `lost` are worthless, and no id is
/// given again.
async fn rules(site: &Server, market: &Market, newcomers: &Newcomers, lost: bool) -> Result<(), String> {
    const DASHBOARD: &str = "/scan/v1/dashboard/get_dashboard";
    let pool = Pool::new(site.address(), 1);
    let status = async |token: &str| {
        let answer = pool.call("GET", DASHBOARD, token, &Value::Null).await.map_err(|e| e.to_string())?;
        Ok::<u16, String>(answer.status)
    };
    let first = market.shop.machines.first().ok_or("a shop without machines")?;
    let old = market.shop.customers.first().ok_or("a shop without customers")?;
    let (customer, machine) = make_both(&pool, market, first).await?;
    let (new, token) = (id(&customer["idcustomer"])?, customer["token"].as_str().unwrap_or_default());
    for (whose, token, right) in
        [("an old", &*old.token, 200), ("a new", token, 200), ("a later", &newcomers.token, if lost { 401 } else { 200 })]
    {
        let status = status(token).await?;
        if status != right {
            return Err(format!("the token of {whose} customer is answered {status} and not {right}"));
        }
    }
    if new < newcomers.idcustomer + JUMP || machine.idmesin < newcomers.machine.idmesin + JUMP {
        return Err(format!(
            "ids have not jumped ahead: customer {} and then {new}, machine {} and then {}",
            newcomers.idcustomer, newcomers.machine.idmesin, machine.idmesin
        ));
    }
    if machine.qr == newcomers.machine.qr {
        return Err("two machines have the same sticker".to_owned());
    }
    errand::scan(&pool, &old.token, first).await.map_err(|why| format!("an old sticker: {why}"))?;
    match errand::scan(&pool, &old.token, &newcomers.machine).await {
        Ok(()) if lost => Err("the sticker of a machine that is lost is good".to_owned()),
        Err(why) if !lost => Err(format!("a sticker from before the kill: {why}")),
        _ => Ok(()),
    }
}

/// Waits until so many devices can be reached: a server that has just started still shows those as online that were, and a connection that is open need
/// not have logged in.
async fn connected(site: &Server, devices: usize, since: Instant) -> Result<(), String> {
    while site.metric("nyala_devices_online").await? < devices as f64 {
        if since.elapsed() >= PATIENCE_OVER_MQTT.within {
            return Err(format!("not all of {devices} devices have connected"));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// The first purchases after a restore to a moment start their machines: the devices have seen epochs that the database has forgotten.
async fn first_customers(site: &Server, market: &Market) -> Result<(), String> {
    let began = Instant::now();
    audit::free(site, market, began, PATIENCE_OVER_MQTT).await?;
    connected(site, market.shop.machines.len(), began).await?;
    let pool = Pool::new(site.address(), 1);
    for (customer, machine) in market.shop.customers.iter().rev().zip(&market.shop.machines).take(FIRST_CUSTOMERS) {
        let bought = market.shop.buy(&pool, customer, machine).await;
        bought.map_err(|why| format!("the first purchase at machine {}: {why}", machine.idmesin))?;
    }
    Ok(())
}

/// Now, in whole milliseconds, and as text for `--to`.
fn moment() -> Result<(SystemTime, String), String> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_err(|e| e.to_string())?;
    let ms = u64::try_from(since.as_millis()).map_err(|e| e.to_string())?;
    let moment = SystemTime::UNIX_EPOCH + Duration::from_millis(ms);
    Ok((moment, OffsetDateTime::from(moment).format(&Rfc3339).map_err(|e| e.to_string())?))
}
