//! Balance that leaves an account without a purchase (docs/money.md).

pub mod move_number;
pub mod payout;
