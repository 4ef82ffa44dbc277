//! PostgreSQL, settings, keys and logs.

pub mod config;
pub mod db;
pub mod secrets;
pub mod telemetry;
