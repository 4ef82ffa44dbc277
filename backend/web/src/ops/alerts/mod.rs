//! Alerts of a member of staff: which ones, when, and in which browser.

pub mod choice;
pub mod push;
