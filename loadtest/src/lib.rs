//! Load test of a whole Nyala server through its public interfaces. `bench` uses its requests, its servers and its shop.

pub mod cluster;
pub mod crash;
pub mod engine;
pub mod fleet;
pub mod http;
pub mod interrupt;
pub mod listener;
pub mod local;
pub mod money;
pub mod options;
pub mod process;
pub mod report;
pub mod run;
pub mod scenario;
pub mod server;
pub mod shop;
pub mod target;
pub mod till;
pub mod timeline;
pub mod ui;
