//! The customer's socket: who may connect, what a session watches, and how ticks reach it (docs/contract.md §3).

pub mod handler;
pub mod hub;
pub mod metrics;
pub mod seats;
pub mod topic;
pub mod watcher;
