//! What stands behind a machine. A driver takes commands and never blocks; what its devices say comes back over one bounded channel
//! and is brought to the machines' actors.

mod journal;
pub mod memory;
pub mod mqtt;
mod question;
pub mod record;
pub mod relay;
pub mod sim;

use std::sync::Arc;
use std::time::Duration;

use actix_socketio::host::vital;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::timestamp::{Clock, Timestamp};
use nyala_core::purchase::device::{Command, DeviceEvent};
use nyala_core::purchase::step::Purchase;
use prometheus_client::metrics::counter::Counter;
use tokio::sync::{mpsc, oneshot};

use super::actor::MachineInput;
use super::error::MachineError;
use super::machines::{Location, Machines};

/// Words that may wait until they are brought to their actors.
const WORDS: usize = 8_192;
/// How long somebody who scans a machine waits for its device.
const PROBE_WITHIN: Duration = Duration::from_millis(mqtt::conversation::PROBE_MS.unsigned_abs());

/// Speaks with all devices of one kind.
pub trait Driver: Send + Sync + 'static {
    /// Called once, before any machine is bought from. What devices say goes into `uplink`, from any thread.
    ///
    /// # Errors
    /// When there is no thread or no port to be had: the server does not start.
    fn start(&self, uplink: Uplink) -> std::io::Result<()>;

    /// Sends a command on its way to the device of `to`. Never blocks, and promises nothing: a command may be lost anywhere, and the
    /// purchase's rules send it again.
    ///
    /// # Errors
    /// When it is known not to have left.
    fn command(&self, to: Location, cmd: Command) -> Result<(), Lost>;

    /// The open purchase of `to` as it was found in the store, before any command about it; or the last one, where staff are waited for.
    fn recall(&self, _to: Location, _purchase: &Purchase) {}

    /// Whether the device is connected to this very server, so that no other one can speak with it.
    fn holds(&self, _of: Location) -> bool {
        false
    }

    /// Closes the lines of all devices that are connected to this very server.
    fn send_away(&self) {}

    /// The machines whose devices have come to this very server since this was last asked, among several servers.
    fn arrived(&self) -> Vec<i64> {
        Vec::new()
    }

    /// Asks whether a device can be reached. `None`, and no answer: what is stored counts.
    fn probe(&self, _of: Location, _asks: Asks) -> Option<oneshot::Receiver<bool>> {
        None
    }
}

/// Why it is asked whether a device can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// Somebody has scanned the machine: nobody waits for the device's answer.
    Scan,
    /// Somebody pays, and waits for it.
    Payment,
    /// There was none.
    Afterwards,
}

/// There was no room for it, or nobody to take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no room on the way to the devices")]
pub struct Lost;

/// The drivers of this server, by what they drive.
#[derive(Clone, Default)]
pub struct Drivers {
    sim: Option<Arc<dyn Driver>>,
    mqtt: Option<Arc<dyn Driver>>,
}

impl Drivers {
    /// With `driver` for machines of this kind.
    pub fn with(mut self, kind: DriverKind, driver: Arc<dyn Driver>) -> Self {
        match kind {
            DriverKind::Sim => self.sim = Some(driver),
            DriverKind::Mqtt => self.mqtt = Some(driver),
        }
        self
    }

    /// With `driver` for machines of this kind, unless they have one.
    pub fn or<D: Driver>(self, kind: DriverKind, driver: &Arc<D>) -> Self {
        if self.get(kind).is_some() { self } else { self.with(kind, driver.clone()) }
    }

    /// [`Driver::arrived`], of all of them.
    pub fn arrived(&self) -> Vec<i64> {
        DriverKind::ALL.into_iter().filter_map(|kind| self.get(kind)).flat_map(Driver::arrived).collect()
    }

    /// [`Driver::send_away`], of all of them.
    pub fn send_away(&self) {
        DriverKind::ALL.into_iter().filter_map(|kind| self.get(kind)).for_each(Driver::send_away);
    }

    pub fn get(&self, kind: DriverKind) -> Option<&dyn Driver> {
        match kind {
            DriverKind::Sim => self.sim.as_deref(),
            DriverKind::Mqtt => self.mqtt.as_deref(),
        }
    }
}

/// Something that a device said.
#[derive(Debug)]
pub struct Heard {
    pub from: Location,
    pub event: DeviceEvent,
    /// When it arrived at this server.
    pub at: Timestamp,
}

/// The way of the devices' words into the server.
#[derive(Debug, Clone)]
pub struct Uplink {
    words: mpsc::Sender<Heard>,
    clock: Clock,
    lost: Counter,
}

impl Uplink {
    /// One whose words nobody brings to machines: for programs that measure a driver.
    pub fn channel(clock: Clock, room: usize) -> (Self, mpsc::Receiver<Heard>) {
        Self::new(clock, Counter::default(), room)
    }

    fn new(clock: Clock, lost: Counter, room: usize) -> (Self, mpsc::Receiver<Heard>) {
        let (words, heard) = mpsc::channel(room);
        (Self { words, clock, lost }, heard)
    }

    /// A device has just said something. Never blocks: beyond the bound it is lost, as on any network, and a query brings it again.
    pub fn heard(&self, from: Location, event: DeviceEvent) {
        if let Err(mpsc::error::TrySendError::Full(lost)) = self.words.try_send(Heard { from, event, at: self.now() }) {
            self.lost.inc();
            tracing::warn!(error = "too many wait", idmesin = lost.from.idmesin, "a device's word is lost");
        }
    }

    /// The time by the server's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// Starts every driver, and brings what their devices say to the actors from then on.
pub fn start(machines: &Machines) -> std::io::Result<()> {
    let parts = machines.parts();
    let (uplink, heard) = Uplink::new(parts.store.clock.clone(), parts.metrics.device_words_lost.clone(), WORDS);
    let away = (!machines.ownership().is_alone()).then(|| relay::start(machines));
    vital::spawn("devices", deliver_forever(machines.clone(), heard, away));
    DriverKind::ALL.into_iter().filter_map(|kind| parts.drivers.get(kind)).try_for_each(|driver| driver.start(uplink.clone()))
}

/// Gives a command to the machine's driver.
pub fn command(machines: &Machines, to: Location, mut cmd: Command) {
    // Among several servers, another one may have said something of it to the device.
    cmd.held_here &= machines.ownership().is_alone();
    let Some(driver) = machines.parts().drivers.get(to.driver) else {
        let error = to.driver.as_str();
        return tracing::error!(error, idmesin = to.idmesin, "no such driver; the command is not sent");
    };
    if let Err(lost) = driver.command(to, cmd) {
        machines.metrics().device_commands_lost.inc();
        tracing::warn!(error = %lost, idmesin = to.idmesin, "a command is lost; it is sent again when no answer comes");
    }
}

/// Tells the machine's driver what was found in the store.
pub fn recall(machines: &Machines, to: Location, purchase: &Purchase) {
    if let Some(driver) = machines.parts().drivers.get(to.driver) {
        driver.recall(to, purchase);
    }
}

/// Whether the machine's device can be reached, when somebody scans it; it is asked what it does. `None`: what is stored counts.
pub async fn scan(machines: &Machines, of: Location) -> Option<bool> {
    probe(machines, of, Asks::Scan).await?
}

/// Whether money may be held for the machine's device: it has said something just now, to whichever server it is connected to. `None`: what
/// is stored counts.
pub async fn is_ready(machines: &Machines, of: Location) -> Option<bool> {
    match is_ready_here(machines, of).await {
        None if of.driver == DriverKind::Mqtt && !machines.ownership().is_alone() => question::ask(machines, of).await,
        here => here,
    }
}

/// The same of a device that is connected to this very server. `None`: it is not.
async fn is_ready_here(machines: &Machines, of: Location) -> Option<bool> {
    match probe(machines, of, Asks::Payment).await? {
        Some(answered) => Some(answered),
        None => {
            machines.metrics().devices.probe("silent");
            Some(probe(machines, of, Asks::Afterwards).await.flatten().unwrap_or(false))
        }
    }
}

/// `Some(None)`: there was no answer in time.
async fn probe(machines: &Machines, of: Location, asks: Asks) -> Option<Option<bool>> {
    let answer = machines.parts().drivers.get(of.driver)?.probe(of, asks)?;
    match tokio::time::timeout(PROBE_WITHIN, answer).await {
        Ok(answered) => answered.ok().map(Some),
        Err(_) => Some(None),
    }
}

/// Words of machines that another server decides about go to `away`.
async fn deliver_forever(machines: Machines, mut words: mpsc::Receiver<Heard>, away: Option<mpsc::Sender<Heard>>) {
    while let Some(heard) = words.recv().await {
        let idmesin = heard.from.idmesin;
        if let Some(away) = away.as_ref().filter(|_| !machines.ownership().owns(heard.from.idoutlet)) {
            if away.try_send(heard).is_err() {
                machines.metrics().device_words_lost.inc();
            }
            continue;
        }
        if let Err(e) = deliver(&machines, heard) {
            machines.metrics().device_words_lost.inc();
            tracing::warn!(error = %e, idmesin, "a device's word is lost: its machine takes no more");
        }
    }
}

/// Brings a device's word to its machine's actor.
pub fn deliver(machines: &Machines, Heard { from, event, at }: Heard) -> Result<(), MachineError> {
    let told = match event {
        // It is about an open purchase, whose machine has an actor: with none there is nobody whom it concerns.
        DeviceEvent::Ack { .. } => machines.tell_if_present(from.idmesin, MachineInput::Said(event)).map(drop),
        // Whether a machine is online, waits for staff or runs unpaid is kept on record by its actor, which is made for it. A driver
        // that hears the same of thousands of idle machines says only what is new.
        DeviceEvent::State { .. } => machines.tell(&from, MachineInput::Said(event)),
    };
    machines.device_heard(from.idmesin, at);
    told
}

#[cfg(test)]
pub(crate) mod tests {
    use uuid::Uuid;

    use nyala_core::purchase::step::AckResult;

    use super::*;

    pub(crate) const T0: Timestamp = Timestamp::from_ms(1_000_000);

    pub(crate) fn machine(idmesin: i64) -> Location {
        Location { idmesin, idoutlet: 1, driver: DriverKind::Sim }
    }

    /// With the end that the server hears by, and what counts the words that found no room.
    pub(crate) fn uplink(room: usize) -> (Uplink, mpsc::Receiver<Heard>, Counter) {
        let lost = Counter::default();
        let (uplink, heard) = Uplink::new(Clock::standing_at(T0), lost.clone(), room);
        (uplink, heard, lost)
    }

    #[test]
    fn a_word_that_finds_no_room_is_lost_and_counted() {
        let (uplink, mut heard, lost) = uplink(2);
        for idmesin in 1..=3 {
            uplink.heard(machine(idmesin), DeviceEvent::Ack { cmd_id: Uuid::nil(), result: AckResult::Done });
        }
        let first = heard.try_recv().unwrap();
        assert_eq!((first.from, first.at, lost.get()), (machine(1), T0, 1));
        assert_eq!(heard.try_recv().unwrap().from, machine(2));
        heard.try_recv().unwrap_err();
    }
}
