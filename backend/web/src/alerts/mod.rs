//! Alerts: staff are told of what needs a person while no page is open (docs/board.md). `watch` decides and queues, [`crate::push`] sends.

mod digest;
pub mod metrics;
pub mod queue;
pub mod secret;
mod store;
pub mod text;
pub mod watch;
