//! `crash`: customers pay and cashiers sell at once while the server and its database are killed at random moments. After each round
//! every answer must be true, every rupiah accounted for, and every machine free.

pub(crate) mod answers;
pub(crate) mod audit;
pub(crate) mod cashier;
pub mod drill;
pub(crate) mod flow;
mod mover;
mod network;
pub(crate) mod payer;
mod proxy;
mod rush;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use audit::Devices;
use cashier::{Cashier, TillActs};
use flow::Kills;
use network::Network;
use payer::Payer;
use proxy::LONGEST_HALF_OPEN;
use rush::Rush;
use serde_json::json;

use crate::fleet::Driver;
use crate::http::Pool;
use crate::local::free_port;
use crate::options::at_least_1;
use crate::server::{self, Server};
use crate::shop::{PRICE, Shop, Wish, id, ops};
use crate::ui;

/// Time after a crash in which every purchase must be decided and every machine free. Devices over MQTT need longer: their connection may
/// stay half open for a while, and they then reconnect with pauses of up to half a minute.
const SETTLED_WITHIN: Duration = Duration::from_secs(15);
pub(crate) const SETTLED_OVER_MQTT_WITHIN: Duration = LONGEST_HALF_OPEN.saturating_add(Duration::from_secs(30));

/// Purchases that must begin in a round before the kill.
const PURCHASES: u64 = 50;
/// Customers of each till, who receive top-ups and buy nothing.
const CUSTOMERS_PER_TILL: usize = 4;
/// Longest time from those purchases to the kill, in milliseconds.
const KILLED_AFTER_MS: u64 = 600;
/// Time in which the customers must begin those purchases.
const BEGUN_WITHIN: Duration = Duration::from_secs(15);

/// Durations of the two services, in seconds.
const SERVICES_S: [u32; 2] = [1, 2];

/// Settings for devices that answer quickly, and for what may not take its time.
const SETTINGS: [(&str, &str); 4] = [
    ("NYALA__MESIN__SIM_MIN_MS", "5"),
    ("NYALA__MESIN__SIM_MAX_MS", "60"),
    // Its customers have far more than a real one may have.
    ("NYALA__LEDGER__MAX_BALANCE", "0"),
    ("NYALA__MOVE__WAIT_S", "1"),
];

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nyala-loadtest crash --rounds 200
  nyala-loadtest crash --driver mqtt
  nyala-loadtest crash --seed 42 --data-dir kept      # the same kills again, and the data to look at afterwards")]
pub struct Crash {
    /// How often something is killed
    #[arg(long, default_value_t = 20)]
    rounds: u32,
    /// Decides what is killed, and when; a random one is taken and printed
    #[arg(long)]
    seed: Option<u64>,
    /// Customers who pay again and again
    #[arg(long, default_value_t = 64, value_parser = at_least_1())]
    customers: usize,
    /// Machines that they buy; fewer than there are customers make more refusals, and fewer purchases
    #[arg(long, default_value_t = 160, value_parser = at_least_1())]
    machines: usize,
    /// Paired tills where cashiers sell, reverse and hand over
    #[arg(long, default_value_t = 4)]
    tills: usize,
    /// What drives the machines; mqtt: `nyala device sim` behind a network that loses, delays, cuts and half-opens, and it is killed, too
    #[arg(long, value_enum, default_value_t = Driver::Sim)]
    driver: Driver,
    /// Folder of the server's settings
    #[arg(long, default_value = "config")]
    config_dir: PathBuf,
    /// Folder for the server's data, kept afterwards; otherwise one that is removed after success
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

/// Target of a kill.
#[derive(Debug, Clone, Copy)]
enum Victim {
    Server,
    Database,
    Both,
    /// Power of all devices over MQTT.
    Devices,
    ServerAndDevices,
    /// Connections of all devices over MQTT.
    Connections,
}

/// Shop of the campaign, its services, and the operator's key to inspect it.
pub(crate) struct Market {
    pub key: String,
    pub shop: Shop,
    /// Services of the only outlet; empty: each machine has its own service.
    pub services: Vec<i64>,
    /// Tills make bills, which are paid at the simulated provider of QRIS.
    pub bills: bool,
    /// At each till, a customer moves to new numbers.
    pub moves: bool,
}

impl Market {
    async fn open(server: &Server, driver: Driver, machines: usize, customers: usize) -> Result<Self, String> {
        let (key, pool) = (server.root_key().await?, Pool::new(server.address(), 1));
        let wish = Wish { driver, machines, machines_per_outlet: machines, customers, duration_s: SERVICES_S[0] };
        let shop = Shop::open(&pool, &key, wish).await?;
        let first = shop.machines.first().ok_or("a shop without machines")?;
        let second = json!({ "idoutlet": first.idoutlet, "nama": "Cuci Lama", "durasi": SERVICES_S[1], "harga": PRICE });
        let services = vec![first.idlayanan, id(&ops(&pool, &key, "layanan", &second).await?["id"])?];
        ops(&pool, &key, &format!("outlet/{}", first.idoutlet), &json!({ "qris": "simulated" })).await?;
        Ok(Self { key, shop, services, bills: true, moves: false })
    }

    /// Customers who pay, and cashiers; each till serves other customers.
    async fn people(
        self: &Arc<Self>,
        site: &Server,
        customers: usize,
        tills: usize,
        rng: &mut StdRng,
    ) -> Result<(Vec<Payer>, Vec<Cashier>), String> {
        let payers = (0..customers).map(|n| Payer::new(self, n, rng.random())).collect();
        let mut cashiers = Vec::new();
        for till in 0..tills {
            let first = customers + till * CUSTOMERS_PER_TILL;
            let topped_up = (first..first + CUSTOMERS_PER_TILL).collect();
            cashiers.push(Cashier::open(site, self, till, topped_up, rng.random()).await?);
        }
        Ok((payers, cashiers))
    }
}

impl Crash {
    pub fn run(self) -> Result<(), String> {
        let seed = self.seed.unwrap_or_else(|| rand::rng().random());
        ui::out(&format!("seed {seed}"));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.map_err(|e| e.to_string())?.block_on(self.rounds(seed)).map_err(|why| format!("seed {seed}: {why}"))
    }

    async fn rounds(&self, seed: u64) -> Result<(), String> {
        let mut rng = StdRng::seed_from_u64(seed);
        let kept = self.data_dir.is_some();
        let data_dir =
            self.data_dir.clone().unwrap_or_else(|| std::env::temp_dir().join(format!("nyala-crash-{}", std::process::id())));
        // Devices' port. Their network has to know it, and it must not change with a restart of the server.
        let port = (self.driver == Driver::Mqtt).then(free_port).transpose().map_err(|e| e.to_string())?;
        let port_text = port.map(|port| port.to_string());
        let settings: Vec<(&str, &str)> =
            SETTINGS.into_iter().chain(port_text.iter().map(|port| ("NYALA__MQTT__PORT", port.as_str()))).collect();
        let mut site = Server::new(server::program()?, &self.config_dir, data_dir, &settings)?;
        site.start().await?;
        let customers = self.customers + self.tills * CUSTOMERS_PER_TILL;
        let market = Market { moves: true, ..Market::open(&site, self.driver, self.machines, customers).await? };
        let market = Arc::new(market);
        let mut network = match port {
            Some(port) => Some(Network::open(&site, &market, port, rng.random()).await?),
            None => None,
        };
        let (mut customers, mut cashiers) = market.people(&site, self.customers, self.tills, &mut rng).await?;
        let mut devices = match &network {
            Some(network) => Devices::over_mqtt(network.journal(), SETTLED_OVER_MQTT_WITHIN),
            None => Devices::simulated(&site, SETTLED_WITHIN),
        };
        let (since, mut kills) = (Instant::now(), Kills::default());
        for round in 1..=self.rounds {
            let happened = async {
                let (back, victim) =
                    self.round((&mut site, &mut network), customers, &mut cashiers, &mut kills, &mut rng).await?;
                let settled = audit::settle(&site, &market, back, &mut cashiers, &mut devices).await;
                settled.map_err(|why| format!("after killing {victim:?}: {why}"))
            };
            customers = happened.await.map_err(|why| format!("round {round}: {why}"))?;
            if round % 10 == 0 || round == self.rounds {
                let paid: usize = customers.iter().map(|c| c.paid()).sum();
                let TillActs { sold, billed, reversed, paid_out, moved, handed_over } = cashiers.iter().map(Cashier::acts).sum();
                ui::out(&format!(
                    "round {round}: {paid} purchases, {sold} top-ups, {billed} bills, {reversed} reversals, {paid_out} payouts, {moved} moves, {handed_over} handovers, nothing lost, nothing twice; \
                     {kills} ({} s)",
                    since.elapsed().as_secs()
                ));
                if let Some(network) = &network {
                    ui::out(&format!("  the network did {} faults to words and lines", network.faults()));
                }
            }
        }
        site.stop().await?;
        if !kept {
            site.remove()?;
        }
        Ok(())
    }

    /// Lets customers buy, kills something while many purchases are in flight, and starts it again.
    async fn round(
        &self,
        (site, network): (&mut Server, &mut Option<Network>),
        customers: Vec<Payer>,
        cashiers: &mut Vec<Cashier>,
        kills: &mut Kills,
        rng: &mut StdRng,
    ) -> Result<(Vec<Payer>, Victim), String> {
        if let Some(network) = network {
            network.set_bad(true);
        }
        let rush = Rush::begin(site.address(), customers, std::mem::take(cashiers));
        let flow = rush.flow();
        let begun = flow.begun(PURCHASES, BEGUN_WITHIN).await;
        tokio::time::sleep(Duration::from_millis(rng.random_range(0..KILLED_AFTER_MS))).await;
        kills.add(&flow);
        let mut victims = vec![Victim::Server, Victim::Server, Victim::Database, Victim::Both];
        if network.is_some() {
            victims.extend([Victim::Devices, Victim::ServerAndDevices, Victim::Connections]);
        }
        let victim = victims[rng.random_range(0..victims.len())];
        kill(site, network, victim).await?;
        // A killed database restarts while customers are still buying.
        tokio::time::sleep(Duration::from_millis(rng.random_range(0..300))).await;
        let (customers, back) = rush.end().await?;
        *cashiers = back;
        site.come_back().await?;
        if let Some(network) = network {
            network.set_bad(false);
        }
        if !begun {
            return Err(format!("{PURCHASES} purchases were not begun within {} s", BEGUN_WITHIN.as_secs()));
        }
        Ok((customers, victim))
    }
}

async fn kill(site: &mut Server, network: &mut Option<Network>, victim: Victim) -> Result<(), String> {
    if matches!(victim, Victim::Database | Victim::Both) {
        site.kill_database()?;
    }
    if matches!(victim, Victim::Server | Victim::Both | Victim::ServerAndDevices) {
        site.kill_program().await?;
    }
    let Some(network) = network else { return Ok(()) };
    match victim {
        // The devices' program waits for the server, so the server has to run first.
        Victim::ServerAndDevices => {
            site.come_back().await?;
            network.kill_devices().await
        }
        Victim::Devices => network.kill_devices().await,
        Victim::Connections => {
            network.cut_all();
            Ok(())
        }
        Victim::Server | Victim::Database | Victim::Both => Ok(()),
    }
}
