//! The server's parts, put together here and nowhere else.

pub mod devices;
pub mod files;
pub mod key_file;
mod listener;
mod metrics_port;
pub mod openapi;
pub mod router;
pub mod server;
mod unrouted;
pub mod waiting;

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::{Data, ServiceConfig};

use nyala_cluster::Ownership;
use nyala_cluster::metrics::ClusterMetrics;
use nyala_cluster::node::keys_of_servers;
use nyala_cluster::notifications::Notifier;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::OutletId;
use nyala_core::rate_limit::downloads::DownloadRate;
use nyala_core::rate_limit::purchases::PurchaseRate;
use nyala_identity::auth::Auth;
use nyala_identity::qr::customer::Pictures;
use nyala_identity::staff::Staff;
use nyala_identity::whatsapp::WhatsApp;
use nyala_machines::device::Drivers;
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_machines::device::mqtt::tls::DeviceTls;
use nyala_machines::device::sim::Sim;
use nyala_machines::machines::{MachineParts, Machines};
use nyala_machines::threads::Threads;
use nyala_store::clock::Clock;
use nyala_store::config::ServerSettings;
use nyala_store::db::pool::{Db, PoolLimits, StatementLimits};
use nyala_store::db::writes::Writes;
use nyala_store::db::{Store, clock, keys, late_clock, lock, migrate};
use nyala_store::secrets::Keyring;
use nyala_web::health::reasons::Reasons;
use nyala_web::http::admission::KnownCustomers;
use nyala_web::http::body::Room;
use nyala_web::http::cross_site;
use nyala_web::http::in_flight::InFlight;
use nyala_web::live::boards::Boards;
use nyala_web::live::customer_board::PublicBoard;
use nyala_web::live::hub::Hubs;
use nyala_web::live::sessions::SocketSessions;
use nyala_web::live::staff_board::StaffBoard;
use nyala_web::live::staff_board::StaffBoards;
use nyala_web::live::staff_sockets::StaffSockets;
use nyala_web::metrics::ServerMetrics;
use nyala_web::push::Push;
use nyala_web::qris::Qris;
use tokio::sync::broadcast;

/// One for the whole process.
pub struct AppState {
    pub config: Arc<ServerSettings>,
    pub store: Store,
    /// Connections that each worker thread may have (`Db::widen`).
    pub connections_per_thread: usize,
    /// Whether the database takes writes.
    pub writes: Writes,
    /// Whether the worker threads turn.
    pub threads: Threads,
    pub keyring: Keyring,
    pub auth: Arc<Auth>,
    pub staff: Arc<Staff>,
    pub whatsapp: WhatsApp,
    /// Pushes to browsers.
    pub push: Arc<Push>,
    /// Payments by QRIS.
    pub qris: Arc<Qris>,
    pub metrics: Arc<ServerMetrics>,
    pub machines: Machines,
    /// Change notifications between servers.
    pub notifier: Notifier,
    pub purchase_rate: Arc<PurchaseRate>,
    pub download_rate: Arc<DownloadRate>,
    pub hubs: Hubs,
    pub sessions: Arc<SocketSessions>,
    pub staff_sockets: Arc<StaffSockets>,
    pub boards: StaffBoards,
    /// What customers watch.
    pub public_boards: Boards<PublicBoard>,
    /// Outlets at whose machines something was committed here.
    pub changes: broadcast::Sender<OutletId>,
    /// The simulated devices (driver `sim`), and those over MQTT.
    pub sim: Arc<Sim>,
    pub mqtt: Arc<Mqtt>,
    pub in_flight: InFlight,
    pub bodies: Room,
    /// Customers whose payments are preferred under overload.
    pub known_customers: Arc<KnownCustomers>,
    /// Customers' codes of this minute.
    pub customer_codes: Pictures,
    /// Files of the app.
    pub built: files::Built,
    pub reasons: Reasons,
}

/// Changes that wait for the boards; more are found by looking.
const CHANGES_KEPT: usize = 1_024;

type StartError = Box<dyn std::error::Error + Send + Sync>;

impl AppState {
    /// Migrates the database at `url`, reads its clock and the keys, and puts the state together. Starts nothing.
    pub async fn build(config: ServerSettings, url: &str) -> Result<Arc<Self>, StartError> {
        Self::build_with(config, url, None, Drivers::default()).await
    }

    /// The same with a clock of the caller's, from which every rule takes its time, and with drivers beside the simulated one or in
    /// its place.
    pub async fn build_with(
        config: ServerSettings,
        url: &str,
        clock: Option<Clock>,
        drivers: Drivers,
    ) -> Result<Arc<Self>, StartError> {
        let ms = Duration::from_millis;
        let limits = PoolLimits {
            wait: ms(config.database.wait_ms),
            connect: ms(config.database.connect_ms),
            statement: Some(StatementLimits { whole: ms(config.database.statement_ms), lock: ms(config.database.lock_ms) }),
            admission: Some(config.database.admission_ms).filter(|target_ms| *target_ms > 0).map(ms),
        };
        // Worker threads widen their share; what else runs has one connection to take turns on.
        let connections_per_thread = config.connections_per_thread()?;
        let db = Db::new(url, 1, limits)?;
        let recovery = db.apart();
        let (mut client, _lost) = lock::connect(db.config()).await?;
        migrate::run(&mut client).await?;
        let keyring = Keyring::from(keys::load_or_create(&mut client, &config.data.dir).await?);
        if config.cluster.enabled {
            keyring.agree(keys_of_servers(&client).await?);
        }
        let clock = match clock {
            Some(clock) => clock,
            None => {
                let clock = clock::start(&client).await?;
                // It may be behind by less than what is waited for: nothing begins before what has happened.
                if let Some(behind) = late_clock::look(&client).await?.filter(|behind| !behind.is_far()) {
                    clock.set(behind.newest);
                }
                clock
            }
        };
        let store = Store { db, clock };
        let whatsapp = WhatsApp::new(&config.whatsapp);
        let cluster = ClusterMetrics::default();
        let ownership = match config.cluster.name() {
            None => Ownership::default(),
            Some(_) => Ownership::shared(cluster.clone(), Duration::from_secs(config.cluster.failover_s)),
        };
        let auth = Arc::new(Auth::new(keyring.clone(), &config, store.clone(), whatsapp.clone(), &ownership)?);
        let staff = Arc::new(Staff::new(store.clone(), auth.clone(), keyring.clone(), config.is_production()));
        let sim = Arc::new(Sim::open(&config.data.dir, (config.mesin.sim_min_ms, config.mesin.sim_max_ms))?);
        let bodies = Room::new(config.http.unfinished_bodies_mb << 20);
        let push = Arc::new(Push::new(keyring.clone(), &config.push, store.clone()));
        let metrics = ServerMetrics::new(&store.db, &auth, &bodies, cluster, push.metrics.clone(), config.backup.is_on());
        let qris = Arc::new(Qris::new(&config, store.clone(), metrics.qris.clone())?);
        qris.check_owners(&*store.get().await?).await?;
        let host = config.device_host().filter(|_| config.mqtt.tls);
        let tls = host.map(|host| DeviceTls::new(keyring.clone(), host)).transpose()?;
        let devices = metrics.machines.devices.clone();
        let notifier =
            config.cluster.nats()?.map_or_else(Notifier::default, |_| Notifier::new(metrics.cluster.notifications.clone()));
        let mqtt = Arc::new(Mqtt::new(store.clone(), ownership.clone(), devices, tls, &config.mqtt));
        let drivers = drivers.or(DriverKind::Sim, &sim).or(DriverKind::Mqtt, &mqtt);
        let (changes, _) = broadcast::channel(CHANGES_KEPT);
        let boards = Boards::new(store.clone(), StaffBoard { patience: config.attention.patience() });
        let public_boards = Boards::new(store.clone(), PublicBoard { mqtt: mqtt.clone() });
        let hubs = Hubs::new(metrics.realtime.clone());
        let machines = Machines::new(MachineParts {
            store: store.clone(),
            ownership,
            notifier: notifier.clone(),
            changes: changes.clone(),
            recovery,
            drivers,
            listeners: Arc::new(hubs.clone()),
            metrics: metrics.machines.clone(),
            idle: Duration::from_secs(config.mesin.idle_s.max(1)),
            ticks_per_second: config.dev.ticks_per_second,
            fault_point: config.dev.fault_point.clone(),
        });
        let purchase_rate = Arc::new(PurchaseRate::new(config.purchase.per_customer_minute));
        Ok(Arc::new(Self {
            config: Arc::new(config),
            store,
            connections_per_thread,
            writes: Writes::default(),
            threads: Threads::default(),
            keyring,
            auth,
            staff,
            whatsapp,
            push,
            qris,
            metrics: Arc::new(metrics),
            machines,
            notifier,
            purchase_rate,
            download_rate: Arc::default(),
            hubs,
            sessions: Arc::default(),
            staff_sockets: Arc::default(),
            boards,
            public_boards,
            changes,
            sim,
            mqtt,
            in_flight: InFlight::default(),
            bodies,
            known_customers: Arc::default(),
            customer_codes: Pictures::default(),
            built: files::Built::default(),
            reasons: Reasons::default(),
        }))
    }

    /// Gives each handler and middleware what it asks for by its type (`web::Data<Store>`, `web::Data<Machines>`, …).
    pub fn provide(&self, to: &mut ServiceConfig) {
        to.app_data(Data::new(self.store.clone()))
            .app_data(Data::new(self.writes.clone()))
            .app_data(Data::new(self.threads.clone()))
            .app_data(Data::new(self.machines.clone()))
            .app_data(Data::new(self.boards.clone()))
            .app_data(Data::new(self.public_boards.clone()))
            .app_data(Data::new(self.in_flight.clone()))
            .app_data(Data::new(self.bodies.clone()))
            .app_data(Data::new(self.reasons.clone()))
            .app_data(Data::new(self.config.http.clone()))
            .app_data(Data::new(self.customer_codes.clone()))
            .app_data(Data::new(self.built.clone()))
            .app_data(Data::new(self.metrics.http.clone()))
            .app_data(Data::new(cross_site::origins(&self.config.http)))
            .app_data(Data::from(self.config.clone()))
            .app_data(Data::new(self.keyring.clone()))
            .app_data(Data::from(self.known_customers.clone()))
            .app_data(Data::from(self.auth.clone()))
            .app_data(Data::from(self.staff.clone()))
            .app_data(Data::new(self.whatsapp.clone()))
            .app_data(Data::from(self.push.clone()))
            .app_data(Data::from(self.qris.clone()))
            .app_data(Data::from(self.metrics.clone()))
            .app_data(Data::from(self.purchase_rate.clone()))
            .app_data(Data::from(self.download_rate.clone()))
            .app_data(Data::from(self.sim.clone()))
            .app_data(Data::from(self.mqtt.clone()));
    }
}
