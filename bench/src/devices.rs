//! CPU, memory and answer times of the endpoint that devices connect to, without a purchase and without PostgreSQL. Also the whole server
//! with purchases.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use nyala_cluster::Ownership;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::purchase::device::{Command as DeviceCommand, DeviceEvent, Op};
use nyala_loadtest::fleet::{self, Fleet, FleetOptions, Keys};
use nyala_loadtest::http::Pool;
use nyala_loadtest::process::{Used, family_cpu_us};
use nyala_loadtest::server::{Server, program};
use nyala_loadtest::shop::{Shop, Wish};
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_machines::device::mqtt::metrics::DeviceMetrics;
use nyala_machines::device::mqtt::tls::{self, DeviceTls};
use nyala_machines::device::{Driver, ReceivedEvent, Uplink};
use nyala_machines::machines::Location;
use nyala_store::clock::Clock;
use nyala_store::config::ServerSettings;
use nyala_store::db::Store;
use nyala_store::db::clock::database_now;
use nyala_store::db::pool::{Db, PoolLimits};
use nyala_store::secrets::Secrets;
use tokio::net::TcpSocket;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{interval, sleep, timeout};
use uuid::Uuid;

use crate::BenchError;
use crate::durations::Durations;
use crate::results::Figures;
use crate::server::{Scratch, pid};
use crate::undecided::{self, Undecided};

/// Of one outlet.
const MACHINES_PER_OUTLET: usize = 20;
/// Longer than every measurement: a machine is started once.
const RUN_S: i64 = 3_600;
const COMMAND_TTL_MS: i64 = 10_000;
/// Who buy in turn.
const CUSTOMERS: usize = 500;
/// Before the measurement, once all are there.
const SETTLE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(2);
const BACK_WITHIN: Duration = Duration::from_secs(60);
const MAX_MESSAGES: usize = 65_536;
const BACKLOG: u32 = 4_096;

#[derive(Debug, PartialEq, Eq, Args)]
pub struct DeviceCost {
    #[arg(long, default_value_t = Self::default().devices, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    devices: u32,
    /// Starts a second
    #[arg(long, default_value_t = Self::default().rate, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rate: u32,
    #[arg(long, default_value_t = Self::default().seconds, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Without TLS only
    #[arg(long)]
    alone: bool,
}

impl Default for DeviceCost {
    fn default() -> Self {
        Self { devices: 10_000, rate: 50, seconds: 60, alone: false }
    }
}

/// The figures of the endpoint, with TLS or without.
struct Row {
    name: &'static str,
    /// Per cent of a core, of this program with the endpoint in it.
    own: f64,
    kib_each: f64,
    answers: Durations,
    sent: usize,
    back: Option<Duration>,
}

/// What purchases came to.
struct BoughtOverMqtt {
    /// Per cent of a core.
    server: f64,
    postgres: f64,
    times: Durations,
    total: usize,
    undecided: Undecided,
}

impl DeviceCost {
    /// A rough figure.
    pub fn quick() -> Self {
        Self { devices: 500, seconds: 5, alone: true, ..Self::default() }
    }

    /// # Errors
    /// Whatever keeps the devices from being there.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let mut scratch = Scratch::make()?;
        scratch.set("NYALA__MQTT__PORT", 0);
        let mut server = scratch.start().await?;
        let (pool, key) = (Pool::new(server.address(), 32), server.root_key().await?);
        let wish = Wish {
            driver: fleet::Driver::Mqtt,
            machines: self.devices as usize,
            machines_per_outlet: MACHINES_PER_OUTLET,
            customers: CUSTOMERS,
            duration_s: 60,
        };
        let shop = Arc::new(Shop::open(&pool, &key, wish).await?);
        let keys = Arc::new(Keys::make(&pool, &key, &shop.machines).await?);
        let bought = self.buy(&server, &pool, &shop, &keys).await?;
        let trusted = tls::trusted(&Secrets::load(&scratch.data())?.ok_or("no keys")?)?;
        let at: Vec<Location> = shop
            .machines
            .iter()
            .map(|m| Location {
                idmesin: MachineId::new(m.idmesin),
                idoutlet: OutletId::new(m.idoutlet),
                driver: DriverKind::Mqtt,
            })
            .collect();
        let ca = scratch.data().join("device-ca.pem");
        fs::write(&ca, trusted)?;
        server.stop().await?;
        let postgres = crate::db::open(&scratch.data())?;
        let mut rows = Vec::new();
        for tls in if self.alone { &[false][..] } else { &[false, true] } {
            let world = World { keys: &keys, at: &at, ca: &ca, scratch: &scratch };
            rows.push(self.measure(*tls, &world, &postgres.connection_string("postgres")).await?);
        }
        Ok(self.figures(&rows, &bought))
    }

    /// The machines are bought one after the other, of the whole server.
    async fn buy(&self, server: &Server, pool: &Pool, shop: &Arc<Shop>, keys: &Arc<Keys>) -> Result<BoughtOverMqtt, BenchError> {
        let options =
            FleetOptions { program: program()?, flags: vec!["--seed".to_owned(), "7".to_owned()], ..FleetOptions::default() };
        let fleet = Fleet::start(keys.clone(), options).await?;
        sleep(SETTLE).await;
        let postgres = crate::db::open(server.data_dir())?;
        let (pid, postmaster) = (pid(server)?, postgres.pid().cast_unsigned());
        let used = || Ok::<_, BenchError>([Used::of(pid)?.cpu_us, family_cpu_us(postmaster)?]);
        let total = ((self.rate * self.seconds) as usize).min(shop.machines.len());
        let mut every = interval(Duration::from_secs(1) / self.rate);
        let (before, began) = (used()?, Instant::now());
        let mut buying = JoinSet::new();
        for n in 0..total {
            every.tick().await;
            let (pool, shop, since) = (pool.clone(), shop.clone(), Instant::now());
            buying.spawn(async move {
                let bought = shop.buy(&pool, &shop.customers[n % shop.customers.len()], &shop.machines[n]).await;
                bought.map(|_| since.elapsed())
            });
        }
        let mut times = Durations::default();
        while let Some(bought) = buying.join_next().await {
            match bought.map_err(|e| e.to_string())? {
                Ok(took) => times.add(took),
                Err(e) => eprintln!("nyala-bench: a purchase failed: {e}"),
            }
        }
        let (after, took) = (used()?, began.elapsed());
        let share = |us: u64| 100.0 * us as f64 / 1e6 / took.as_secs_f64();
        let undecided = undecided::measure(server, shop, &fleet, &crate::db::connect(&postgres).await?, total).await?;
        Ok(BoughtOverMqtt { server: share(after[0] - before[0]), postgres: share(after[1] - before[1]), times, total, undecided })
    }

    async fn measure(&self, tls: bool, world: &World<'_>, url: &str) -> Result<Row, BenchError> {
        LocalSet::new().run_until(self.measured(tls, world, url)).await
    }

    async fn measured(&self, tls: bool, world: &World<'_>, url: &str) -> Result<Row, BenchError> {
        let second = Duration::from_secs(1);
        let db = Db::new(url, 4, PoolLimits { wait: 5 * second, connect: 5 * second, statement: None, admission: None })?;
        let now = database_now(&*db.get().await?).await?;
        let store = Store { db, clock: Clock::running_from(now) };
        let metrics = DeviceMetrics::default();
        let secrets = Secrets::load(&world.scratch.data())?.ok_or("no keys")?;
        let served = tls.then(|| DeviceTls::new(secrets.into(), "127.0.0.1")).transpose()?;
        let settings = ServerSettings::load(Some(Path::new("config")), &["mqtt.max_connections=20000".to_owned()])?.mqtt;
        let mqtt = Mqtt::new(store.clone(), Ownership::default(), metrics.clone(), served, &settings);
        let (uplink, received) = Uplink::channel(store.clock.clone(), MAX_MESSAGES);
        mqtt.start(uplink)?;
        let endpoint = mqtt.start_thread()?;
        let socket = TcpSocket::new_v4()?;
        socket.bind("127.0.0.1:0".parse()?)?;
        let listener = socket.listen(BACKLOG)?;
        let address = listener.local_addr()?;
        tokio::task::spawn_local(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Ok(stream) = stream.into_std() {
                    endpoint.take(stream);
                }
            }
        });
        let used = || Used::of(std::process::id());
        let empty_kib = used()?.rss_kib;
        let mut flags = vec!["--seed".to_owned(), "7".to_owned()];
        if tls {
            flags.extend(["--ca".to_owned(), world.ca.display().to_string()]);
        }
        let options = FleetOptions { program: program()?, server: Some(address), journal: None, flags };
        let fleet = Fleet::start(world.keys.clone(), options).await?;
        let all = i64::from(self.devices);
        until(&metrics, all).await.ok_or("they are not all there")?;
        sleep(SETTLE).await;
        let kib_each = used()?.rss_kib.saturating_sub(empty_kib) as f64 / f64::from(self.devices);
        let (before, began) = (used()?.cpu_us, Instant::now());
        let (answers, sent) = self.start_at_a_rate(&mqtt, &store, world.at, received).await;
        let (after, took) = (used()?.cpu_us, began.elapsed());
        let own = 100.0 * (after - before) as f64 / 1e6 / took.as_secs_f64();
        let cut_at = Instant::now();
        fleet.ask("cut all").await?;
        // The outage is seen before devices are back, because each waits for a random pause.
        let disconnected = async {
            while metrics.online.get() >= all {
                sleep(LOOK_EVERY).await;
            }
        };
        let back = match timeout(BACK_WITHIN, disconnected).await {
            Ok(()) => until(&metrics, all).await.map(|()| cut_at.elapsed()),
            Err(_) => None,
        };
        drop(fleet);
        if answers.len() * 2 < sent {
            return Err(format!("{} of {sent} starts were answered: these figures say nothing", answers.len()).into());
        }
        let name = if tls { "endpoint, TLS" } else { "endpoint" };
        Ok(Row { name, own, kib_each, answers, sent, back })
    }

    /// Starts machines one after the other; how long each took to answer.
    async fn start_at_a_rate(
        &self,
        mqtt: &Mqtt,
        store: &Store,
        at: &[Location],
        mut received: mpsc::Receiver<ReceivedEvent>,
    ) -> (Durations, usize) {
        let total = (self.rate * self.seconds) as usize;
        let mut every = interval(Duration::from_secs(1) / self.rate);
        let (mut waiting, mut answers, mut sent) = (HashMap::new(), Durations::default(), 0);
        let until = tokio::time::Instant::now() + Duration::from_secs(self.seconds.into());
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(until) => return (answers, sent),
                _ = every.tick(), if sent < total => {
                    let (to, now) = (at[sent % at.len()], store.now());
                    let cmd_id = Uuid::new_v4();
                    let cmd = DeviceCommand {
                        idmesin: to.idmesin,
                        cmd_id,
                        epoch: 1,
                        op: Op::Start,
                        duration_s: RUN_S,
                        pulses: None,
                        exp: now.plus_ms(COMMAND_TTL_MS),
                        held_here: true,
                    };
                    waiting.insert(cmd_id, Instant::now());
                    let _ = mqtt.command(to, cmd);
                    sent += 1;
                }
                // Whatever it is: what this arm does not take, it would not look at again before the next start.
                Some(ReceivedEvent { event, .. }) = received.recv() => {
                    // A device reports its run before it acknowledges the start.
                    let started = match event {
                        DeviceEvent::Ack { cmd_id, .. } => Some(cmd_id),
                        DeviceEvent::State { run, .. } => run.map(|run| run.cmd_id),
                    };
                    if let Some(since) = started.and_then(|cmd_id| waiting.remove(&cmd_id)) {
                        answers.add(since.elapsed());
                    }
                }
            }
        }
    }

    fn figures(&self, rows: &[Row], bought: &BoughtOverMqtt) -> Figures {
        let mut text = vec![
            "| | server, % of a core | KiB a device | start→ack p50 / p99 / max ms | answered | all back after a cut |"
                .to_owned(),
            "|---|---|---|---|---|---|".to_owned(),
        ];
        for row in rows {
            let ms = |quantile| row.answers.ms(quantile);
            text.push(format!(
                "| {} | {:.2} | {:.1} | {:.2} / {:.2} / {:.2} | {} of {} | {} |",
                row.name,
                row.own,
                row.kib_each,
                ms(0.5),
                ms(0.99),
                ms(1.0),
                row.answers.len(),
                row.sent,
                row.back.map_or_else(
                    || format!("not within {} s", BACK_WITHIN.as_secs()),
                    |back| format!("{:.1} s", back.as_secs_f64())
                ),
            ));
        }
        let ms = |quantile| bought.times.ms(quantile);
        text.push(String::new());
        text.push(format!(
            "The whole server, where each start is a purchase over HTTP: {:.2} % of a core and PostgreSQL {:.2} %, paid in {:.2} / {:.2} / {:.2} ms, {} of {}.",
            bought.server,
            bought.postgres,
            ms(0.5),
            ms(0.99),
            ms(1.0),
            bought.times.len(),
            bought.total,
        ));
        let Undecided { total, times } = &bought.undecided;
        let ms = |quantile| times.ms(quantile);
        text.push(String::new());
        text.push(format!(
            "Paid for just after the lines had died without a word, and undecided when they came back {} s later: decided in PostgreSQL \
             {:.0} / {:.0} / {:.0} ms (p50 / p99 / max) after the devices began to connect, {} of {} (aim: 2 s).",
            undecided::AWAY.as_secs(),
            ms(0.5),
            ms(0.99),
            ms(1.0),
            times.len(),
            total,
        ));
        Figures {
            title: format!("{} devices over MQTT, {} starts a second", self.devices, self.rate),
            body: text.join("\n") + "\n",
        }
    }
}

/// What a measurement needs of the world.
struct World<'a> {
    keys: &'a Arc<Keys>,
    at: &'a [Location],
    ca: &'a Path,
    scratch: &'a Scratch,
}

/// Waits until `n` devices are reachable. `None`: not in time.
async fn until(metrics: &DeviceMetrics, all: i64) -> Option<()> {
    let here = async {
        while metrics.online.get() < all {
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(BACK_WITHIN, here).await.ok()
}
