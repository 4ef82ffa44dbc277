//! Every movement of money: append-only double entry (ARCHITECTURE.md, invariants), a balanced row of `ledger_transfer` and the
//! wallet's counters in one statement. Lock order: machine, purchase, wallet.

pub mod hapus;
pub mod pemakaian;
pub mod pembelian;
pub mod refund;
pub mod topup;
pub mod topup_massal;
