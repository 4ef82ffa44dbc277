//! Rate limits. A [`SlidingWindow`] stores each event with a value, so the wait is exact. [`TokenBuckets`] store one number for each key, for
//! very many keys. Both take the time as an argument, have bounded memory, and can refund an event.

mod buckets;
pub mod downloads;
pub mod purchases;
mod window;

pub use buckets::{BucketLimits, TokenBuckets};
pub use window::{SlidingWindow, WindowLimits};
