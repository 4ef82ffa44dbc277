//! A server among others that the database does not answer: others decide about its machines, and what it shows grows old. It goes on
//! counting down for a while, because a moment without a database is no reason to send all phones away; then they go to the others.
//! While the database fails over there are no others to go to, and what is shown stays true: nobody can change it.

use std::time::Duration;

use nyala_cluster::Ownership;
use nyala_machines::machines::Machines;
use tokio::time::MissedTickBehavior;

use super::seats::SocketSessions;
use super::staff_sockets::StaffSockets;

/// So long countdowns go on.
pub const TICKS_FOR: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Whether no socket is to be served until the database answers.
pub fn is_cut_off(ownership: &Ownership) -> bool {
    ownership.given_up() > TICKS_FOR
}

/// Closes all sockets and devices' lines of a server that is cut off. Runs until the process ends; of use only among several servers.
pub async fn watch(machines: &Machines, seats: &SocketSessions, staff_sockets: &StaffSockets) {
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut was_cut_off, mut sent_away) = (false, false);
    loop {
        look.tick().await;
        let is_cut_off = is_cut_off(machines.ownership());
        // A process that was stopped for a while finds a long silence, which its next beat ends.
        if is_cut_off && was_cut_off {
            seats.close_all();
            staff_sockets.close_all();
            if !sent_away {
                machines.send_devices_away();
            }
            sent_away = true;
        }
        sent_away &= is_cut_off;
        was_cut_off = is_cut_off;
    }
}
