//! The purchase, pure: its states, one `step` (docs/decisions/0002-the-purchase-is-one-pure-function.md), the rules of refusal, its
//! times, and the commands to a device.

pub mod device;
pub mod edge;
pub mod facts;
pub mod rules;
pub mod run_trouble;
pub mod state;
pub mod step;
pub mod times;
