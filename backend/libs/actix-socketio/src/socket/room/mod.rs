//! Rooms: a room is a name; all sockets of a namespace in it receive the same broadcasts, on any thread.

mod audience;
mod broadcast;
mod members;

pub use broadcast::{Broadcast, NoAnswer, Rooms};
