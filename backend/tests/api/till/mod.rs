//! Tills: pairing, logins, shifts, drawers, sales.

mod alone;
pub mod blind_count;
mod cap;
pub mod drawers;
pub mod lists;
pub mod login;
pub mod pairing;
pub mod payout;
pub mod races;
pub mod reversals;
pub mod rights;
pub mod rules;
pub mod sales;
pub mod shift;
