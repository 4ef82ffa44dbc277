//! The server's clock (`Clock`) is held to the database's: all servers of a cluster follow the one, and drift from it no more
//! than from each other (docs/decisions/0016-a-countdown-is-a-deadline.md).

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::clock::{Clock, wall_clock};
use nyala_core::domain::timestamp::Timestamp;
use prometheus_client::metrics::gauge::Gauge;
use tokio_postgres::{Client, Error};

use super::Store;
use super::error::DbError;

/// Seconds that the database's clock is ahead, as the metrics show it.
pub type Ahead = Gauge<f64, AtomicU64>;

/// How often it is looked at.
const EVERY: Duration = Duration::from_secs(30);
/// Readings each time: the quickest knows best.
const READINGS: usize = 8;
/// Nothing is learned from a reading that took longer: the database's moment may have been any in between.
const SLOW_US: i64 = 1_000_000;
/// From here on an operator has to know: countdowns and the dates of new rows are off as much.
const FAR_MS: u64 = 1_000;
/// Below this distance the end is reported once. A distance that wavers around the limit is one incident.
const NEAR_MS: u64 = 500;

/// Microseconds since the epoch.
const THEIRS: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT";

/// One look at the database's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reading {
    /// How far it is ahead when it was read in the middle between question and answer; half of what these took is what that may
    /// be off.
    ahead_us: i64,
    took_us: i64,
}

impl Reading {
    /// `ours`: this server's clock from the question to the answer.
    const fn of(theirs_us: i64, ours: &Range<i64>) -> Self {
        let took_us = ours.end - ours.start;
        Self { ahead_us: theirs_us - ours.start - took_us / 2, took_us }
    }
}

/// The one that is off least; none when all were slow.
fn best(readings: impl IntoIterator<Item = Reading>) -> Option<Reading> {
    readings.into_iter().filter(|reading| reading.took_us <= SLOW_US).min_by_key(|reading| reading.took_us)
}

/// Runs until the process ends; `ahead_s` is what the metrics show of it.
pub async fn follow(store: Store, ahead_s: Ahead) {
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut story = Story::default();
    loop {
        every.tick().await;
        match correct(&store, &ahead_s).await {
            Ok(distance_ms) => match story.goes_on(distance_ms) {
                Some(Turn::Far) => tracing::warn!(
                    distance_ms,
                    "the clock is far from the database's, and follows it by a millisecond a second; restart the server when \
                     its hosts' clocks are right and it should follow at once"
                ),
                Some(Turn::Near) => tracing::info!(distance_ms, "the clock agrees with the database's again"),
                None => {}
            },
            // Other users of the database report it.
            Err(e) => tracing::debug!(error = %e, "the database's clock cannot be read"),
        }
    }
}

/// Milliseconds that the database's clock is ahead (negative: behind), which from now on are made up; `ahead_s` shows them, in
/// seconds.
///
/// # Errors
/// When the database does not answer, or not soon enough.
pub async fn correct(store: &Store, ahead_s: &Ahead) -> Result<i64, DbError> {
    let client = store.get().await?;
    let reading = look(&client, &store.clock).await?.ok_or(DbError::Busy)?;
    store.clock.correct_us(reading.ahead_us);
    ahead_s.set(reading.ahead_us as f64 / 1e6);
    Ok(reading.ahead_us / 1_000)
}

/// A clock set to the database's time.
///
/// # Errors
/// When the database does not answer.
pub async fn start(client: &Client) -> Result<Clock, Error> {
    let clock = Clock::running_from(wall_clock());
    match look(client, &clock).await? {
        Some(reading) => clock.advance_us(reading.ahead_us),
        // Better by seconds than by hours.
        None => clock.set(database_now(client).await?),
    }
    Ok(clock)
}

async fn look(client: &Client, clock: &Clock) -> Result<Option<Reading>, Error> {
    let theirs = client.prepare(THEIRS).await?;
    let mut readings = Vec::with_capacity(READINGS);
    for _ in 0..READINGS {
        let asked_us = clock.now_us();
        let theirs_us = client.query_one(&theirs, &[]).await?.get(0);
        readings.push(Reading::of(theirs_us, &(asked_us..clock.now_us())));
    }
    Ok(best(readings))
}

/// The database's clock, which all instants derive from (docs/decisions/0016-a-countdown-is-a-deadline.md).
pub async fn database_now(client: &Client) -> Result<Timestamp, Error> {
    Ok(client.query_one("SELECT clock_timestamp()", &[]).await?.get(0))
}

/// What has been reported, so that each change is reported once.
#[derive(Debug, Default)]
struct Story {
    far: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Turn {
    Far,
    Near,
}

impl Story {
    fn goes_on(&mut self, distance_ms: i64) -> Option<Turn> {
        let distance_ms = distance_ms.unsigned_abs();
        match self.far {
            false if distance_ms > FAR_MS => {
                self.far = true;
                Some(Turn::Far)
            }
            true if distance_ms <= NEAR_MS => {
                self.far = false;
                Some(Turn::Near)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_of_the_readings_counts() {
        // Answers 40, 2 and 600 ms later; the clock is 7 ms ahead, and what is slow is so on one way only.
        let readings = [(0, 47_000, 40_000), (100_000, 108_000, 102_000), (200_000, 207_000, 800_000)];
        let readings = readings.map(|(asked, theirs, answered)| Reading::of(theirs, &(asked..answered)));
        assert_eq!(readings.map(|reading| reading.ahead_us), [27_000, 7_000, -293_000]);
        assert_eq!(best(readings), Some(readings[1]));
    }

    #[test]
    fn slow_answers_measure_nothing() {
        assert_eq!(best([Reading::of(0, &(0..SLOW_US + 1)), Reading::of(0, &(0..60 * SLOW_US))]), None);
        assert_eq!(best([]), None);
    }

    #[test]
    fn a_distance_is_logged_once_while_it_lasts() {
        let mut story = Story::default();
        let logged: Vec<_> = [0, 1_000, -1_001, 5_000, -700, 1_200, 500, 0, 2_000].map(|ms| story.goes_on(ms)).into();
        let (far, near) = (Some(Turn::Far), Some(Turn::Near));
        assert_eq!(logged, [None, None, far, None, None, None, near, None, Some(Turn::Far)]);
    }
}
