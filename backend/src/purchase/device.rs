//! What is said to a device, and what it says (docs/contract.md §6).

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::step::{AckResult, Op};
use crate::domain::timestamp::Timestamp;

/// A command to a device.
#[derive(Debug, Clone)]
pub struct Command {
    pub idmesin: i64,
    pub cmd_id: Uuid,
    pub epoch: i64,
    pub op: Op,
    pub duration_s: i64,
    pub exp: Timestamp,
    /// This process made the hold, so whatever was said of it to the device it has said itself.
    pub held_here: bool,
}

impl Command {
    /// Asks what the device runs, for no purchase's sake: the answer counts only as the device's own state.
    pub const fn about_nothing(idmesin: i64, now: Timestamp) -> Self {
        Self { idmesin, cmd_id: Uuid::nil(), epoch: 0, op: Op::Query, duration_s: 0, exp: now, held_here: false }
    }
}

/// What a device says. Written down only from one server to another (`machine::device::relay`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceEvent {
    Ack { cmd_id: Uuid, result: AckResult },
    State { online: bool, run: Option<DeviceRun> },
}

/// What a device runs, by its own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceRun {
    pub cmd_id: Uuid,
    pub left_ms: i64,
}

impl DeviceEvent {
    /// The same, when it is looked at only so much later.
    #[must_use]
    pub fn heard_before(self, ms: i64) -> Self {
        match self {
            Self::State { online, run } => {
                Self::State { online, run: run.map(|run| DeviceRun { left_ms: run.left_ms - ms, ..run }) }
            }
            same => same,
        }
    }
}
