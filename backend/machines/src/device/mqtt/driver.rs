//! Driver of machines whose devices connect to this server by MQTT.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use actix_socketio::host::vital;
use nyala_cluster::Ownership;
use nyala_core::domain::id::{DeviceKeyId, MachineId, OutletId};
use nyala_core::purchase::device::Command;
use nyala_core::purchase::step::Purchase;
use nyala_store::config::MqttSettings;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval};

use super::coins::CoinCounts;
use super::conversation::Trouble;
use super::devices::{ProbeRequest, Request};
use super::endpoint::{self, Shared, ThreadCommand};
use super::logins::Revocations;
use super::metrics::{DeviceMetrics, Refused};
use super::presence::Presence;
use super::reports::Reports;
use super::signal::{SignalNow, Signals};
use super::tls::{DeviceTls, TlsError};
use super::trouble;
use crate::device::{CommandDropped, Driver, ProbeReason, Uplink};
use crate::machines::Location;

/// How often revoked keys are read: the command that revokes runs in another process.
const REVOKED_EVERY: Duration = Duration::from_millis(500);

/// All devices over MQTT of this server.
pub struct Mqtt {
    store: Store,
    ownership: Ownership,
    reports: Arc<Reports>,
    endpoint: Arc<Shared>,
    troubles: Mutex<Option<mpsc::Receiver<(Location, Trouble)>>>,
}

impl Mqtt {
    /// A driver that is not started yet. With `tls`, devices connect over TLS.
    pub fn new(
        store: Store,
        ownership: Ownership,
        metrics: DeviceMetrics,
        tls: Option<DeviceTls>,
        settings: &MqttSettings,
    ) -> Self {
        let (troubles, received_troubles) = trouble::channel(metrics.clone());
        let presence = Presence::new(metrics.clone(), ownership.clone(), store.now());
        let (signals, coins) = (Signals::default(), CoinCounts::default());
        let reports = Arc::new(Reports { metrics, presence, signals, coins, troubles, uplink: OnceLock::new() });
        let endpoint = Arc::new(Shared::new(store.clone(), reports.clone(), tls, settings));
        Self { store, ownership, reports, endpoint, troubles: Mutex::new(Some(received_troubles)) }
    }

    /// Whether a machine's device is connected to this server, and was not silent for long.
    pub fn is_connected(&self, idmesin: MachineId) -> bool {
        self.reports.presence.is_present(idmesin)
    }

    /// Certificates that devices with new keys trust, as PEM, when they are served with TLS.
    ///
    /// # Errors
    /// When the libraries reject a key, which should never happen.
    pub fn trusted(&self) -> Result<Option<String>, TlsError> {
        self.endpoint.tls.as_ref().map(DeviceTls::trusted).transpose()
    }

    /// Starts a worker thread's part of the endpoint. The returned handle takes connections that were accepted on that thread.
    ///
    /// # Errors
    /// When the kernel has no free descriptor.
    pub fn start_thread(&self) -> std::io::Result<AcceptedSender> {
        let orders = endpoint::start_thread(self.endpoint.clone())?;
        Ok(AcceptedSender { orders, metrics: self.reports.metrics.clone() })
    }

    /// What a device last reported to this server; `None`: it never was connected here.
    pub fn signal(&self, idmesin: MachineId) -> Option<SignalNow> {
        self.reports.signals.of(idmesin)
    }

    fn request(&self, idoutlet: OutletId, request: Request) -> Result<(), CommandDropped> {
        self.endpoint.order(idoutlet, ThreadCommand::Request(request))
    }
}

/// Handle with which a worker thread hands over the connections that it accepted.
#[derive(Debug, Clone)]
pub struct AcceptedSender {
    orders: mpsc::Sender<ThreadCommand>,
    metrics: DeviceMetrics,
}

impl AcceptedSender {
    /// Hands a connection over. Never blocks; a connection for a full queue is closed and counted.
    pub fn take(&self, stream: std::net::TcpStream) {
        if self.orders.try_send(ThreadCommand::Accepted(stream)).is_err() {
            self.metrics.refused(Refused::Crowded);
        }
    }
}

impl Driver for Mqtt {
    fn start(&self, uplink: Uplink) -> std::io::Result<()> {
        if let Some(received_troubles) = self.troubles.lock().unwrap_or_else(PoisonError::into_inner).take() {
            vital::spawn("troubles", trouble::write_loop(self.store.clone(), received_troubles));
        }
        let (reports, of) = (self.reports.clone(), self.store.clone());
        vital::spawn("presence", async move { reports.presence.record_loop(of, reports.troubles.clone()).await });
        let (reports, of, ownership) = (self.reports.clone(), self.store.clone(), self.ownership.clone());
        vital::spawn("signals", async move { reports.signals.record_loop(of, ownership).await });
        let (reports, of) = (self.reports.clone(), self.store.clone());
        vital::spawn("coins", async move { reports.coins.record_loop(of).await });
        let _ = self.reports.uplink.set(uplink);
        // This task starts last, because it lets devices log in.
        vital::spawn("revocations", watch_keys(self.endpoint.clone()));
        Ok(())
    }

    fn command(&self, to: Location, cmd: Command) -> Result<(), CommandDropped> {
        self.request(to.idoutlet, Request::Send(to, cmd))
    }

    fn recall(&self, to: Location, purchase: &Purchase) {
        // If this is lost, the next state report replaces it. Only the early end of a run is not noticed then.
        let _ = self.request(to.idoutlet, Request::Recall(to, purchase.clone()));
    }

    fn is_recorded(&self, of: Location) -> bool {
        !self.reports.presence.has_new_epoch(of.idmesin)
    }

    fn holds(&self, of: Location) -> bool {
        self.reports.presence.is_present(of.idmesin)
    }

    fn arrived(&self) -> Vec<MachineId> {
        self.reports.presence.arrived()
    }

    fn disconnect_all(&self) {
        self.endpoint.disconnect_all();
    }

    fn probe(&self, of: Location, reason: ProbeReason) -> Option<oneshot::Receiver<bool>> {
        let (answer, answered) = oneshot::channel();
        self.request(of.idoutlet, Request::Probe(ProbeRequest { idmesin: of.idmesin, reason, answer })).ok()?;
        Some(answered)
    }
}

/// Closes the connections of revoked keys. Runs until the process ends.
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
        *revocations = Some(Revocations::begin(&*client).await?);
        shared.open();
        return Ok(());
    };
    let keys: Arc<[DeviceKeyId]> = since.next(&*client).await?.into();
    drop(client);
    if keys.is_empty() {
        return Ok(());
    }
    shared.revoke(&keys);
    for thread in shared.threads() {
        let _ = thread.send(ThreadCommand::Revoked(keys.clone())).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn a_connection_that_finds_no_room_is_closed_and_counted() {
        let (metrics, mut all, mut page) = (DeviceMetrics::default(), Registry::default(), String::new());
        metrics.register(&mut all);
        let (orders, mut taken) = mpsc::channel(1);
        let sender = AcceptedSender { orders, metrics };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut devices = [(); 2].map(|()| {
            let device = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            sender.take(listener.accept().unwrap().0);
            device
        });
        assert_eq!(devices[1].read(&mut [0]).unwrap(), 0, "it is closed");
        assert!(matches!(taken.try_recv(), Ok(ThreadCommand::Accepted(_))) && taken.try_recv().is_err());
        encode(&mut page, &all).unwrap();
        assert!(page.contains("device_logins_refused_total{reason=\"crowded\"} 1\n"), "{page}");
    }
}
