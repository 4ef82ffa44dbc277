//! Crash points: edges at which a test may have the server killed. `dev.fault_point` names one; production refuses it.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use nyala_core::purchase::edge::{MONEY_POINTS, POINTS};

/// Ends the process with SIGKILL, exactly here, when `armed` is this point.
pub fn reach(armed: &str, name: &str) {
    debug_assert!(POINTS.contains(&name) || MONEY_POINTS.contains(&name));
    if armed == name {
        let _ = kill(Pid::this(), Signal::SIGKILL);
    }
}
