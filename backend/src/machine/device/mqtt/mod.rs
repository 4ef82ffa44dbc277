//! Devices over MQTT (docs/contract.md §6): their words, the conversation with one of them, what they log in with, and the endpoint that
//! they log in to.

pub mod broker;
pub mod conversation;
mod devices;
pub mod driver;
mod endpoint;
pub mod keys;
pub mod logins;
pub mod metrics;
mod presence;
mod reports;
pub mod tls;
mod trouble;
pub mod word;
