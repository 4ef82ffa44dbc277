//! PostgreSQL, the only truth (design: money 1).

pub mod audit;
pub mod lock;
pub mod migrate;
pub mod pool;
pub mod source;
