//! Every movement of money: append-only double entry (ARCHITECTURE.md, invariants), a balanced row of `ledger_transfer` and the
//! wallet's counters in one statement. Lock order: machine, purchase (or top-up), complaint, bill, shift, a customer's sales at
//! an outlet (an advisory lock), wallet, an outlet's days (an advisory lock). A move to a new number
//! locks all wallets of two customers in the order of their ids, and then their rows without waiting (`account_move`).

pub mod account_move;
pub mod bill;
pub mod bulk_topup;
pub mod came_back;
pub mod cap;
pub mod cash;
pub mod closing;
pub mod complaint;
pub mod error;
pub mod expiry;
pub mod facts;
pub mod figures;
pub mod forfeit;
pub mod newer_kinds;
pub mod on_sale;
pub mod opening;
pub mod paid;
pub mod payout;
pub mod pulse_machines;
pub mod purchase;
pub mod push_queue;
pub mod refund;
pub mod reversal;
pub mod shift;
pub mod tariff;
pub mod test_start;
pub mod topup;
