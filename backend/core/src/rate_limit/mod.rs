//! Limits of how often something may happen. A [`SlidingWindow`] keeps each event, so that the wait is exact and an event can carry what it was
//! about. [`TokenBuckets`] keep one number for each key, for very many keys. Both take the time as an argument, have a bound, and can refund.

mod buckets;
pub mod purchases;
mod window;

pub use buckets::{BucketLimits, TokenBuckets};
pub use window::SlidingWindow;
