//! Bills that a till makes, and those of an outlet.

pub mod end;
pub mod list;
pub mod make;
