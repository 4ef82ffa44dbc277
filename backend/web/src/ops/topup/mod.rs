//! Top-ups: selling, voiding, listing.

pub mod list;
pub mod sell;
pub mod void;
