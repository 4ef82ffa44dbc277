//! Ownership of outlets among several servers on one database (docs/cluster.md). PostgreSQL stores the owners. A single server owns every
//! outlet and asks nothing.

pub mod error;
pub mod failover;
pub mod fence;
pub mod membership;
pub mod metrics;
pub mod node;
pub mod notifications;
mod ownership;
pub mod standbys;

pub use ownership::{OwnedShard, Owner, Ownership, ShardChanges};

/// SQL condition, as a literal: the outlet in a column is in one of the shards in parameter `n`. NULL means all shards.
#[doc(hidden)]
#[macro_export]
macro_rules! __of_shards {
    ($column:literal, $n:literal) => {
        concat!("($", $n, "::INT[] IS NULL OR (", $column, " % 256)::INT = ANY($", $n, "))")
    };
}
pub use __of_shards as of_shards;
