//! Figures: the summary of an outlet, and reports as JSON and as CSV (docs/board.md, Figures).

pub mod csv;
pub mod period;
pub mod report;
pub mod rows;
pub mod summary;
mod sums;
pub mod usage;
