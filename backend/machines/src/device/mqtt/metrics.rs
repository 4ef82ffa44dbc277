//! Metrics of devices over MQTT.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::conversation::{DropReason, Grounds};
use super::message::DeviceMessage;

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Kind {
    kind: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Reason {
    reason: &'static str,
}

/// Reason why a message is not accepted.
#[derive(Debug, Clone, Copy)]
pub enum Dropped {
    Disbelieved(DropReason),
    /// On a topic of another device.
    Foreign,
    /// Not a valid message for its topic.
    Malformed,
}

/// Reason why a login is refused.
#[derive(Debug, Clone, Copy)]
pub enum Refused {
    Wrong,
    /// Too many wrong logins before.
    Limited,
    /// A will on the topic of another device.
    Foreign,
    /// The database does not answer.
    Unavailable,
    /// Not an MQTT 3.1.1 CONNECT, or none in time.
    Protocol,
    /// Too many connections wait for a login.
    Crowded,
}

/// Reason why the server closed a connection that had logged in.
#[derive(Debug, Clone, Copy)]
pub enum Closed {
    /// More bytes waited to be sent than the limit.
    Slow,
    Silent,
    /// Its key was revoked.
    Revoked,
    /// The server is cut off from its database.
    CutOff,
    /// A newer connection has the same client id, or the device has too many.
    Replaced,
    /// The device violated the protocol, or published on a foreign topic.
    Protocol,
    /// The device sent more packets than the limit.
    Flood,
}

/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct DeviceMetrics {
    pub connections: Gauge,
    /// Devices that can be reached.
    pub online: Gauge,
    messages: Family<Kind, Counter>,
    dropped: Family<Reason, Counter>,
    notified: Family<Reason, Counter>,
    refused: Family<Reason, Counter>,
    closed: Family<Reason, Counter>,
    troubles: Family<Kind, Counter>,
    probes: Family<Kind, Counter>,
}

impl DeviceMetrics {
    pub fn message_received(&self, message: &DeviceMessage) {
        let kind = match message {
            DeviceMessage::Ack(_) => "ack",
            DeviceMessage::State(_) => "state",
            DeviceMessage::Gone(_) => "gone",
            DeviceMessage::Heartbeat(_) => "hb",
        };
        self.messages.get_or_create(&Kind { kind }).inc();
    }

    pub fn dropped(&self, why: Dropped) {
        let reason = match why {
            Dropped::Disbelieved(DropReason::Stale) => "stale",
            Dropped::Disbelieved(DropReason::Will) => "will",
            Dropped::Foreign => "foreign",
            Dropped::Malformed => "malformed",
        };
        self.dropped.get_or_create(&Reason { reason }).inc();
    }

    /// Counts an event for a machine, by its grounds.
    pub fn event_sent(&self, grounds: Grounds) {
        let reason = match grounds {
            Grounds::Ack => "ack",
            Grounds::Run => "run",
            Grounds::Last => "last",
            Grounds::Epoch => "epoch",
            Grounds::NotWritten => "not_written",
        };
        self.notified.get_or_create(&Reason { reason }).inc();
    }

    pub fn refused(&self, why: Refused) {
        let reason = match why {
            Refused::Wrong => "wrong",
            Refused::Limited => "limited",
            Refused::Foreign => "foreign",
            Refused::Unavailable => "unavailable",
            Refused::Protocol => "protocol",
            Refused::Crowded => "crowded",
        };
        self.refused.get_or_create(&Reason { reason }).inc();
    }

    pub fn closed(&self, why: Closed) {
        let reason = match why {
            Closed::Slow => "slow",
            Closed::Silent => "silent",
            Closed::Revoked => "revoked",
            Closed::CutOff => "cut_off",
            Closed::Replaced => "replaced",
            Closed::Protocol => "protocol",
            Closed::Flood => "flood",
        };
        self.closed.get_or_create(&Reason { reason }).inc();
    }

    pub fn trouble(&self, kind: &'static str) {
        self.troubles.get_or_create(&Kind { kind }).inc();
    }

    /// Counts a probe; `kind` is its result.
    pub fn probe(&self, kind: &'static str) {
        self.probes.get_or_create(&Kind { kind }).inc();
    }

    pub fn register(&self, all: &mut Registry) {
        all.register("device_connections", "Connections of devices, logged in or not", self.connections.clone());
        all.register("devices_online", "Devices over MQTT that can be reached", self.online.clone());
        all.register("device_words", "Messages of devices, by kind", self.messages.clone());
        all.register("device_words_dropped", "Messages of devices that were not accepted, by reason", self.dropped.clone());
        all.register("device_told", "Events of devices for their machines, by the part of the message", self.notified.clone());
        all.register("device_logins_refused", "Logins of devices that were refused, by reason", self.refused.clone());
        all.register("device_closed", "Devices' connections that the server closed, by reason", self.closed.clone());
        all.register("device_troubles", "Troubles of devices that staff must look at, by kind", self.troubles.clone());
        all.register("device_probes", "Probes of devices, by result", self.probes.clone());
    }
}
