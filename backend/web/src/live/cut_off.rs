//! Handling of a server among several whose database does not respond. The other servers take over its machines, and the state that it
//! shows grows stale. It continues its countdowns for a while, because a moment without a database is no reason to disconnect all
//! phones. Then it disconnects them, and they connect to the other servers. During a database failover no other server can serve them,
//! and the shown state stays true: no server can change it.

use std::time::Duration;

use nyala_cluster::Ownership;
use nyala_machines::machines::Machines;
use tokio::time::MissedTickBehavior;

use super::sessions::SocketSessions;
use super::staff_sockets::StaffSockets;

/// How long countdowns continue without the database.
pub const TICKS_FOR: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Whether sockets must not be served until the database responds.
pub fn is_cut_off(ownership: &Ownership) -> bool {
    ownership.given_up() > TICKS_FOR
}

/// Closes all sockets and device connections of a server that is cut off. Runs until the process ends; useful only among several
/// servers.
pub async fn watch(machines: &Machines, sessions: &SocketSessions, staff_sockets: &StaffSockets) {
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut was_cut_off, mut sent_away) = (false, false);
    loop {
        look.tick().await;
        let is_cut_off = is_cut_off(machines.ownership());
        // A process that was suspended sees a long silence, which its next heartbeat ends: it must be seen twice.
        if is_cut_off && was_cut_off {
            sessions.close_all();
            staff_sockets.close_all();
            if !sent_away {
                machines.disconnect_devices();
            }
            sent_away = true;
        }
        sent_away &= is_cut_off;
        was_cut_off = is_cut_off;
    }
}
