//! What the tests share.

pub mod arrange;
pub mod counter;
pub mod database;
pub mod helpers;
pub mod pair;
pub mod shop;
