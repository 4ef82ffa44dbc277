//! Devices over MQTT (docs/contract.md §6): their words, the conversation with one of them, what they do at the other end of it (the model of one, and
//! a fleet of those for trying things), what they log in with, and the two ways to them: the endpoint, and a broker.

pub mod broker;
pub mod conversation;
mod devices;
pub mod driver;
mod endpoint;
pub mod fleet;
pub mod keys;
pub mod logins;
pub mod metrics;
pub mod model;
mod presence;
mod reports;
mod socket;
pub mod tls;
mod trouble;
pub mod word;
