//! Owners, outlets, and what an outlet sells: services and packages.

pub mod outlet;
pub mod owner;
pub mod package;
pub mod service;
