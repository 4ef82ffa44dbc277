//! The purchase (design: money 2).

pub mod status;
