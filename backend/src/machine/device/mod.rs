//! What stands behind a machine. A driver takes commands and never blocks; what the device says comes back through
//! `Registry::deliver`.

pub mod memory;
pub mod sim;

use uuid::Uuid;

use crate::domain::timestamp::Timestamp;
use crate::purchase::step::{AckResult, Op};

/// A command to a device (contract §6).
#[derive(Debug, Clone)]
pub struct Command {
    pub idmesin: i64,
    pub cmd_id: Uuid,
    pub epoch: i64,
    pub op: Op,
    pub duration_s: i64,
    pub exp: Timestamp,
}

/// What a device says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceEvent {
    Ack { cmd_id: Uuid, result: AckResult },
    State { online: bool, run: Option<DeviceRun> },
}

/// What a device runs, by its own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceRun {
    pub cmd_id: Uuid,
    pub left_ms: i64,
}
