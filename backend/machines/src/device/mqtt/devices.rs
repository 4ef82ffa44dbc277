//! Devices of one thread: the conversation with each, and the requests that wait for its message.

use std::collections::HashMap;

use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::Command;
use nyala_core::purchase::step::Purchase;
use tokio::sync::oneshot;

use super::cmd::Cmd;
use super::conversation::{ConnectionId, Conversation, Effect, ProbeStep};
use super::reports::Reports;
use crate::device::ProbeReason;
use crate::machines::Location;

/// Maximum number of requests that wait for one device's message; further ones use the stored presence.
const MAX_WAITING: usize = 64;

/// Request of the server's machines to their devices.
#[derive(Debug)]
pub enum Request {
    Send(Location, Command),
    Recall(Location, Purchase),
    Probe(ProbeRequest),
}

/// Query whether a device can be reached; the answer is dropped when the stored presence counts.
#[derive(Debug)]
pub struct ProbeRequest {
    pub idmesin: MachineId,
    pub reason: ProbeReason,
    pub answer: oneshot::Sender<bool>,
}

#[derive(Debug, Default)]
pub struct Devices {
    /// In boxes, so that a table with room for more is not twice as large.
    devices: HashMap<MachineId, Box<KnownDevice>>,
}

#[derive(Debug)]
pub struct KnownDevice {
    pub location: Location,
    pub conversation: Conversation,
    waiting: Vec<oneshot::Sender<bool>>,
}

impl Devices {
    pub fn get(&mut self, idmesin: MachineId) -> Option<&mut KnownDevice> {
        self.devices.get_mut(&idmesin).map(AsMut::as_mut)
    }

    pub fn get_or_make(&mut self, location: Location) -> &mut KnownDevice {
        let device = || Box::new(KnownDevice { location, conversation: Conversation::default(), waiting: Vec::new() });
        self.devices.entry(location.idmesin).or_insert_with(device)
    }

    /// Devices that have been silent for too long.
    pub fn silent(&self, now: Timestamp) -> Vec<MachineId> {
        let silent = |device: &KnownDevice| device.conversation.silent_at().is_some_and(|at| at <= now);
        self.devices.iter().filter(|(_, device)| silent(device)).map(|(id, _)| *id).collect()
    }

    /// Carries out a request. Returns the device and the effects that remain to be carried out.
    pub fn request(&mut self, request: Request, reports: &Reports, now: Timestamp) -> Option<(MachineId, Vec<Effect>)> {
        match request {
            Request::Send(to, cmd) => Some((to.idmesin, self.get_or_make(to).conversation.send(&cmd, cmd.held_here, now))),
            Request::Recall(to, purchase) => {
                self.get_or_make(to).conversation.recall(to.idmesin, &purchase);
                None
            }
            Request::Probe(probe) => {
                let idmesin = probe.idmesin;
                let (connection, cmd) = self.probe(probe, reports, now)?;
                Some((idmesin, vec![Effect::Write(connection, cmd)]))
            }
        }
    }

    /// Probes a device for a scan or a payment. Returns the query to write, if one is needed.
    fn probe(&mut self, probe: ProbeRequest, reports: &Reports, now: Timestamp) -> Option<(ConnectionId, Cmd)> {
        let ProbeRequest { idmesin, reason, answer } = probe;
        if reports.presence.is_awaited(idmesin, now) {
            // Dropping the sender means that the stored presence counts.
            reports.metrics.probe("awaited");
            return None;
        }
        if reason == ProbeReason::Afterwards {
            let _ = answer.send(self.get(idmesin).is_some_and(|device| device.conversation.was_fresh(now)));
            return None;
        }
        let probed = self.get(idmesin).map_or(ProbeStep::Offline, |device| device.conversation.probe(now));
        reports.metrics.probe(match probed {
            ProbeStep::Fresh => "here",
            ProbeStep::Ask(..) => "asked",
            ProbeStep::Asked => "asked_before",
            ProbeStep::Offline => "away",
        });
        match (&probed, self.get(idmesin)) {
            (ProbeStep::Ask(..) | ProbeStep::Asked, Some(device)) if reason == ProbeReason::Payment => device.wait(answer),
            _ => _ = answer.send(probed != ProbeStep::Offline),
        }
        if let ProbeStep::Ask(connection, cmd) = probed { Some((connection, cmd)) } else { None }
    }
}

impl KnownDevice {
    /// Answers the request when the device has sent a message or has gone.
    fn wait(&mut self, answer: oneshot::Sender<bool>) {
        self.waiting.retain(|waiting| !waiting.is_closed());
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push(answer);
        }
    }

    /// Answers the waiting requests when the device's query is no longer in flight.
    pub fn answer(&mut self, now: Timestamp) {
        if !self.waiting.is_empty() && !self.conversation.is_asked(now) {
            let present = self.conversation.is_present();
            for waiting in self.waiting.drain(..) {
                let _ = waiting.send(present);
            }
        }
    }
}

/// Location of a machine over MQTT.
pub const fn location(idmesin: MachineId, idoutlet: OutletId) -> Location {
    Location { idmesin, idoutlet, driver: DriverKind::Mqtt }
}
