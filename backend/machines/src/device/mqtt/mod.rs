//! Devices over MQTT (docs/contract.md §6): their messages, the conversation with one of them, and the endpoint that they connect to.
//! `model` is a device's own side, `fleet` plays many of those for tests, and `keys` manages what devices log in with.

pub mod conversation;
mod devices;
pub mod driver;
mod endpoint;
pub mod fleet;
pub mod keys;
pub mod logins;
pub mod message;
pub mod metrics;
pub mod model;
mod presence;
mod reports;
mod socket;
pub mod tls;
mod trouble;
