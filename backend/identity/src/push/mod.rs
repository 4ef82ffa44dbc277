//! Push subscriptions of browsers and their customers (docs/contract.md §8).

pub mod endpoint;
pub mod subscription;
