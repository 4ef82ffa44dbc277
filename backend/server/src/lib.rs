//! Nyala: self-service laundry machines paid from prepaid balances. ARCHITECTURE.md has the map.

pub mod app;
pub mod cli;
pub mod demo;
