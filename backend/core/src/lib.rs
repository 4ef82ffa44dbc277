//! Pure decisions of the server and the values they use: ids, money, time, the purchase and the machine. No database, no device, no network.

pub mod admission;
pub mod bill;
pub mod board;
pub mod calls;
pub mod coins;
pub mod complaint;
pub mod deletion;
pub mod domain;
pub mod figures;
pub mod machine;
pub mod opening;
pub mod paid;
pub mod prices;
pub mod purchase;
pub mod rate_limit;
pub mod schema;
#[cfg(feature = "sql")]
mod stored;
