//! What is counted of devices over MQTT.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::conversation::{Grounds, Why};
use super::word::Word;

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Kind {
    kind: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Reason {
    reason: &'static str,
}

/// Why a word is not taken.
#[derive(Debug, Clone, Copy)]
pub enum Dropped {
    Disbelieved(Why),
    /// On a topic that is not the device's own.
    Foreign,
    /// No word of its topic.
    Malformed,
}

/// Why a login is refused.
#[derive(Debug, Clone, Copy)]
pub enum Refused {
    Wrong,
    /// After too many wrong ones.
    Limited,
    /// A will on somebody else's topic.
    Foreign,
    /// The database does not answer.
    Unavailable,
    /// No CONNECT of MQTT 3.1.1, or none in time.
    Protocol,
    /// Too many wait to be let in.
    Crowded,
}

/// Why the server closed a connection that had logged in.
#[derive(Debug, Clone, Copy)]
pub enum Closed {
    /// More waited to be sent than it may.
    Slow,
    Silent,
    /// Its key counts no more.
    Revoked,
    /// The server is cut off from its database.
    CutOff,
    /// Another one with its client id has come, or too many of its device.
    Replaced,
    /// It broke the protocol, or published on a foreign topic.
    Protocol,
    /// It said more than a device has to say.
    Flood,
}

/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct DeviceMetrics {
    pub connections: Gauge,
    /// Devices that can be reached.
    pub online: Gauge,
    words: Family<Kind, Counter>,
    dropped: Family<Reason, Counter>,
    told: Family<Reason, Counter>,
    refused: Family<Reason, Counter>,
    closed: Family<Reason, Counter>,
    troubles: Family<Kind, Counter>,
    probes: Family<Kind, Counter>,
}

impl DeviceMetrics {
    pub fn word(&self, word: &Word) {
        let kind = match word {
            Word::Ack(_) => "ack",
            Word::State(_) => "state",
            Word::Gone(_) => "gone",
            Word::Beat(_) => "hb",
        };
        self.words.get_or_create(&Kind { kind }).inc();
    }

    pub fn dropped(&self, why: Dropped) {
        let reason = match why {
            Dropped::Disbelieved(Why::Stale) => "stale",
            Dropped::Disbelieved(Why::Will) => "will",
            Dropped::Foreign => "foreign",
            Dropped::Malformed => "malformed",
        };
        self.dropped.get_or_create(&Reason { reason }).inc();
    }

    /// Something was told to a machine that was made of these grounds.
    pub fn told(&self, grounds: Grounds) {
        let reason = match grounds {
            Grounds::Ack => "ack",
            Grounds::Run => "run",
            Grounds::Last => "last",
            Grounds::Epoch => "epoch",
            Grounds::NotWritten => "not_written",
        };
        self.told.get_or_create(&Reason { reason }).inc();
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

    /// Somebody scanned a machine: `kind` is what its device was found to be.
    pub fn probe(&self, kind: &'static str) {
        self.probes.get_or_create(&Kind { kind }).inc();
    }

    pub fn register(&self, all: &mut Registry) {
        all.register("device_connections", "Connections of devices, logged in or not", self.connections.clone());
        all.register("devices_online", "Devices over MQTT that can be reached", self.online.clone());
        all.register("device_words", "What devices said, by kind", self.words.clone());
        all.register("device_words_dropped", "What devices said and was not believed, by reason", self.dropped.clone());
        all.register("device_told", "What machines were told of their devices, by what it was made of", self.told.clone());
        all.register("device_logins_refused", "Logins of devices that were refused, by reason", self.refused.clone());
        all.register("device_closed", "Devices' connections that the server closed, by reason", self.closed.clone());
        all.register("device_troubles", "Devices that somebody must look at, by kind", self.troubles.clone());
        all.register("device_probes", "Machines that were scanned, by what their device was found to be", self.probes.clone());
    }
}
