//! Who works here, programs with keys, and the customers whom staff looks for.

pub mod customer_search;
pub mod customers_bulk;
pub mod key;
pub mod me;
pub mod payee;
pub mod staff;
