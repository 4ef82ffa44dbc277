//! Devices over MQTT (docs/contract.md §6): their messages, the conversation with one of them, and the endpoint that they connect to.
//! `keys` manages what devices log in with. A device's own side is in `backend/device-sim`.

pub mod cmd;
mod coins;
pub mod conversation;
mod devices;
pub mod driver;
mod endpoint;
pub mod keys;
pub mod logins;
pub mod message;
pub mod metrics;
mod presence;
mod reports;
pub mod signal;
pub mod socket;
pub mod tls;
mod trouble;
