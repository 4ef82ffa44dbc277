//! Owners, outlets, and what an outlet sells: services and packages.

pub mod outlet;
pub mod outlet_closing;
pub mod owner;
pub mod package;
mod price_rule;
pub mod readiness;
pub mod service;
