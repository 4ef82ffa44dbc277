//! Devices over MQTT (docs/contract.md §6): their words, the conversation with one of them, what they do at the other end of it, and
//! what they log in with.

pub mod conversation;
pub mod keys;
pub mod logins;
pub mod model;
pub mod word;
