//! Who hears of machines, as the machines see it; `live` brings it to the phones.

use actix_socketio::Frame;

use super::board::Board;

/// One frame for everybody who watches a machine.
#[derive(Debug, Clone)]
pub struct Broadcast {
    pub idmesin: i64,
    pub frame: Frame,
    /// A later one replaces it: it may be dropped for a slow phone.
    pub volatile: bool,
}

/// Told on the thread of the machine's actor; never blocks.
pub trait Listeners: Send + Sync + 'static {
    /// Tells everybody who watches by `board`, on every thread.
    fn publish(&self, broadcast: Broadcast, board: &Board);
}
