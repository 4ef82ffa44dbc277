//! Every movement of money: append-only double entry (ARCHITECTURE.md, invariants).

pub mod pembelian;
