//! Customers' sockets: who may connect, what a session watches, and how ticks reach it (docs/contract.md §3).

pub mod balances;
pub mod board_watches;
pub mod boards;
pub mod customer_board;
pub mod cut_off;
pub mod handler;
pub mod hub;
pub mod metrics;
pub mod other_servers;
pub mod sessions;
pub mod staff_board;
pub mod staff_sockets;
pub mod tick_frame;
pub mod watcher;

use std::sync::Arc;
use std::time::Duration;

use boards::Boards;
use customer_board::PublicBoard;
use hub::Hubs;
use metrics::RealtimeMetrics;
use nyala_identity::auth::Auth;
use nyala_identity::staff::Staff;
use nyala_machines::machines::Machines;
use nyala_store::clock::Clock;
use nyala_store::config::RealtimeSettings;
use sessions::SocketSessions;
use staff_board::StaffBoards;
use staff_sockets::StaffSockets;

/// Interval of the check for logins that another program has ended, or that were idle for too long.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Shared state of the customers' sockets; each socket holds it.
pub struct Live {
    pub auth: Arc<Auth>,
    pub machines: Machines,
    pub hubs: Hubs,
    pub clock: Clock,
    pub sessions: Arc<SocketSessions>,
    pub staff: Arc<Staff>,
    pub staff_sockets: Arc<StaffSockets>,
    pub boards: StaffBoards,
    pub public_boards: Boards<PublicBoard>,
    pub metrics: RealtimeMetrics,
    pub settings: RealtimeSettings,
}
