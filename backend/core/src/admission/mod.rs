//! Admission of requests under overload: which of them are refused, so that those which are admitted wait for a moment only.
//!
//! The database is what fills up first, so the wait for one of its connections is what is controlled. Two published algorithms are combined.
//! The wait is measured as by CoDel (Nichols and Jacobson 2012; for servers: Maurer, "Fail at Scale", ACM Queue 2015): the least wait of an
//! interval tells a standing queue from a burst. How much is refused follows from it as by PIE (RFC 8033): in proportion to how far the wait
//! is from its target, and to how much it has changed. What is refused first is decided by class.

mod queue;

pub use queue::{Rank, WaitId, WaitQueue};

/// What a request is for, the most important first. Work that is decided already (a device's message, a post, a finish) has no class: it is
/// never refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A payment of a customer who was admitted a moment ago: with the scan before it, or with the same payment.
    KnownPayment,
    /// A payment, and the choice of the wallet before it.
    Payment,
    /// A login, and whatever else changes something: sales and reversals at a till, …
    Change,
    /// What a person looks at while doing something: a scanned machine, the dashboard, the board.
    Look,
    /// Histories, reports and pictures.
    List,
}

impl Class {
    pub const ALL: [Self; 5] = [Self::KnownPayment, Self::Payment, Self::Change, Self::Look, Self::List];

    /// Name for metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::KnownPayment => "known_payment",
            Self::Payment => "payment",
            Self::Change => "change",
            Self::Look => "look",
            Self::List => "list",
        }
    }

    /// Classes below this one, which are refused before it.
    const fn below(self) -> u8 {
        match self {
            Self::KnownPayment => 4,
            Self::Payment => 3,
            Self::Change => 2,
            Self::Look => 1,
            Self::List => 0,
        }
    }
}

/// Length of the intervals at whose end the level changes.
const INTERVAL_MS: u64 = 50;
/// Greatest share of a class that is refused. The rest is always admitted, so that no class starves.
const MAX_REFUSED: f64 = 0.95;
const MAX_LEVEL: f64 = 5.0 * MAX_REFUSED;
/// Change of the level in an interval, for each target that the wait is off, …
const INTEGRAL: f64 = 0.04;
/// … and for each target by which the wait has grown.
const PROPORTIONAL: f64 = 0.4;
/// Waits beyond this many targets count as this many.
const MAX_ERROR: f64 = 4.0;
/// Factor for the level after an interval without waiting requests.
const DECAY: f64 = 0.9;
/// Targets after which a request of a class that is being refused waits no longer for its first connection: its caller tries again, or has gone.
const MAX_WAIT: u64 = 10;

/// Seconds after which a refused client may try again: 1 to 3, at random, so that they do not come back together.
pub fn retry_after_s(draw: f64) -> u32 {
    match draw {
        d if d < 1.0 / 3.0 => 1,
        d if d < 2.0 / 3.0 => 2,
        _ => 3,
    }
}

/// Decides which requests are admitted. The caller reports the waits and the time, in milliseconds from any moment on, and hands in random
/// numbers, so that the same inputs give the same decisions.
#[derive(Debug)]
pub struct Admission {
    target_ms: u64,
    interval_ends_ms: u64,
    /// Shortest wait reported in this interval, in targets; `None` if no wait was reported.
    least: Option<f64>,
    /// The same, of the interval before.
    least_before: f64,
    /// Sum of the refused shares of all classes, of which the lowest is refused first: 0 admits all.
    level: f64,
}

impl Admission {
    /// `target_ms`: the wait for a connection that is aimed at under overload; at least 1.
    pub fn new(target_ms: u64) -> Self {
        Self { target_ms: target_ms.max(1), interval_ends_ms: 0, least: None, least_before: 0.0, level: 0.0 }
    }

    /// Reports that the request that waits longest for a connection has waited this long. Report it whenever a request begins to wait or is
    /// served after a wait.
    pub fn waited(&mut self, wait_ms: u64, now_ms: u64) {
        self.advance(now_ms);
        let wait = (wait_ms as f64 / self.target_ms as f64).min(MAX_ERROR);
        self.least = Some(self.least.map_or(wait, |least| least.min(wait)));
    }

    /// Whether a request of this class is admitted now; `draw` is a random number from 0 to below 1.
    pub fn admits(&mut self, class: Class, draw: f64, now_ms: u64) -> bool {
        self.advance(now_ms);
        draw >= self.refused_share(class)
    }

    /// Share of the requests of this class that is refused: 0 to 0.95.
    pub fn refused_share(&self, class: Class) -> f64 {
        (self.level - f64::from(class.below()) * MAX_REFUSED).clamp(0.0, MAX_REFUSED)
    }

    /// Ends the intervals until `now_ms`.
    pub fn advance(&mut self, now_ms: u64) {
        let Some(late_ms) = now_ms.checked_sub(self.interval_ends_ms) else { return };
        let ended = late_ms / INTERVAL_MS + 1;
        self.interval_ends_ms += ended * INTERVAL_MS;
        let least = self.least.take();
        self.end_interval(least);
        // No wait was reported in the remaining intervals.
        for _ in 1..ended {
            if self.level <= 0.0 {
                self.least_before = 0.0;
                break;
            }
            self.end_interval(None);
        }
    }

    fn end_interval(&mut self, least: Option<f64>) {
        if least.is_none() {
            self.level *= DECAY;
        }
        let least = least.unwrap_or(0.0);
        let change = INTEGRAL * (least - 1.0) + PROPORTIONAL * (least - self.least_before);
        // Refusals begin when the wait is above the target, however fast it has grown until there.
        if self.level > 0.0 || least > 1.0 {
            self.level = (self.level + change).clamp(0.0, MAX_LEVEL);
        }
        self.least_before = least;
    }

    /// Longest time that a request of a class that is being refused may wait for its first connection.
    pub const fn max_wait_ms(&self) -> u64 {
        self.target_ms.saturating_mul(MAX_WAIT)
    }
}

#[cfg(test)]
mod tests;
