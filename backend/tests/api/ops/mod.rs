//! The operators' calls.

pub mod complaint;
pub mod customers_bulk;
pub mod give_back;
pub mod idempotency;
pub mod machine;
pub mod manual;
pub mod operator;
pub mod outlet;
pub mod role;
pub mod topup;
