//! What decides, and the values it decides on: no clock of its own but one type, no database, no device, no network.

pub mod domain;
pub mod machine;
pub mod purchase;
pub mod schema;
#[cfg(feature = "sql")]
mod stored;
