//! PostgreSQL, the only truth (docs/decisions/0001-postgresql-is-the-only-truth.md).

pub mod audit;
pub mod clock;
pub mod error;
pub mod lock;
pub mod migrate;
pub mod pool;
pub mod profile;
pub mod prune;
pub mod source;
pub mod writes;
