//! Tests that the tool finds faults: it runs against a fake server with faults, and its report must have each of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod buying;
mod cases;
mod command;
#[path = "../fake/mod.rs"]
mod fake;
mod finish;
mod hour;
mod run;
mod soak;
mod storm;
mod watch;
