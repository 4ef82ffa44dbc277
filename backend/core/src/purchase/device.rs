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

/// What a device answers to a command (docs/contract.md §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AckResult {
    Started,
    Refused,
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
    pub exp: Timestamp,
    /// This process made the hold, so it has itself sent every command about it.
    pub held_here: bool,
}

impl Command {
    /// Asks what the device runs, for no purchase's sake: the answer counts only as the device's own state.
    pub const fn about_nothing(idmesin: MachineId, now: Timestamp) -> Self {
        Self { idmesin, cmd_id: Uuid::nil(), epoch: 0, op: Op::Query, duration_s: 0, exp: now, held_here: false }
    }
}

/// An event that a device has reported. Stored only on the way from one server to another (`nyala_machines::device::forward`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceEvent {
    Ack { cmd_id: Uuid, result: AckResult },
    State { online: bool, run: Option<DeviceRun> },
}

/// A cycle that a device reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceRun {
    pub cmd_id: Uuid,
    pub left_ms: i64,
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
        Self { cmd_id, left_ms, boot: None, before_boot: None }
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

/// A run that a device reports, by the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportedRun {
    pub cmd_id: Uuid,
    pub ends_at: Timestamp,
    pub boot: Option<i64>,
    pub before_boot: Option<Timestamp>,
}

impl ReportedRun {
    pub fn of(run: DeviceRun, now: Timestamp) -> Self {
        let DeviceRun { cmd_id, left_ms, boot, before_boot } = run;
        Self { cmd_id, ends_at: now.plus_ms(left_ms.max(0)), boot, before_boot }
    }
}

impl DeviceEvent {
    /// The same message, received `ms` milliseconds earlier: less of its cycle is left.
    #[must_use]
    pub fn aged_by(self, ms: i64) -> Self {
        match self {
            Self::State { online, run } => {
                Self::State { online, run: run.map(|run| DeviceRun { left_ms: run.left_ms - ms, ..run }) }
            }
            same => same,
        }
    }
}
