//! Device of the fleet: its stage, and when it must be processed next.

use super::Key;
use super::connection::DeviceConnection;
use super::fault::{Fault, Faults};
use super::machine::Machine;
use crate::model::{Device, Outgoing};
use nyala_machines::device::mqtt::message::DeviceMessage;
use nyala_machines::device::mqtt::socket::Socket;

/// Keep-alive that a device requests: it is never silent for longer.
pub(super) const KEEP_ALIVE_MS: i64 = 30_000;
/// Silence of the server after which the device sends a ping …
const SILENCE_MS: i64 = 60_000;
/// … and how long it waits for the answer.
const ANSWER_MS: i64 = 15_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Absent: the second device of a key, after it was removed.
    Off,
    /// Without power.
    PowerOff,
    /// Waits before the next attempt to connect.
    Pausing,
    Queued,
    Connecting,
    LoggingIn,
    Subscribing,
    Live,
    /// Connected, but nothing arrives in either direction.
    HalfOpen,
}

impl Stage {
    pub fn is_connecting(self) -> bool {
        matches!(self, Self::Connecting | Self::LoggingIn | Self::Subscribing)
    }
}

pub(super) struct Member {
    pub key: Key,
    /// The device uses another one's key, and its memory is not stored.
    pub is_clone: bool,
    pub model: Device,
    pub machine: Machine,
    pub booted_at: i64,
    pub faults: Faults,
    pub stage: Stage,
    /// End of the stage, if it has one.
    pub until: i64,
    /// Attempts to connect that have failed in a row.
    pub tries: u32,
    pub was_live: bool,
    pub connection: Option<DeviceConnection>,
    /// Connection that was not closed: the power was cut, or the network in between.
    pub unclosed: Option<Socket>,
    pub sent_at: i64,
    pub received_at: i64,
    /// When the device sent a ping that is not answered yet.
    pub pinged_at: Option<i64>,
    /// When the device loses its connection or its power the next time.
    pub next_fault_at: Option<i64>,
    /// Until then the device holds back its messages about a start.
    pub late_until: i64,
    pub delayed: Vec<(i64, Outgoing)>,
    /// Message that waits for the next one to overtake it, at most until then.
    pub held_back: Option<(i64, DeviceMessage)>,
    /// When the device is processed next.
    pub armed: Option<i64>,
    /// Runs that the device has started.
    pub starts: u64,
}

impl Member {
    pub fn new(key: Key, model: Device) -> Self {
        Self {
            key,
            is_clone: false,
            model,
            machine: Machine::default(),
            booted_at: 0,
            faults: Faults::default(),
            stage: Stage::Queued,
            until: 0,
            tries: 0,
            was_live: false,
            connection: None,
            unclosed: None,
            sent_at: 0,
            received_at: 0,
            pinged_at: None,
            next_fault_at: None,
            late_until: 0,
            delayed: Vec::new(),
            held_back: None,
            armed: None,
            starts: 0,
        }
    }

    pub fn up_ms(&self, now: i64) -> i64 {
        now - self.booted_at
    }

    pub fn has_power(&self) -> bool {
        !matches!(self.stage, Stage::Off | Stage::PowerOff)
    }

    /// Whether the device should have a connection.
    pub fn is_expected(&self) -> bool {
        self.stage != Stage::Off && !self.faults.has(Fault::HalfOpen)
    }

    /// When the device must be processed next.
    pub fn due(&self) -> Option<i64> {
        let of_connection = match self.stage {
            Stage::Off | Stage::Queued | Stage::HalfOpen => None,
            Stage::Live => Some((self.sent_at + KEEP_ALIVE_MS).min(self.silent_at())),
            _ => Some(self.until),
        };
        let of_board =
            self.model.tick_at().map(|up_ms| self.booted_at + up_ms).into_iter().chain(self.machine.due(self.faults)).min();
        let of_board = of_board.filter(|_| self.has_power());
        let delayed = self.delayed.first().map(|(at, _)| *at);
        let held_back = self.held_back.as_ref().map(|(at, _)| *at);
        [of_connection, of_board, delayed, held_back, self.next_fault_at].into_iter().flatten().min()
    }

    /// When the server has been silent for too long: to send a ping, or to give up after one.
    pub fn silent_at(&self) -> i64 {
        self.pinged_at.map_or(self.received_at + SILENCE_MS, |at| at + ANSWER_MS)
    }
}
