//! Alerts: messages about entries to staff's own phones (docs/board.md). `watch` begins and ends them and queues the messages, [`crate::push`]
//! sends them.

mod digest;
pub mod metrics;
pub mod queue;
pub mod secret;
mod store;
pub mod text;
pub mod watch;
