//! One file a target.

pub mod qr;
pub mod token;
