//! Calls of customers who wait for a machine (docs/board.md, Customers): `nyala_core::calls` decides, the server that owns the outlet stores.

pub mod decide;
pub mod own;
