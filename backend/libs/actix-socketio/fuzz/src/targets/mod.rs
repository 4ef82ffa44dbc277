//! One file a target.

pub mod codec;
pub mod session;
pub mod websocket;
