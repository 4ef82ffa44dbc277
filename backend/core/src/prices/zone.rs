//! The wall clock of an outlet.

use std::fmt;

use jiff::civil;
use jiff::tz::TimeZone;

use super::clock_time::ClockTime;
use crate::domain::timestamp::Timestamp;

/// A time zone of IANA's database, which is compiled in: every server has the same.
#[derive(Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone of an outlet that chose none.
    pub const DEFAULT: &str = "Asia/Jakarta";

    /// `None` unless `name` is the name of a zone, as IANA spells it.
    pub fn parse(name: &str) -> Option<Self> {
        let zone = TimeZone::get(name).ok()?;
        (zone.iana_name() == Some(name)).then_some(Self(zone))
    }

    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or(Self::DEFAULT)
    }

    /// The day and the minute of it that a wall clock shows.
    pub(crate) fn wall_clock(&self, at: Timestamp) -> (civil::Date, u16) {
        let local = self.0.to_datetime(instant(at));
        (local.date(), u16::from(local.hour().unsigned_abs()) * 60 + u16::from(local.minute().unsigned_abs()))
    }

    /// When a wall clock shows `time` on `day`: both instants where the hour is repeated. In a skipped hour, those that it would be with
    /// the offset of before and of after.
    pub(super) fn instants(&self, day: civil::Date, time: ClockTime) -> Vec<Timestamp> {
        use jiff::tz::AmbiguousOffset::{Fold, Gap, Unambiguous};
        let midnight = day.to_datetime(civil::Time::midnight());
        let Ok(at) = midnight.checked_add(jiff::Span::new().minutes(i64::from(time.minute()))) else { return Vec::new() };
        let offsets = match self.0.to_ambiguous_timestamp(at).offset() {
            Unambiguous { offset } => vec![offset],
            Gap { before, after } | Fold { before, after } => vec![before, after],
        };
        offsets
            .iter()
            .filter_map(|offset| offset.to_timestamp(at).ok())
            .map(|at| Timestamp::from_ms(at.as_millisecond()))
            .collect()
    }

    /// When the business day began that is going on at `now`; each one begins at `start`.
    pub fn day_began(&self, start: ClockTime, now: Timestamp) -> Timestamp {
        self.last(start, now)
    }

    /// When a wall clock showed `time` last, `now` included.
    pub fn last(&self, time: ClockTime, now: Timestamp) -> Timestamp {
        let (today, minute) = self.wall_clock(now);
        let day = if minute < time.minute() { today.yesterday().unwrap_or(today) } else { today };
        self.instants(day, time).into_iter().filter(|at| *at <= now).max().unwrap_or(now)
    }

    /// When a wall clock shows `time` next, `now` not included.
    pub fn next(&self, time: ClockTime, now: Timestamp) -> Timestamp {
        let (today, _) = self.wall_clock(now);
        let tomorrow = today.tomorrow().unwrap_or(today);
        let at = [today, tomorrow].into_iter().flat_map(|day| self.instants(day, time));
        at.filter(|at| *at > now).min().unwrap_or(now)
    }

    /// The first instant at which the wall clock shows `time` or more on `day`, as it does where the clock is put over it.
    pub(crate) fn first_instant(&self, day: civil::Date, time: ClockTime) -> Timestamp {
        let Some(at) = self.instants(day, time).into_iter().min() else {
            // Days of the calendar's last hours have no instants.
            return Timestamp::from_ms(jiff::Timestamp::MAX.as_millisecond());
        };
        let (shown, minute) = self.wall_clock(at);
        if (shown, minute) < (day, time.minute()) { self.next_shift(at).unwrap_or(at) } else { at }
    }

    /// The instant at which the wall clock shows the same some days later.
    pub(crate) fn same_time(&self, at: Timestamp, days: i64) -> Timestamp {
        let moved = self.0.to_datetime(instant(at)).saturating_add(jiff::Span::new().days(days));
        let instant = self.0.to_ambiguous_timestamp(moved).compatible();
        instant.map_or(at, |instant| Timestamp::from_ms(instant.as_millisecond()))
    }

    /// `YYYY-MM-DD HH:MM:SS` of the wall clock.
    pub(crate) fn written(&self, at: Timestamp) -> String {
        self.0.to_datetime(instant(at)).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// When the clock is next put forward or back.
    pub(super) fn next_shift(&self, after: Timestamp) -> Option<Timestamp> {
        self.0.following(instant(after)).next().map(|shift| Timestamp::from_ms(shift.timestamp().as_millisecond()))
    }
}

fn instant(at: Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(at.ms()).unwrap_or(jiff::Timestamp::MAX)
}

impl Default for Zone {
    fn default() -> Self {
        Self::parse(Self::DEFAULT).unwrap_or(Self(TimeZone::UTC))
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_business_day_goes_on_past_midnight() {
        let at = |text| Timestamp::parse_rfc3339(text).unwrap();
        let four = ClockTime::parse("04:00").unwrap();
        for (zone, now, began) in [
            ("Asia/Jakarta", "2026-11-23T03:59:59+07:00", "2026-11-22T04:00:00+07:00"),
            ("Asia/Jakarta", "2026-11-23T04:00:00+07:00", "2026-11-23T04:00:00+07:00"),
            ("Asia/Jayapura", "2026-11-23T03:59:59+07:00", "2026-11-23T04:00:00+09:00"),
        ] {
            assert_eq!(Zone::parse(zone).unwrap().day_began(four, at(now)), at(began), "{zone} {now}");
        }
    }
}
