//! The driver of machines whose devices speak MQTT with this server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix_socketio::host::vital;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval};

use super::conversation::Trouble;
use super::endpoint::{self, Order, Probe, Shared};
use super::logins::Revocations;
use super::metrics::DeviceMetrics;
use super::tls::{Authority, TlsError};
use super::trouble;
use crate::db::Store;
use crate::db::error::DbError;
use crate::machine::device::{Driver, Lost, Uplink};
use crate::machine::machines::Location;
use crate::purchase::device::Command;
use crate::purchase::step::Purchase;

/// How often keys that count no more are looked for: the command that revokes is another process.
const REVOKED_EVERY: Duration = Duration::from_millis(500);

/// All devices over MQTT of this server.
pub struct Mqtt {
    shared: Arc<Shared>,
    authority: Option<Authority>,
    troubles: Mutex<Option<mpsc::Receiver<(Location, Trouble)>>>,
}

impl Mqtt {
    /// One that nobody has connected to. With an `authority`, `host` is served with TLS.
    ///
    /// # Errors
    /// When no certificate could be for `host`.
    pub fn new(
        store: Store,
        metrics: DeviceMetrics,
        authority: Option<Authority>,
        host: Option<&str>,
        most_connections: usize,
    ) -> Result<Self, TlsError> {
        let (troubles, told) = trouble::channel(metrics.clone());
        let tls = authority.as_ref().zip(host).map(|(authority, host)| authority.server(host)).transpose()?;
        let shared = Arc::new(Shared::new(store, metrics, troubles, tls, most_connections));
        Ok(Self { shared, authority, troubles: Mutex::new(Some(told)) })
    }

    /// Whom devices trust, where they are served with TLS.
    pub fn authority(&self) -> Option<&Authority> {
        self.authority.as_ref()
    }

    /// Begins a worker thread's part; what is returned takes the connections that are accepted on it.
    ///
    /// # Errors
    /// When the kernel has no descriptor to spare.
    pub fn start_thread(&self) -> std::io::Result<Door> {
        endpoint::start_thread(self.shared.clone()).map(Door)
    }
}

/// Where a worker thread gives what it has accepted.
#[derive(Debug, Clone)]
pub struct Door(mpsc::Sender<Order>);

impl Door {
    /// Never blocks; a connection that finds no room is closed.
    pub fn take(&self, stream: std::net::TcpStream) {
        let _ = self.0.try_send(Order::Accepted(stream));
    }
}

impl Driver for Mqtt {
    fn start(&self, uplink: Uplink) -> std::io::Result<()> {
        let store = self.shared.store.clone();
        if let Some(told) = self.troubles.lock().unwrap_or_else(PoisonError::into_inner).take() {
            vital::spawn("troubles", trouble::write_forever(store.clone(), told));
        }
        let shared = self.shared.clone();
        let of = store.clone();
        vital::spawn("presence", async move { shared.presence.record_forever(of).await });
        let _ = self.shared.uplink.set(uplink);
        // Last: it opens the door.
        vital::spawn("revocations", watch_keys(self.shared.clone()));
        Ok(())
    }

    fn command(&self, to: Location, cmd: Command) -> Result<(), Lost> {
        self.shared.order(to.idoutlet, Order::Say(to, cmd))
    }

    fn recall(&self, to: Location, purchase: &Purchase) {
        // What it would have known, a state tells; only a run that ends early goes unnoticed.
        let _ = self.shared.order(to.idoutlet, Order::Recall(to, purchase.clone()));
    }

    fn probe(&self, of: Location, waits: bool) -> Option<oneshot::Receiver<bool>> {
        let (answer, answered) = oneshot::channel();
        self.shared.order(of.idoutlet, Order::Probe(Probe { idmesin: of.idmesin, waits, answer })).ok()?;
        Some(answered)
    }
}

/// Closes the connections of keys that count no more. Runs until the process ends.
async fn watch_keys(shared: Arc<Shared>) {
    let mut every = interval(REVOKED_EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut revocations = None;
    loop {
        every.tick().await;
        if let Err(e) = close_revoked(&shared, &mut revocations).await {
            tracing::warn!(error = %e, "which keys of devices count no more cannot be read; it will be tried again");
        }
    }
}

async fn close_revoked(shared: &Shared, revocations: &mut Option<Revocations>) -> Result<(), DbError> {
    let client = shared.store.get().await?;
    let Some(since) = revocations else {
        *revocations = Some(Revocations::begin(&client).await?);
        shared.open();
        return Ok(());
    };
    let keys: Arc<[i64]> = since.next(&client).await?.into();
    drop(client);
    if keys.is_empty() {
        return Ok(());
    }
    shared.revoke(&keys);
    for thread in shared.threads() {
        let _ = thread.send(Order::Revoked(keys.clone())).await;
    }
    Ok(())
}
