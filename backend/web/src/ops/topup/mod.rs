//! Top-ups: selling, reversing, listing.

pub mod list;
pub mod reverse;
pub mod sell;
