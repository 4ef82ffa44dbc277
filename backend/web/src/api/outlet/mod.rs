//! Outlets, their free machines, and calls for one (docs/board.md, Customers).

pub mod call;
pub mod list;
pub mod machines;
