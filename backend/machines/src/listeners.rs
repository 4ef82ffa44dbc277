//! Watchers of machines, as the machines see them; `live` sends the frames to the phones.

use actix_socketio::Frame;
use nyala_core::domain::id::MachineId;

use super::status::MachineStatus;

/// One frame for all watchers of a machine.
#[derive(Debug, Clone)]
pub struct Broadcast {
    pub idmesin: MachineId,
    pub frame: Frame,
    /// A later frame replaces it: it may be dropped for a slow phone.
    pub volatile: bool,
}

/// Called on the thread of the machine's actor; never blocks.
pub trait Listeners: Send + Sync + 'static {
    /// Sends the frame to all watchers that `status` counts, on every thread.
    fn publish(&self, broadcast: Broadcast, status: &MachineStatus);
}
