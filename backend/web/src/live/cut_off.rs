//! Handling of a cluster's server whose database does not respond. The other servers take over its machines, and the state that it shows
//! becomes stale. It continues its countdowns for a while, because a short outage is no reason to disconnect all phones. Then it
//! disconnects them, and they connect to the other servers. During a database failover it disconnects nothing: no other server can serve
//! the phones, and the shown state stays true, because no server can change it.

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
    ownership.outage() > TICKS_FOR
}

/// Closes all sockets and device connections of a server that is cut off. Runs until the process ends; useful only among several
/// servers.
pub async fn watch(machines: &Machines, sessions: &SocketSessions, staff_sockets: &StaffSockets) {
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut was_cut_off, mut have_disconnected) = (false, false);
    loop {
        look.tick().await;
        let is_cut_off = is_cut_off(machines.ownership());
        // A process that was suspended sees a long outage, which ends with its next heartbeat. So only the second check in a row counts.
        if is_cut_off && was_cut_off {
            sessions.close_all();
            staff_sockets.close_all();
            if !have_disconnected {
                machines.disconnect_devices();
            }
            have_disconnected = true;
        }
        have_disconnected &= is_cut_off;
        was_cut_off = is_cut_off;
    }
}
