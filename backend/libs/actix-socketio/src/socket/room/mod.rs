//! Rooms: names under which sockets of a namespace hear the same broadcast, on whatever threads they are.

mod audience;
mod broadcast;
mod members;

pub use broadcast::{Broadcast, NoAnswer, Rooms};
