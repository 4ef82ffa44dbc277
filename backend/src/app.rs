//! What every request and every actor shares, and how it is put together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::auth::AuthState;
use crate::config::ServerSettings;
use crate::db::pool::{Db, PoolLimits, StatementLimits};
use crate::db::writes::Writes;
use crate::db::{lock, migrate};
use crate::domain::driver_kind::DriverKind;
use crate::domain::timestamp::{Clock, Timestamp};
use crate::health::threads::Threads;
use crate::http::body::Room;
use crate::http::in_flight::InFlight;
use crate::live::hub::Hubs;
use crate::live::seats::Seats;
use crate::machine::device::Drivers;
use crate::machine::device::sim::Sim;
use crate::machine::registry::Registry;
use crate::metrics::ServerMetrics;
use crate::purchase::rate::PurchaseRate;
use crate::secrets::Secrets;
use crate::whatsapp::WhatsApp;

/// Cheap to clone; one for the whole process.
#[derive(Clone)]
pub struct AppState(Arc<Inner>);

pub struct Inner {
    pub config: ServerSettings,
    pub db: Db,
    /// Connections that each worker thread may have (`Db::widen`).
    pub connections_per_thread: usize,
    /// The connection of `machine::recovery` alone: it goes on while all others wait behind a lock.
    pub recovery: Db,
    /// Whether the database takes writes.
    pub writes: Writes,
    /// Whether the worker threads turn.
    pub threads: Threads,
    pub clock: Clock,
    pub secrets: Secrets,
    pub auth: AuthState,
    pub whatsapp: WhatsApp,
    pub metrics: ServerMetrics,
    pub machine: Registry,
    pub purchase_rate: PurchaseRate,
    pub hubs: Arc<Hubs>,
    pub seats: Arc<Seats>,
    /// The simulated devices (driver `sim`).
    pub sim: Arc<Sim>,
    /// Who speaks with the devices.
    pub drivers: Drivers,
    pub in_flight: InFlight,
    pub bodies: Room,
    /// False while starting and after SIGTERM: `/readyz` tells, and no purchase begins.
    ready: AtomicBool,
}

impl std::ops::Deref for AppState {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}

type StartError = Box<dyn std::error::Error + Send + Sync>;

impl AppState {
    /// Migrates the database at `url`, reads its clock and the keys, and puts the state together. Starts nothing.
    pub async fn build(config: ServerSettings, url: &str) -> Result<Self, StartError> {
        Self::build_with(config, url, None, Drivers::default()).await
    }

    /// The same with a clock of the caller's, from which every rule takes its time, and with drivers beside the simulated one or in
    /// its place.
    pub async fn build_with(
        config: ServerSettings,
        url: &str,
        clock: Option<Clock>,
        drivers: Drivers,
    ) -> Result<Self, StartError> {
        let ms = Duration::from_millis;
        let limits = PoolLimits {
            wait: ms(config.database.wait_ms),
            connect: ms(config.database.connect_ms),
            statement: Some(StatementLimits { whole: ms(config.database.statement_ms), lock: ms(config.database.lock_ms) }),
        };
        // Worker threads widen their share; what else runs has one connection to take turns on.
        let connections_per_thread = config.connections_per_thread()?;
        let db = Db::new(url, 1, limits)?;
        let recovery = db.apart();
        let (mut client, _lost) = lock::connect(db.config()).await?;
        migrate::run(&mut client).await?;
        let secrets = Secrets::load_or_create(&config.data.dir, has_rows(&client).await?)?;
        let clock = match clock {
            Some(clock) => clock,
            None => Clock::running_from(database_now(&client).await?),
        };
        let auth = AuthState::new(&secrets, &config)?;
        let whatsapp = WhatsApp::new(&config.whatsapp);
        let sim = Arc::new(Sim::open(&config.data.dir, (config.mesin.sim_min_ms, config.mesin.sim_max_ms))?);
        let drivers = match drivers.get(DriverKind::Sim) {
            Some(_) => drivers,
            None => drivers.with(DriverKind::Sim, sim.clone()),
        };
        let bodies = Room::new(config.http.unfinished_bodies_mb << 20);
        let (metrics, machine, ready) = (ServerMetrics::new(&db, &auth, &bodies), Registry::default(), AtomicBool::new(false));
        let (hubs, seats, in_flight) = (Arc::default(), Arc::default(), InFlight::default());
        let purchase_rate = PurchaseRate::new(config.purchase.per_customer_minute);
        Ok(Self(Arc::new(Inner {
            config,
            db,
            connections_per_thread,
            recovery,
            writes: Writes::default(),
            threads: Threads::default(),
            clock,
            secrets,
            auth,
            whatsapp,
            metrics,
            machine,
            purchase_rate,
            hubs,
            seats,
            sim,
            drivers,
            in_flight,
            bodies,
            ready,
        })))
    }

    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    pub fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
    }
}

/// The database's clock, which all instants derive from (docs/decisions/0016-a-countdown-is-a-deadline.md).
pub async fn database_now(client: &tokio_postgres::Client) -> Result<Timestamp, tokio_postgres::Error> {
    Ok(client.query_one("SELECT clock_timestamp()", &[]).await?.get(0))
}

/// Whether stickers or tokens may have been made for this database: then its keys must be there
/// (docs/decisions/0020-keys-lie-beside-the-data.md).
pub async fn has_rows(client: &tokio_postgres::Client) -> Result<bool, tokio_postgres::Error> {
    const ANY: &str = "SELECT EXISTS (SELECT FROM owner_usaha) OR EXISTS (SELECT FROM customer_global)";
    Ok(client.query_one(ANY, &[]).await?.get(0))
}
