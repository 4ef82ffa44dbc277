//! What a service costs: its own price, or that of a rule that holds at this hour on the wall clock of its outlet (docs/contract.md §4).

mod clock_time;
mod rule;
mod tariff;
mod zone;

pub use clock_time::ClockTime;
pub use rule::{MAX_RULES, PriceRule, RulesError, Weekdays, check};
pub use tariff::{PriceNow, Tariff};
pub use zone::Zone;
