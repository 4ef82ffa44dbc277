//! Alarm over guessed reset codes (docs/limits.md). Only a reset takes over an account, and an attacker may use any number of phone
//! numbers and addresses. Wrong reset codes are therefore counted over all of them. Above a limit per hour, each code allows one attempt
//! and few codes are sent, until the guessing has stopped for a while.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nyala_cluster::Ownership;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::rate_limit::{SlidingWindow, WindowLimits};
use nyala_store::config;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;

use super::error::AuthError;

const HOUR_MS: i64 = 60 * 60 * 1000;
/// Wrong codes that are remembered: far more than the alarm allows in an hour.
const MAX_WRONG: usize = 1 << 16;
/// The time until the last attempts before the alarm are decided; in fact milliseconds.
const RETRY_S: u32 = 1;

/// Wrong codes of all servers in an hour that raise the alarm if they are exceeded, and how long it lasts.
#[derive(Debug, Clone, Copy)]
struct AlarmRule {
    wrong_per_hour: usize,
    lasts_ms: i64,
}

/// One instance for the whole process; a restart clears it. Each of several servers has a separate alarm, raised by its share of wrong
/// codes.
#[derive(Debug)]
pub struct ResetAlarm {
    rule: AlarmRule,
    servers: Ownership,
    state: Mutex<AlarmState>,
    on: Gauge,
    wrong: Counter,
}

#[derive(Debug)]
struct AlarmState {
    wrong: SlidingWindow<(), ()>,
    /// Attempts that are not decided yet.
    open: usize,
    alarm: Option<Alarm>,
}

#[derive(Debug, Clone, Copy)]
struct Alarm {
    since: Timestamp,
    until: Timestamp,
}

/// An attempt that is not decided yet.
#[derive(Debug)]
pub struct ResetTry<'a> {
    of: &'a ResetAlarm,
    /// Start of the alarm. A code that was sent before it is refused; one sent since then allows one attempt.
    pub alarm_since: Option<Timestamp>,
}

impl ResetAlarm {
    pub fn new(config: &config::AuthSettings, servers: Ownership) -> Self {
        let rule = AlarmRule { wrong_per_hour: config.reset_alarm_wrong_per_hour, lasts_ms: config.reset_alarm_hours * HOUR_MS };
        Self::with(rule, servers)
    }

    fn with(rule: AlarmRule, servers: Ownership) -> Self {
        let state = Mutex::new(AlarmState {
            wrong: SlidingWindow::new(WindowLimits { window_ms: HOUR_MS, max_events: MAX_WRONG }),
            open: 0,
            alarm: None,
        });
        Self { rule, servers, state, on: Gauge::default(), wrong: Counter::default() }
    }

    /// Begins an attempt with a stranger's code.
    ///
    /// # Errors
    /// `TooMany` when the attempts that are not decided yet could raise the alarm. Otherwise many parallel attempts would be judged
    /// as if there were no alarm.
    pub fn begin(&self, now: Timestamp) -> Result<ResetTry<'_>, AuthError> {
        let mut state = self.lock();
        let alarm_since = self.since_in(&mut state, now);
        if alarm_since.is_none() && state.wrong.count(&(), now) + state.open > self.servers.share_of(self.rule.wrong_per_hour) {
            return Err(AuthError::TooMany { retry_s: RETRY_S });
        }
        state.open += 1;
        Ok(ResetTry { of: self, alarm_since })
    }

    /// Start of the alarm, if it is on.
    pub fn since(&self, now: Timestamp) -> Option<Timestamp> {
        self.since_in(&mut self.lock(), now)
    }

    /// 1 while the alarm is on, for the metrics.
    pub fn on(&self) -> &Gauge {
        &self.on
    }

    /// Wrong codes of strangers, for the metrics.
    pub fn wrong(&self) -> &Counter {
        &self.wrong
    }

    fn since_in(&self, state: &mut AlarmState, now: Timestamp) -> Option<Timestamp> {
        if state.alarm.is_some_and(|alarm| alarm.until <= now) {
            state.alarm = None;
            self.on.set(0);
            tracing::info!("the alarm over guessed reset codes is over");
        }
        state.alarm.map(|alarm| alarm.since)
    }

    fn count_wrong(&self, now: Timestamp) {
        self.wrong.inc();
        let mut state = self.lock();
        state.wrong.add((), (), now);
        let wrong = state.wrong.count(&(), now);
        if wrong <= self.servers.share_of(self.rule.wrong_per_hour) {
            return;
        }
        let until = now.plus_ms(self.rule.lasts_ms);
        if let Some(alarm) = &mut state.alarm {
            alarm.until = until;
            return;
        }
        state.alarm = Some(Alarm { since: now, until });
        self.on.set(1);
        tracing::warn!(
            wrong,
            "reset codes are being guessed: until it stops each is good for one try, and few are sent to phones that are not known \
             (docs/limits.md)"
        );
    }

    fn lock(&self) -> MutexGuard<'_, AlarmState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResetTry<'_> {
    /// The code was wrong.
    pub fn wrong(self, now: Timestamp) {
        self.of.count_wrong(now);
    }
}

impl Drop for ResetTry<'_> {
    fn drop(&mut self) {
        self.of.lock().open -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use nyala_cluster::metrics::ClusterMetrics;

    use super::*;

    const DAY_MS: i64 = 24 * HOUR_MS;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(1_795_000_000_000 + ms)
    }

    fn guess(alarm: &ResetAlarm, ms: i64) {
        alarm.begin(at(ms)).unwrap().wrong(at(ms));
    }

    #[test]
    fn more_wrong_codes_in_an_hour_than_allowed_raise_it_until_they_have_stopped_for_a_day() {
        let alarm = ResetAlarm::with(AlarmRule { wrong_per_hour: 100, lasts_ms: DAY_MS }, Ownership::default());
        (0..100).for_each(|ms| guess(&alarm, ms));
        assert_eq!(alarm.since(at(100)), None);
        guess(&alarm, 100);
        assert_eq!(alarm.since(at(100)), Some(at(100)));
        // Still more than allowed in an hour, so the alarm's day starts again.
        guess(&alarm, HOUR_MS - 1);
        assert_eq!(alarm.since(at(HOUR_MS - 1 + DAY_MS - 1)), Some(at(100)));
        assert_eq!((alarm.on().get(), alarm.wrong().get()), (1, 102));
        assert_eq!(alarm.since(at(HOUR_MS - 1 + DAY_MS)), None);
        assert_eq!(alarm.on().get(), 0);
    }

    #[test]
    fn fewer_wrong_codes_never_raise_it() {
        let alarm = ResetAlarm::with(AlarmRule { wrong_per_hour: 100, lasts_ms: DAY_MS }, Ownership::default());
        for n in 0..10_000 {
            guess(&alarm, n * HOUR_MS / 100);
            assert_eq!(alarm.since(at(n * HOUR_MS / 100)), None);
        }
    }

    #[test]
    fn many_parallel_attempts_do_not_get_past_it() {
        let alarm = ResetAlarm::with(AlarmRule { wrong_per_hour: 3, lasts_ms: DAY_MS }, Ownership::default());
        let mut open: Vec<_> = (0..4).map(|_| alarm.begin(at(0)).unwrap()).collect();
        assert!(alarm.begin(at(0)).is_err());
        drop(open.pop()); // right, or its caller disconnected
        open.push(alarm.begin(at(0)).unwrap());
        open.into_iter().for_each(|tried| tried.wrong(at(1)));
        assert_eq!(alarm.begin(at(2)).unwrap().alarm_since, Some(at(1)));
        assert_eq!(alarm.lock().open, 0);
    }

    #[test]
    fn one_of_several_servers_raises_it_after_its_share() {
        let servers = Ownership::shared(ClusterMetrics::default(), Duration::ZERO);
        servers.update_members(3, vec![]);
        let alarm = ResetAlarm::with(AlarmRule { wrong_per_hour: 100, lasts_ms: DAY_MS }, servers);
        (0..34).for_each(|ms| guess(&alarm, ms));
        assert_eq!(alarm.since(at(34)), None);
        guess(&alarm, 34);
        assert_eq!(alarm.since(at(34)), Some(at(34)));
    }
}
