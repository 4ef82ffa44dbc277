//! Complaints of customers: with their evidence, and answered.

pub mod list;
pub mod reject;
