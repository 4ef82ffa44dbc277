//! Fault points: the edges of a purchase at which a test may have the server killed. `dev.fault_point` names one;
//! production refuses it.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::purchase::step::Change;

/// Every edge between two things that a crash could part.
pub const POINTS: &[&str] = &[
    "before_hold",
    "after_hold",
    "after_send",
    "before_post",
    "after_post",
    "before_void",
    "after_void",
    "before_sent",
    "after_sent",
    "before_unsure",
    "after_unsure",
    "before_finish",
    "after_finish",
    "before_stop",
    "after_stop",
];

/// Ends the process with SIGKILL, exactly here, when `armed` names this point.
pub fn point(armed: &str, name: &str) {
    debug_assert!(POINTS.contains(&name));
    if armed == name {
        let _ = kill(Pid::this(), Signal::SIGKILL);
    }
}

/// The fault points around a change.
pub const fn around(change: Change) -> (&'static str, &'static str) {
    match change {
        Change::MarkSent => ("before_sent", "after_sent"),
        Change::MarkUnsure => ("before_unsure", "after_unsure"),
        Change::Run { .. } | Change::RunAndFinish { .. } => ("before_post", "after_post"),
        Change::Finish | Change::Sooner { .. } => ("before_finish", "after_finish"),
        Change::Stop { .. } => ("before_stop", "after_stop"),
        Change::Refuse | Change::Expire | Change::GiveUp => ("before_void", "after_void"),
    }
}
