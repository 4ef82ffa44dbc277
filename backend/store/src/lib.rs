//! PostgreSQL, settings, keys and logs.

pub mod admission;
pub mod backup;
pub mod clock;
pub mod config;
pub mod crash_point;
pub mod db;
mod files;
pub mod secrets;
pub mod telemetry;
