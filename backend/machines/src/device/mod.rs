//! Devices behind the machines. A driver takes commands and never blocks. Messages from its devices come back over one bounded channel
//! and go to the machines' actors.

pub mod forward;
pub mod journal;
pub mod memory;
pub mod mqtt;
mod question;
pub mod record;
pub mod sim;

use std::sync::Arc;
use std::time::Duration;

use actix_socketio::host::vital;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{Command, DeviceEvent};
use nyala_core::purchase::step::Purchase;
use nyala_store::clock::Clock;
use prometheus_client::metrics::counter::Counter;
use tokio::sync::{mpsc, oneshot};

use super::error::MachineError;
use super::machines::{Location, Machines};
use nyala_core::machine::Input;

/// Maximum number of device messages that wait for delivery to their actors.
const MAX_WAITING: usize = 8_192;
/// How long a request that scans a machine waits for its device.
const PROBE_WITHIN: Duration = Duration::from_millis(mqtt::conversation::PROBE_MS.unsigned_abs());
/// Interval of checks whether a device's epoch is stored.
const RECORDED_EVERY: Duration = Duration::from_millis(20);

/// Driver of all devices of one kind.
pub trait Driver: Send + Sync + 'static {
    /// Starts the driver. Called once, before any purchase. Messages of its devices go into `uplink`, from any thread.
    ///
    /// # Errors
    /// When no thread or port is available: the server does not start.
    fn start(&self, uplink: Uplink) -> std::io::Result<()>;

    /// Queues a command for the device of `to`. Never blocks, and guarantees nothing: a command may be lost anywhere, and the purchase's
    /// rules send it again.
    ///
    /// # Errors
    /// When the command is known not to have been sent.
    fn command(&self, to: Location, cmd: Command) -> Result<(), CommandDropped>;

    /// Passes the stored open purchase of `to`, before any command about it; or the last one, when the machine waits for staff.
    fn recall(&self, _to: Location, _purchase: &Purchase) {}

    /// Whether the device is connected to this server, so that no other server can reach it.
    fn holds(&self, _of: Location) -> bool {
        false
    }

    /// Whether the epoch that the device has reported is stored. A hold before that may use an epoch that the device refuses.
    fn is_recorded(&self, _of: Location) -> bool {
        true
    }

    /// Closes the connections of all devices that are connected to this server.
    fn disconnect_all(&self) {}

    /// Machines whose devices have connected to this server since the last call; only in a cluster.
    fn arrived(&self) -> Vec<MachineId> {
        Vec::new()
    }

    /// Queries whether a device can be reached. `None`, or a channel without an answer: the stored presence counts.
    fn probe(&self, _of: Location, _reason: ProbeReason) -> Option<oneshot::Receiver<bool>> {
        None
    }
}

/// Reason for querying whether a device can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeReason {
    /// A customer has scanned the machine: no request waits for the device's answer.
    Scan,
    /// A customer pays, and the request waits for the answer.
    Payment,
    /// The device gave no answer in time.
    Afterwards,
}

/// The queue is full, or its receiver is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no room on the way to the devices")]
pub struct CommandDropped;

/// Drivers of this server, by kind.
#[derive(Clone, Default)]
pub struct Drivers {
    sim: Option<Arc<dyn Driver>>,
    mqtt: Option<Arc<dyn Driver>>,
}

impl Drivers {
    /// Sets `driver` for machines of this kind.
    pub fn with(mut self, kind: DriverKind, driver: Arc<dyn Driver>) -> Self {
        match kind {
            DriverKind::Sim => self.sim = Some(driver),
            DriverKind::Mqtt => self.mqtt = Some(driver),
        }
        self
    }

    /// Sets `driver` for machines of this kind, unless they have one.
    pub fn or<D: Driver>(self, kind: DriverKind, driver: &Arc<D>) -> Self {
        if self.get(kind).is_some() { self } else { self.with(kind, driver.clone()) }
    }

    /// [`Driver::arrived`] of all drivers.
    pub fn arrived(&self) -> Vec<MachineId> {
        DriverKind::ALL.into_iter().filter_map(|kind| self.get(kind)).flat_map(Driver::arrived).collect()
    }

    /// [`Driver::disconnect_all`] of all drivers.
    pub fn disconnect_all(&self) {
        DriverKind::ALL.into_iter().filter_map(|kind| self.get(kind)).for_each(Driver::disconnect_all);
    }

    pub fn get(&self, kind: DriverKind) -> Option<&dyn Driver> {
        match kind {
            DriverKind::Sim => self.sim.as_deref(),
            DriverKind::Mqtt => self.mqtt.as_deref(),
        }
    }
}

/// Message received from a device.
#[derive(Debug)]
pub struct ReceivedEvent {
    pub from: Location,
    pub event: DeviceEvent,
    /// When it arrived at this server.
    pub at: Timestamp,
}

/// Sending end of the channel for device messages.
#[derive(Debug, Clone)]
pub struct Uplink {
    messages: mpsc::Sender<ReceivedEvent>,
    clock: Clock,
    lost: Counter,
}

impl Uplink {
    /// Uplink whose messages go to no machine: for programs that measure a driver.
    pub fn channel(clock: Clock, room: usize) -> (Self, mpsc::Receiver<ReceivedEvent>) {
        Self::new(clock, Counter::default(), room)
    }

    fn new(clock: Clock, lost: Counter, room: usize) -> (Self, mpsc::Receiver<ReceivedEvent>) {
        let (messages, received) = mpsc::channel(room);
        (Self { messages, clock, lost }, received)
    }

    /// Queues a message that a device has just sent. Never blocks: when the queue is full, the message is dropped, as on any network, and
    /// a query brings it again.
    pub fn send(&self, from: Location, event: DeviceEvent) {
        if let Err(mpsc::error::TrySendError::Full(lost)) = self.messages.try_send(ReceivedEvent { from, event, at: self.now() })
        {
            self.lost.inc();
            tracing::warn!(idmesin = lost.from.idmesin.get(), "device message dropped: the queue to the machines is full");
        }
    }

    /// Current time of the server's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// Starts every driver. From then on, messages of their devices go to the actors.
pub fn start(machines: &Machines) -> std::io::Result<()> {
    let parts = machines.parts();
    let (uplink, received) = Uplink::new(parts.store.clock.clone(), parts.metrics.device_messages_dropped.clone(), MAX_WAITING);
    let forward_queue = (!machines.ownership().is_alone()).then(|| forward::start(machines));
    vital::spawn("devices", deliver_loop(machines.clone(), received, forward_queue));
    DriverKind::ALL.into_iter().filter_map(|kind| parts.drivers.get(kind)).try_for_each(|driver| driver.start(uplink.clone()))
}

/// Sends a command to the machine's driver.
pub fn command(machines: &Machines, to: Location, mut cmd: Command) {
    // In a cluster, another server may already have sent the device a command of this purchase.
    cmd.held_here &= machines.ownership().is_alone();
    let Some(driver) = machines.parts().drivers.get(to.driver) else {
        let error = to.driver.as_str();
        return tracing::error!(error, idmesin = to.idmesin.get(), "no such driver; the command is not sent");
    };
    if let Err(lost) = driver.command(to, cmd) {
        machines.metrics().device_commands_lost.inc();
        tracing::warn!(error = %lost, idmesin = to.idmesin.get(), "a command is lost; it is sent again when no answer comes");
    }
}

/// Passes a stored purchase to the machine's driver.
pub fn recall(machines: &Machines, to: Location, purchase: &Purchase) {
    if let Some(driver) = machines.parts().drivers.get(to.driver) {
        driver.recall(to, purchase);
    }
}

/// Whether the machine's device can be reached, for a scan. The device is also queried. `None`: the stored presence counts.
pub async fn scan(machines: &Machines, of: Location) -> Option<bool> {
    probe(machines, of, ProbeReason::Scan).await?
}

/// Whether money may be held for the machine's device: it has just sent a message, to any server. `None`: the stored presence counts.
pub async fn is_ready(machines: &Machines, of: Location) -> Option<bool> {
    match is_ready_here(machines, of).await {
        None if of.driver == DriverKind::Mqtt && !machines.ownership().is_alone() => question::ask(machines, of).await,
        here => here,
    }
}

/// Answers the same for a device that is connected to this server. `None`: it is not.
async fn is_ready_here(machines: &Machines, of: Location) -> Option<bool> {
    match probe(machines, of, ProbeReason::Payment).await? {
        Some(answered) => Some(answered && is_recorded(machines, of).await),
        None => {
            machines.metrics().devices.probe("silent");
            Some(probe(machines, of, ProbeReason::Afterwards).await.flatten().unwrap_or(false))
        }
    }
}

/// Waits until the epoch that the device has reported is stored; `false` when that takes too long.
async fn is_recorded(machines: &Machines, of: Location) -> bool {
    let Some(driver) = machines.parts().drivers.get(of.driver) else { return true };
    let recorded = async {
        while !driver.is_recorded(of) {
            tokio::time::sleep(RECORDED_EVERY).await;
        }
    };
    tokio::time::timeout(PROBE_WITHIN, recorded).await.is_ok()
}

/// Result of a probe; `Some(None)`: no answer came in time.
async fn probe(machines: &Machines, of: Location, reason: ProbeReason) -> Option<Option<bool>> {
    let answer = machines.parts().drivers.get(of.driver)?.probe(of, reason)?;
    match tokio::time::timeout(PROBE_WITHIN, answer).await {
        Ok(answered) => answered.ok().map(Some),
        Err(_) => Some(None),
    }
}

/// Delivers messages to actors. Messages for remote machines go to `forward_queue`.
async fn deliver_loop(
    machines: Machines,
    mut messages: mpsc::Receiver<ReceivedEvent>,
    forward_queue: Option<mpsc::Sender<ReceivedEvent>>,
) {
    while let Some(received) = messages.recv().await {
        let idmesin = received.from.idmesin;
        if let Some(forward_queue) = forward_queue.as_ref().filter(|_| !machines.ownership().owns(received.from.idoutlet)) {
            if forward_queue.try_send(received).is_err() {
                machines.metrics().device_messages_dropped.inc();
            }
            continue;
        }
        if let Err(e) = deliver(&machines, received) {
            machines.metrics().device_messages_dropped.inc();
            tracing::warn!(error = %e, idmesin = idmesin.get(), "device message dropped: its machine's mailbox is full");
        }
    }
}

/// Delivers a device's message to its machine's actor.
pub fn deliver(machines: &Machines, ReceivedEvent { from, event, at }: ReceivedEvent) -> Result<(), MachineError> {
    let delivered = match event {
        // An ack concerns an open purchase, whose machine has an actor. Without an actor there is nothing to do.
        DeviceEvent::Ack { .. } => machines.send_if_present(from.idmesin, Input::Device(event)).map(drop),
        // The actor records whether a machine is online, waits for staff or runs unpaid, so it is made when missing. A driver reports
        // only changes of idle machines, of which there are thousands.
        DeviceEvent::State { .. } => machines.send(&from, Input::Device(event)),
    };
    machines.record_device_message(from.idmesin, at);
    delivered
}

#[cfg(test)]
pub(crate) mod tests {
    use uuid::Uuid;

    use nyala_core::purchase::device::AckResult;

    use nyala_core::domain::id::OutletId;

    use super::*;

    pub(crate) const T0: Timestamp = Timestamp::from_ms(1_000_000);

    pub(crate) fn machine(id: i64) -> Location {
        Location { idmesin: MachineId::new(id), idoutlet: OutletId::new(1), driver: DriverKind::Sim }
    }

    /// Uplink with its receiving end, and the counter of messages that were dropped because it was full.
    pub(crate) fn uplink(room: usize) -> (Uplink, mpsc::Receiver<ReceivedEvent>, Counter) {
        let lost = Counter::default();
        let (uplink, received) = Uplink::new(Clock::standing_at(T0), lost.clone(), room);
        (uplink, received, lost)
    }

    #[test]
    fn a_message_without_room_is_dropped_and_counted() {
        let (uplink, mut received, lost) = uplink(2);
        for idmesin in 1..=3 {
            uplink.send(machine(idmesin), DeviceEvent::Ack { cmd_id: Uuid::nil(), result: AckResult::Done });
        }
        let first = received.try_recv().unwrap();
        assert_eq!((first.from, first.at, lost.get()), (machine(1), T0, 1));
        assert_eq!(received.try_recv().unwrap().from, machine(2));
        received.try_recv().unwrap_err();
    }
}
