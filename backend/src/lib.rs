//! Nyala: self-service laundry machines paid from prepaid balances. ARCHITECTURE.md has the map.

pub mod akun;
pub mod app;
pub mod auth;
pub mod cli;
pub mod config;
pub mod dashboard;
pub mod db;
pub mod demo;
pub mod dev;
pub mod domain;
pub mod epayment;
pub mod http;
pub mod ledger;
pub mod mesin;
pub mod metrics;
pub mod openapi;
pub mod ops;
pub mod pembelian;
pub mod qr;
pub mod router;
pub mod secrets;
pub mod server;
pub mod sesi;
pub mod transaksi;
pub mod whatsapp;
