//! Push subscriptions of browsers: customers' (docs/contract.md §8) and staff's (docs/board.md).

pub mod endpoint;
pub mod staff;
pub mod subscription;
