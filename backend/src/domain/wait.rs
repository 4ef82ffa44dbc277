//! How long somebody waits, as it is counted.

/// Bounds in seconds of everything somebody waits for: from a cached read to the longest answer there is.
pub const WAIT_BUCKETS_S: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
