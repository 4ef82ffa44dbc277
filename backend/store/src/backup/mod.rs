//! Backup of the private database to another disk: a receiver of the log, so that a restore loses milliseconds, and a base backup each
//! night. Neither delays a commit, and neither stops a sale when it fails (docs/operations.md, "Backup").

pub mod base;
pub mod deletions;
pub mod error;
pub mod folder;
pub mod health;
pub mod log;
pub mod metrics;
pub mod owner;
pub mod programs;
pub mod restore;
pub mod service;
pub mod status;
