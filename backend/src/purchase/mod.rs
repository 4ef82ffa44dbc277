//! The purchase: one pure `step` (docs/decisions/0002-the-purchase-is-one-pure-function.md), the rules of refusal, and what is
//! read and written for them.

pub mod device;
pub mod facts;
pub mod fault;
pub mod rate;
pub mod recovery;
pub mod rules;
pub mod state;
pub mod step;
pub mod times;
