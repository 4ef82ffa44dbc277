//! Counters and times of the engine, for each second.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::time::Duration;

use hdrhistogram::Histogram;

/// Longest time that is recorded exactly, in microseconds: ten minutes.
const MAX_US: u64 = 600_000_000;
/// Greatest number of kinds of errors; further ones are counted as `other errors`.
const MAX_KINDS: usize = 64;

/// Counters; they only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Heartbeat frames that arrived, measured or not.
    pub frames: u64,
    /// Phase ticks that had to arrive until now.
    pub expected: u64,
    /// Phase ticks that arrived, without duplicates.
    pub deliveries: u64,
    pub missed: u64,
    pub duplicates: u64,
    /// Ticks that the contract forbids: within 180 ms of a run's start or end, or after its final tick.
    pub unexpected: u64,
    /// `tl` is not `ends_at - server_time`.
    pub tl_wrong: u64,
    pub tl_not_falling: u64,
    /// Runs that began under a subscription.
    pub starts: u64,
    pub finals: u64,
    pub finals_missing: u64,
    pub finals_duplicate: u64,
    /// Final ticks before their time.
    pub finals_early: u64,
    /// Holds that were released.
    pub given_back: u64,
    /// Sessions that were lost after they had joined.
    pub lost: u64,
    /// Sessions that gave up joining.
    pub given_up: u64,
}

impl AddAssign for Counters {
    fn add_assign(&mut self, o: Self) {
        self.frames += o.frames;
        self.expected += o.expected;
        self.deliveries += o.deliveries;
        self.missed += o.missed;
        self.duplicates += o.duplicates;
        self.unexpected += o.unexpected;
        self.tl_wrong += o.tl_wrong;
        self.tl_not_falling += o.tl_not_falling;
        self.starts += o.starts;
        self.finals += o.finals;
        self.finals_missing += o.finals_missing;
        self.finals_duplicate += o.finals_duplicate;
        self.finals_early += o.finals_early;
        self.given_back += o.given_back;
        self.lost += o.lost;
        self.given_up += o.given_up;
    }
}

/// Histogram of times, in microseconds.
#[derive(Debug, Clone)]
pub struct Times(Histogram<u64>);

impl Times {
    /// # Errors
    /// Never with these bounds; only the histogram's constructor has an error in its type.
    pub fn new() -> Result<Self, String> {
        Histogram::new_with_bounds(1, MAX_US, 3).map(Self).map_err(|e| e.to_string())
    }

    /// Records a time: a negative one as 0, one above ten minutes as ten minutes.
    pub fn record(&mut self, us: i64) {
        self.0.saturating_record(u64::try_from(us).unwrap_or(0));
    }

    pub fn took(&mut self, time: Duration) {
        self.record(i64::try_from(time.as_micros()).unwrap_or(i64::MAX));
    }

    pub fn len(&self) -> u64 {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Milliseconds that the share `quantile` (0 to 1) of all times does not exceed.
    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        self.0.value_at_quantile(quantile) as f64 / 1000.0
    }

    pub fn max_ms(&self) -> f64 {
        self.0.max() as f64 / 1000.0
    }

    pub fn add(&mut self, other: &Self) {
        // Both have the same bounds, so this cannot fail.
        let _ = self.0.add(&other.0);
    }

    pub fn clear(&mut self) {
        self.0.reset();
    }
}

/// Times that sessions measure.
#[derive(Debug, Clone)]
pub struct Spans {
    /// From the moment a phase tick was due until it arrived.
    pub tick: Times,
    /// From the moment a phase tick was due until the server made it.
    pub late: Times,
    /// Difference between the period and the time between two ticks of a subscription.
    pub jitter: Times,
    /// From `ends_at` until the final tick arrived.
    pub last: Times,
    /// From the opening of the connection until the session has joined.
    pub connect: Times,
    /// From a subscribe to its answer.
    pub subscribe: Times,
}

impl Spans {
    /// # Errors
    /// As [`Times::new`].
    pub fn new() -> Result<Self, String> {
        let new = Times::new;
        Ok(Self { tick: new()?, late: new()?, jitter: new()?, last: new()?, connect: new()?, subscribe: new()? })
    }

    pub fn add(&mut self, o: &Self) {
        for (mine, other) in self.all_mut().into_iter().zip(o.all()) {
            if !other.is_empty() {
                mine.add(other);
            }
        }
    }

    pub fn clear(&mut self) {
        self.all_mut().into_iter().filter(|t| !t.is_empty()).for_each(Times::clear);
    }

    fn all(&self) -> [&Times; 6] {
        [&self.tick, &self.late, &self.jitter, &self.last, &self.connect, &self.subscribe]
    }

    fn all_mut(&mut self) -> [&mut Times; 6] {
        [&mut self.tick, &mut self.late, &mut self.jitter, &mut self.last, &mut self.connect, &mut self.subscribe]
    }
}

/// Errors by kind; the number of kinds has a limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Errors(BTreeMap<String, u64>);

impl Errors {
    pub fn add(&mut self, kind: &str, n: u64) {
        if n == 0 {
            return;
        }
        if let Some(known) = self.0.get_mut(kind) {
            *known += n;
        } else if self.0.len() < MAX_KINDS {
            self.0.insert(kind.to_owned(), n);
        } else {
            *self.0.entry("other errors".to_owned()).or_default() += n;
        }
    }

    pub fn merge(&mut self, other: &Self) {
        other.iter().for_each(|(kind, n)| self.add(kind, n));
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(kind, n)| (kind.as_str(), *n))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Figures of a second.
#[derive(Debug, Clone)]
pub struct Second {
    /// Length of the measured time, in seconds.
    pub seconds: f64,
    /// Processor time of the engine's thread, in microseconds.
    pub cpu_us: u64,
    /// Time that the thread waited for a processor, in microseconds.
    pub wait_us: u64,
    pub counters: Counters,
    pub spans: Spans,
    pub errors: Errors,
    /// Sessions that have joined and have every subscription now.
    pub live: usize,
    /// Sessions that still try to become live.
    pub joining: usize,
    /// Greatest error of the comparison with the server's clock, in microseconds; `None` when it is unknown.
    pub clock_error_us: Option<i64>,
}

impl Second {
    /// # Errors
    /// As [`Times::new`].
    pub fn new() -> Result<Self, String> {
        Ok(Self {
            seconds: 0.0,
            cpu_us: 0,
            wait_us: 0,
            counters: Counters::default(),
            spans: Spans::new()?,
            errors: Errors::default(),
            live: 0,
            joining: 0,
            clock_error_us: None,
        })
    }

    pub fn clear(&mut self) {
        self.counters = Counters::default();
        self.spans.clear();
        self.errors = Errors::default();
    }
}
