//! Whose browser a push goes to (docs/contract.md §8).

pub mod endpoint;
pub mod subscription;
