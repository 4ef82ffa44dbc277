//! Commands to a device and its messages (docs/contract.md §6).

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::domain::id::MachineId;
use crate::domain::timestamp::Timestamp;

/// Command to the device, sent after the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    Start,
    Query,
    Stop,
}

/// Coin pulses that start a machine which runs its own cycle (docs/contract.md §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pulses {
    /// How many, each worth a coin.
    pub n: i32,
    /// How long the contact is closed for each, in milliseconds.
    pub width_ms: i32,
    /// How long it is open after each, in milliseconds.
    pub gap_ms: i32,
    /// Seconds without the running signal after which the machine has ended.
    pub sense_s: i32,
}

impl Pulses {
    pub const MAX: i32 = 20;
    /// Longest that all of them may take, so that the answer comes while the customer waits.
    pub const MAX_MS: i64 = 6_000;
    pub const MAX_SENSE_S: i32 = 3_600;

    /// How long all of them take, in milliseconds.
    pub const fn total_ms(self) -> i64 {
        self.n as i64 * (self.width_ms as i64 + self.gap_ms as i64)
    }

    /// Whether a device may send them.
    pub const fn are_valid(self) -> bool {
        self.n >= 1
            && self.n <= Self::MAX
            && self.width_ms >= 1
            && self.gap_ms >= 1
            && self.total_ms() <= Self::MAX_MS
            && self.sense_s >= 1
            && self.sense_s <= Self::MAX_SENSE_S
    }
}

/// Whether a command tests coin pulses: it begins no run, and is sent once. Without an answer the device is asked.
pub const fn is_pulse_test(pulses: Option<Pulses>, duration_s: i64) -> bool {
    pulses.is_some() && duration_s == 0
}

/// What a device answers to a command (docs/contract.md §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AckResult {
    Started,
    Refused,
    /// Refused because the power was lost in its pulses, of which the machine may have taken some.
    Cut,
    Expired,
    Done,
}

/// A command to a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub idmesin: MachineId,
    pub cmd_id: Uuid,
    pub epoch: i64,
    pub op: Op,
    pub duration_s: i64,
    /// Coin pulses that start the machine; `None`: its relay stays closed for the duration.
    pub pulses: Option<Pulses>,
    pub exp: Timestamp,
    /// This process made the hold, so it has itself sent every command about it.
    pub held_here: bool,
}

impl Command {
    /// Asks what the device runs, for no purchase's sake: the answer counts only as the device's own state.
    pub const fn about_nothing(idmesin: MachineId, now: Timestamp) -> Self {
        Self { idmesin, cmd_id: Uuid::nil(), epoch: 0, op: Op::Query, duration_s: 0, pulses: None, exp: now, held_here: false }
    }
}

/// An event that a device has reported. Stored only on the way from one server to another (`nyala_machines::device::forward`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceEvent {
    Ack {
        cmd_id: Uuid,
        result: AckResult,
    },
    State {
        online: bool,
        run: Option<DeviceRun>,
        #[serde(default)]
        sensor: Sensor,
    },
}

/// What a board with a sensor says of its machine, which runs its own cycle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sensor {
    /// Whether the machine runs; `None`: the board has no sensor.
    pub runs: Option<bool>,
    /// A command whose run is over, and whose machine has not run in it.
    pub never_ran: Option<Uuid>,
}

/// A cycle that a device reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceRun {
    pub cmd_id: Uuid,
    pub left_ms: i64,
    /// By how many seconds its sensor has moved the end to a later time.
    #[serde(default)]
    pub added_s: i64,
    /// Key of the device's boot; `None` when it reports none.
    #[serde(default)]
    pub boot: Option<i64>,
    /// When the last message before this boot was received here.
    #[serde(default, with = "in_ms")]
    pub before_boot: Option<Timestamp>,
}

impl DeviceRun {
    /// A cycle of a device that reports no boot.
    pub const fn new(cmd_id: Uuid, left_ms: i64) -> Self {
        Self { cmd_id, left_ms, added_s: 0, boot: None, before_boot: None }
    }
}

/// An instant between servers.
mod in_ms {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::domain::timestamp::Timestamp;

    pub fn serialize<S: Serializer>(at: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
        at.map(Timestamp::ms).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
        Ok(Option::<i64>::deserialize(from)?.map(Timestamp::from_ms))
    }
}

/// A device's state report, by the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateReport {
    pub online: bool,
    pub run: Option<ReportedRun>,
    pub sensor: Sensor,
}

/// A run that a device reports, by the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportedRun {
    pub cmd_id: Uuid,
    pub ends_at: Timestamp,
    pub added_s: i64,
    pub boot: Option<i64>,
    pub before_boot: Option<Timestamp>,
}

impl ReportedRun {
    pub fn of(run: DeviceRun, now: Timestamp) -> Self {
        let DeviceRun { cmd_id, left_ms, added_s, boot, before_boot } = run;
        Self { cmd_id, ends_at: now.plus_ms(left_ms.max(0)), added_s, boot, before_boot }
    }

    /// As its device would report it at `now`.
    pub fn at(self, now: Timestamp) -> DeviceRun {
        let Self { cmd_id, ends_at, added_s, boot, before_boot } = self;
        DeviceRun { cmd_id, left_ms: now.ms_until(ends_at), added_s, boot, before_boot }
    }
}

impl DeviceEvent {
    /// A state report of a board without a sensor.
    pub fn state(online: bool, run: Option<DeviceRun>) -> Self {
        Self::State { online, run, sensor: Sensor::default() }
    }

    /// The same message, received `ms` milliseconds earlier: less of its cycle is left.
    #[must_use]
    pub fn aged_by(self, ms: i64) -> Self {
        match self {
            Self::State { online, run, sensor } => {
                Self::State { online, run: run.map(|run| DeviceRun { left_ms: run.left_ms - ms, ..run }), sensor }
            }
            same => same,
        }
    }
}
