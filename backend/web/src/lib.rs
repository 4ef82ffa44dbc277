//! HTTP API, sockets and pushes.

pub mod alerts;
pub mod api;
pub mod board;
pub mod calls;
pub mod dev;
pub mod figures;
pub mod health;
pub mod http;
pub mod live;
pub mod metrics;
pub mod moves;
pub mod ops;
pub mod push;
pub mod qris;
pub mod security_txt;
