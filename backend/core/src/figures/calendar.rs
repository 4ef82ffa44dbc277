//! Business days: each begins at `hari_mulai` on the wall clock of the outlet's zone.

use std::fmt;

use jiff::{ToSpan, civil};
use serde::{Serialize, Serializer};

use crate::domain::timestamp::Timestamp;
use crate::prices::{ClockTime, Zone};

/// The longest period of a report, in days.
pub const MAX_DAYS: usize = 92;

/// A day of the calendar, `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(civil::Date);

impl Day {
    /// `None` unless `text` is a day written as `YYYY-MM-DD`.
    pub fn parse(text: &str) -> Option<Self> {
        let day = Self(text.parse().ok()?);
        // Others of the ways to write a day are read as well.
        ((1..=9_999).contains(&day.0.year()) && day.to_string() == text).then_some(day)
    }

    pub fn plus(self, days: i64) -> Self {
        Self(self.0.saturating_add(days.days()))
    }

    /// Days since 2000-01-01, as PostgreSQL counts them.
    #[cfg(feature = "sql")]
    pub(crate) fn since_2000(self) -> i32 {
        self.0.since(civil::date(2000, 1, 1)).map_or(0, |span| span.get_days())
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// Reason for refusing a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeriodError {
    /// Its first day comes after its last.
    Backwards,
    TooLong,
}

/// Days of a report; both count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    pub first: Day,
    pub last: Day,
}

impl Period {
    pub fn new(first: Day, last: Day) -> Result<Self, PeriodError> {
        if first > last {
            return Err(PeriodError::Backwards);
        }
        let period = Self { first, last };
        if period.days().nth(MAX_DAYS).is_some() { Err(PeriodError::TooLong) } else { Ok(period) }
    }

    pub fn days(self) -> impl Iterator<Item = Day> {
        std::iter::successors(Some(self.first), move |day| (*day < self.last).then(|| day.plus(1)))
    }

    /// The same number of days, moved.
    pub fn moved(self, days: i64) -> Self {
        Self { first: self.first.plus(days), last: self.last.plus(days) }
    }

    pub fn is_one_day(self) -> bool {
        self.first == self.last
    }
}

/// The business days of an outlet.
#[derive(Debug, Clone)]
pub struct Calendar {
    pub zone: Zone,
    pub start: ClockTime,
}

impl Calendar {
    /// As an outlet has it stored: the name of its zone, and the minute at which its day begins.
    pub fn stored(zone: &str, start: i16) -> Option<Self> {
        Some(Self { zone: Zone::parse(zone)?, start: ClockTime::from_minute(start.into())? })
    }

    /// The business day that is going on at `at`.
    pub fn day_of(&self, at: Timestamp) -> Day {
        let (day, minute) = self.zone.wall_clock(at);
        let day = Day(if minute < self.start.minute() { day.saturating_sub(1.day()) } else { day });
        // Where clocks are put back, the next day has begun although the clock shows less again.
        if self.begin(day.plus(1)) <= at { day.plus(1) } else { day }
    }

    /// The first business day that begins at `at` or later.
    pub fn day_from(&self, at: Timestamp) -> Day {
        let day = self.day_of(at);
        if self.begin(day) < at { day.plus(1) } else { day }
    }

    /// When a business day begins: the first instant at which the wall clock shows its start or more.
    pub fn begin(&self, day: Day) -> Timestamp {
        self.zone.first_instant(day.0, self.start)
    }

    /// When each day of a period begins, and when the last one ends.
    pub fn bounds(&self, period: Period) -> Vec<Timestamp> {
        period.days().chain([period.last.plus(1)]).map(|day| self.begin(day)).collect()
    }

    /// The instant at which the wall clock shows the same some days later, or earlier.
    pub fn same_time(&self, at: Timestamp, days: i64) -> Timestamp {
        self.zone.same_time(at, days)
    }

    /// The wall clock at an instant, as a report for people has it: `YYYY-MM-DD HH:MM:SS`.
    pub fn written(&self, at: Timestamp) -> String {
        self.zone.written(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calendar(zone: &str, start: &str) -> Calendar {
        Calendar { zone: Zone::parse(zone).unwrap(), start: ClockTime::parse(start).unwrap() }
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    #[test]
    fn a_day_is_written_in_one_way() {
        assert_eq!(day("2026-02-28").plus(1).to_string(), "2026-03-01");
        for bad in ["", "2026-2-28", "2026-02-29", "20260228", "2026-02-28T00:00", "+002026-02-28", "0000-01-01", "kemarin"] {
            assert_eq!(Day::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_period_has_ninety_two_days_at_most() {
        let first = day("2026-01-01");
        assert_eq!(Period::new(first, first.plus(-1)), Err(PeriodError::Backwards));
        assert_eq!(Period::new(first, first.plus(91)).unwrap().days().count(), 92);
        assert_eq!(Period::new(first, first.plus(92)), Err(PeriodError::TooLong));
    }

    #[test]
    fn a_business_day_begins_at_its_hour_and_ends_with_the_next() {
        let calendar = calendar("Asia/Jakarta", "04:00");
        let period = Period::new(day("2026-11-24"), day("2026-11-25")).unwrap();
        let bounds = ["2026-11-24T04:00:00+07:00", "2026-11-25T04:00:00+07:00", "2026-11-26T04:00:00+07:00"].map(at);
        assert_eq!(calendar.bounds(period), bounds);
        for bound in bounds {
            assert_eq!(calendar.day_of(bound.plus_ms(-1)).plus(1), calendar.day_of(bound));
        }
        assert_eq!(calendar.written(bounds[0]), "2026-11-24 04:00:00");
        assert_eq!(calendar.same_time(bounds[0].plus_ms(123), -7), at("2026-11-17T04:00:00.123+07:00"));
    }

    #[test]
    fn the_ends_of_the_calendar_are_days() {
        let calendar = calendar("Asia/Jakarta", "04:00");
        for of in ["0001-01-01", "9999-12-30", "9999-12-31"] {
            let period = Period::new(day(of), day(of)).unwrap();
            assert!(calendar.bounds(period).is_sorted(), "{of}");
        }
    }

    #[test]
    fn where_clocks_are_moved_a_day_is_longer_or_shorter() {
        let hours = |zone: &str, start: &str, of: &str| {
            let calendar = calendar(zone, start);
            calendar.begin(day(of)).ms_until(calendar.begin(day(of).plus(1))) / 3_600_000
        };
        assert_eq!(hours("America/New_York", "00:00", "2026-03-08"), 23);
        assert_eq!(hours("America/New_York", "00:00", "2026-11-01"), 25);
        assert_eq!(hours("America/New_York", "04:00", "2026-03-07"), 23);
        // The clock skips the start of the day, which therefore begins after the gap.
        let skipped = calendar("America/New_York", "02:30");
        assert_eq!(skipped.begin(day("2026-03-08")), at("2026-03-08T03:00:00-04:00"));
        // It shows the start of the day twice: the first time counts.
        let repeated = calendar("America/New_York", "01:30");
        let began = at("2026-11-01T01:30:00-04:00");
        assert_eq!(repeated.begin(day("2026-11-01")), began);
        for (instant, of) in
            [(began.plus_ms(-1), "2026-10-31"), (began, "2026-11-01"), (at("2026-11-01T01:15:00-05:00"), "2026-11-01")]
        {
            assert_eq!(repeated.day_of(instant), day(of), "{instant:?}");
        }
    }
}
