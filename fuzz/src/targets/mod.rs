//! One file a target.

pub mod device;
pub mod mqtt;
pub mod qr;
pub mod token;
