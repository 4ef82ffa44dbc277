//! Devices over MQTT (docs/contract.md §6).

pub mod keys;
pub mod logins;
