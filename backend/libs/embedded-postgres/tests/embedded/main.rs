//! Tests of the embedded database through its public API, with real binaries: starts, crashes, folders, sharing.

#![allow(clippy::unwrap_used, reason = "the lints know test functions, not the helpers of tests")]

mod crashes;
mod folders;
mod sharing;
mod support;
