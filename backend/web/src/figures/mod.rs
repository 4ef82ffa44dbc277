//! What reports read beside the ledger: the outlet's days, its machines, and when they could not be sold (docs/board.md, Figures).

pub mod downtime;
pub mod outlet;
