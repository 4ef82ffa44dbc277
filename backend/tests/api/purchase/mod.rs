//! Scans, purchases, balances and their history.

pub mod account_kind;
pub mod buy;
pub mod calls;
pub mod dashboard;
pub mod detail;
pub mod epay;
pub mod history;
pub mod ledger;
pub mod locks;
pub mod races;
pub mod rate;
pub mod recovery;
pub mod services;
pub mod terakhir;
pub mod unfinished;
