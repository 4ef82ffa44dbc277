//! What stands behind a machine. A driver takes commands and never blocks; what the device says comes back to its machine's actor.

pub mod memory;
pub mod record;
pub mod sim;

use sim::Reply;

use crate::app::AppState;
use crate::purchase::device::Command;

/// Gives a command to the machine's driver; simulated devices answer through the returned reply.
pub fn command(state: &AppState, driver: &str, cmd: &Command) -> Option<Reply> {
    match driver {
        "sim" => state.sim.command(cmd, state.clock.now()),
        other => {
            tracing::error!(driver = other, idmesin = cmd.idmesin, "no such driver; the command is not sent");
            None
        }
    }
}
