//! Who works here, programs with keys, and the customers whom staff looks for.

pub mod api_keys;
pub mod audit_log;
pub mod customer;
pub mod customer_search;
pub mod customers_bulk;
pub mod key;
pub mod me;
pub mod payee;
pub mod staff;
