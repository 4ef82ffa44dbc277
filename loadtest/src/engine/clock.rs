//! Comparison of two clocks: this process's, in microseconds since the engine started, and the server's, in epoch milliseconds. Each
//! answer narrows their difference, because the server read its clock between the request and the answer.

use std::time::Instant;

/// Time of this process's clock, in microseconds.
pub type Us = i64;

/// Greatest drift between the clocks: 20 microseconds per second.
const DRIFT_PPM: i64 = 20;

#[derive(Debug, Clone)]
pub struct ServerClock {
    began: Instant,
    /// Bounds of the difference: the server's microseconds minus those of this process.
    low: i64,
    high: i64,
}

impl ServerClock {
    pub fn new(began: Instant) -> Self {
        Self { began, low: i64::MIN, high: i64::MAX }
    }

    pub fn now(&self) -> Us {
        i64::try_from(self.began.elapsed().as_micros()).unwrap_or(i64::MAX)
    }

    /// Takes the `server_time` of an answer: its request was sent at `sent`, and it arrived at `received`.
    pub fn answered(&mut self, sent: Us, received: Us, server_time: i64) {
        self.received(received, server_time);
        self.high = self.high.min(server_time * 1000 + 1000 - sent);
        if self.low > self.high {
            // One of the clocks was changed, so only this answer counts.
            (self.low, self.high) = (server_time * 1000 - received, server_time * 1000 + 1000 - sent);
        }
    }

    /// Takes the `server_time` of a message that arrived at `received`.
    pub fn received(&mut self, received: Us, server_time: i64) {
        self.low = self.low.max(server_time * 1000 - received);
    }

    /// Widens the bounds by the drift of `seconds`.
    pub fn age(&mut self, seconds: i64) {
        let drift = DRIFT_PPM * seconds;
        self.low = self.low.saturating_sub(drift);
        self.high = self.high.saturating_add(drift);
    }

    fn offset(&self) -> Option<i64> {
        match (self.low, self.high) {
            (i64::MIN, _) => None,
            // Without an answer, the quickest delivery counts as taking no time.
            (low, high) if high > i64::MAX / 2 => Some(low),
            (low, high) => Some(low + (high - low) / 2),
        }
    }

    /// The server's clock, in epoch microseconds; `None` before the first message.
    pub fn server_us(&self, ours: Us) -> Option<i64> {
        self.offset().map(|offset| ours + offset)
    }

    /// Greatest error of `server_us`, in microseconds; `None` when it is unknown.
    pub fn error_us(&self) -> Option<i64> {
        (self.low != i64::MIN && self.high < i64::MAX / 2).then(|| (self.high - self.low).max(0) / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_answers_pin_the_clock_down() {
        let mut clock = ServerClock::new(Instant::now());
        assert_eq!(clock.server_us(5), None);
        // The server is 1,000,000 ms and 300 µs ahead.
        for n in 0..1000_i64 {
            let (sent, received) = (n * 1_137, n * 1_137 + 400);
            let server = (sent + 150 + 1_000_000_300) / 1000;
            clock.answered(sent, received, server);
        }
        let off = clock.server_us(0).unwrap() - 1_000_000_300;
        let error = clock.error_us().unwrap();
        assert!(off.abs() <= error && error < 220, "{off} ± {error}");
    }

    #[test]
    fn a_stepped_clock_begins_anew() {
        let mut clock = ServerClock::new(Instant::now());
        clock.answered(0, 100, 1_000);
        clock.answered(1_000, 1_100, 9_000);
        let server = clock.server_us(1_050).unwrap();
        assert!((9_000_000..9_001_100).contains(&server), "{server}");
    }
}
