//! Played devices over MQTT and their faults, for tests and measurements; never a part of the server.
//!
//! [`model`] decides what one device does, [`fleet`] plays many of them on real connections, and [`cli`] is the program `nyala-device-sim`.

pub mod cli;
pub mod fleet;
mod keys_file;
pub mod model;
