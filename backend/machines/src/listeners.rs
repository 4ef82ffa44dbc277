//! Watchers of machines, as the machines see them; `nyala-web` sends the ticks to the phones.

use nyala_core::domain::id::MachineId;

use super::status::MachineStatus;
use super::tick::Tick;

/// One tick for all watchers of a machine.
#[derive(Debug, Clone, Copy)]
pub struct Broadcast {
    pub idmesin: MachineId,
    pub tick: Tick,
    /// A later tick replaces it: it may be dropped for a slow phone.
    pub volatile: bool,
}

/// Called on the thread of the machine's actor; never blocks.
pub trait Listeners: Send + Sync + 'static {
    /// Sends the tick to all watchers that `status` counts, on every thread.
    fn publish(&self, broadcast: Broadcast, status: &MachineStatus);
}
