//! The board over HTTP, and what needs a person.

pub mod snapshot;
pub mod taken;
