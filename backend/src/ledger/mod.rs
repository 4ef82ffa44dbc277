//! Every movement of money: one balanced row of `ledger_transfer` and the wallet's counters, in one statement.
//! A function here first refuses, then writes; its caller owns the transaction. Lock order: machine, purchase, wallet.

pub mod hapus;
pub mod pemakaian;
pub mod refund;
pub mod topup;
pub mod topup_massal;
