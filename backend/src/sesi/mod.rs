//! The customer's socket: who may connect, what a session watches, and how ticks reach it (contract §3).

pub mod handler;
pub mod hub;
pub mod kursi;
pub mod penonton;
pub mod topik;
