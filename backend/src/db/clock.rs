//! How far the server's clock (`Clock`) is from the database's, which it was set by once.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;

use super::Store;
use super::error::DbError;
use crate::domain::timestamp::Timestamp;

/// Seconds that the database's clock is ahead, as the metrics show it.
pub type Ahead = Gauge<f64, AtomicU64>;

/// How often it is looked at.
const EVERY: Duration = Duration::from_secs(15);
/// From here on an operator has to know: countdowns and the dates of new rows are off as much.
const FAR_MS: u64 = 1_000;
/// Back within this, it is told once that it is over: a distance that wavers around the limit is one story.
const NEAR_MS: u64 = 500;

/// Runs until the process ends; `ahead_s` is what the metrics show of it.
pub async fn watch(store: Store, ahead_s: Ahead) {
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut story = Story::default();
    loop {
        every.tick().await;
        match measure(&store, &ahead_s).await {
            Ok(distance_ms) => match story.goes_on(distance_ms) {
                Some(Turn::Far) => tracing::warn!(
                    distance_ms,
                    "the clock is far from the database's; restart the server when its host's clocks are right"
                ),
                Some(Turn::Near) => tracing::info!(distance_ms, "the clock agrees with the database's again"),
                None => {}
            },
            // Told wherever the database is needed.
            Err(e) => tracing::debug!(error = %e, "the database's clock cannot be read"),
        }
    }
}

/// Milliseconds that the database's clock is ahead (negative: behind); `ahead_s` shows it from then on, in seconds.
///
/// # Errors
/// When the database does not answer.
pub async fn measure(store: &Store, ahead_s: &Ahead) -> Result<i64, DbError> {
    let client = store.get().await?;
    let asked = store.now();
    let theirs = database_now(&client).await?;
    let distance_ms = outside(asked, store.now(), theirs);
    ahead_s.set(distance_ms as f64 / 1000.0);
    Ok(distance_ms)
}

/// The database's clock, which all instants derive from (docs/decisions/0016-a-countdown-is-a-deadline.md).
pub async fn database_now(client: &tokio_postgres::Client) -> Result<Timestamp, tokio_postgres::Error> {
    Ok(client.query_one("SELECT clock_timestamp()", &[]).await?.get(0))
}

/// Theirs was read at some moment between `asked` and `answered`: only what lies outside is certain, so that a slow answer is no distance.
fn outside(asked: Timestamp, answered: Timestamp, theirs: Timestamp) -> i64 {
    answered.ms_until(theirs).max(0) + asked.ms_until(theirs).min(0)
}

/// What has been told, so that each turn is told once.
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
    fn a_slow_answer_is_no_distance() {
        let at = Timestamp::from_ms;
        for (asked, answered, theirs, distance_ms) in
            [(1_000, 1_010, 1_005, 0), (1_000, 9_000, 1_000, 0), (1_000, 1_010, 3_000, 1_990), (1_000, 1_010, 400, -600)]
        {
            assert_eq!(outside(at(asked), at(answered), at(theirs)), distance_ms);
        }
    }

    #[test]
    fn a_distance_is_told_once_while_it_lasts() {
        let mut story = Story::default();
        let told: Vec<_> = [0, 1_000, -1_001, 5_000, -700, 1_200, 500, 0, 2_000].map(|ms| story.goes_on(ms)).into();
        let (far, near) = (Some(Turn::Far), Some(Turn::Near));
        assert_eq!(told, [None, None, far, None, None, None, near, None, Some(Turn::Far)]);
    }
}
