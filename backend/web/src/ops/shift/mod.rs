//! Shifts of a till: opening, cash, closing, notes.

pub mod cash;
pub mod close;
pub mod note;
pub mod open;
