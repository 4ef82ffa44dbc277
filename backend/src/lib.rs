//! Nyala: self-service laundry machines paid from prepaid balances. ARCHITECTURE.md has the map.

pub mod api;
pub mod app;
pub mod auth;
pub mod cli;
pub mod cluster;
pub mod config;
pub mod db;
pub mod demo;
pub mod dev;
pub mod domain;
pub mod health;
pub mod http;
pub mod ledger;
pub mod live;
pub mod machine;
pub mod machine_core;
pub mod metrics;
pub mod ops;
pub mod purchase;
pub mod push;
pub mod qr;
pub mod secrets;
pub mod staff;
pub mod telemetry;
pub mod whatsapp;
