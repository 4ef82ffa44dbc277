//! Devices over MQTT (docs/contract.md §6): their words, the conversation with one of them, and what they log in with.

pub mod conversation;
pub mod keys;
pub mod logins;
pub mod word;
