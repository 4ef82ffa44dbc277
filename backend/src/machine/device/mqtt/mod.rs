//! Devices over MQTT (docs/contract.md §6): their words, and the conversation with one of them.

pub mod conversation;
pub mod word;
