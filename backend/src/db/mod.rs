//! PostgreSQL, the only truth (design: money 1).

pub mod audit;
pub mod clock;
pub mod lock;
pub mod migrate;
pub mod pool;
pub mod profile;
pub mod prune;
pub mod share;
pub mod source;
pub mod writes;
