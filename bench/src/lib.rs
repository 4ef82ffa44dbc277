//! What `nyala-bench` and the criterion benches share: a server of their own, a shop in it, figures. What asks, watches and starts servers is the load test's.

pub mod backup;
pub mod boot;
pub mod cluster;
pub mod db;
pub mod devices;
pub mod durations;
pub mod figures;
pub mod history;
pub mod idle;
pub mod logins;
pub mod memory;
pub mod peers;
pub mod pgbench;
pub mod plans;
pub mod purchase;
pub mod results;
pub mod running;
pub mod server;
pub mod sessions;
pub mod shop;
pub mod table;
pub mod undecided;
pub mod websocket;

/// The reason why a measurement stopped, printed on standard error.
pub type BenchError = Box<dyn std::error::Error + Send + Sync>;
