//! A price for some hours of a week.

use super::clock_time::ClockTime;

/// The most rules that a service may have.
pub const MAX_RULES: usize = 6;

const DAY: u32 = 24 * 60;
const WEEK: u32 = 7 * DAY;

/// Days of the week: bit 0 is Monday. Never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weekdays(u8);

impl Weekdays {
    /// `None` unless each day is one of 1 (Monday) to 7 (Sunday), and there is at least one.
    pub fn parse(days: &[i64]) -> Option<Self> {
        let mut set = 0;
        for day in days {
            let day = u8::try_from(*day).ok().filter(|day| (1..=7).contains(day))?;
            set |= 1 << (day - 1);
        }
        (set != 0).then_some(Self(set))
    }

    /// From 1 (Monday) to 7 (Sunday), ascending.
    pub fn iter(self) -> impl Iterator<Item = i16> {
        (1..=7).filter(move |day| self.contains(*day))
    }

    fn contains(self, day: i16) -> bool {
        self.0 & (1 << (day - 1)) != 0
    }
}

/// The price from `from` until before `until`. When `until` comes before `from`, the rule lasts until the next day and belongs to the day on
/// which it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceRule {
    pub days: Weekdays,
    pub from: ClockTime,
    pub until: ClockTime,
    /// Rupiah.
    pub price: i64,
}

impl PriceRule {
    /// Whether it holds at `minute` of `weekday`, 1 (Monday) to 7.
    pub(super) fn holds(&self, weekday: i16, minute: u16) -> bool {
        let (from, until) = (self.from.minute(), self.until.minute());
        let day_before = if weekday == 1 { 7 } else { weekday - 1 };
        if from < until {
            self.days.contains(weekday) && (from..until).contains(&minute)
        } else {
            self.days.contains(weekday) && minute >= from || self.days.contains(day_before) && minute < until
        }
    }

    /// Its first minute in the week and its length, for each of its days.
    fn spans(&self) -> impl Iterator<Item = (u32, u32)> {
        let (from, until) = (u32::from(self.from.minute()), u32::from(self.until.minute()));
        let length = if from < until { until - from } else { until + DAY - from };
        self.days.iter().map(move |day| (u32::from(day.unsigned_abs() - 1) * DAY + from, length))
    }
}

/// Why rules are not a valid set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulesError {
    TooMany,
    /// One begins when it ends, or at the end of a day.
    Empty,
    /// Two of them hold at one minute.
    Overlap,
}

/// Checks that at each minute at most one of them holds.
pub fn check(rules: &[PriceRule]) -> Result<(), RulesError> {
    if rules.len() > MAX_RULES {
        return Err(RulesError::TooMany);
    }
    if rules.iter().any(|rule| rule.from == rule.until || rule.from == ClockTime::DAY_END) {
        return Err(RulesError::Empty);
    }
    let spans: Vec<(u32, u32)> = rules.iter().flat_map(PriceRule::spans).collect();
    for (i, (start, length)) in spans.iter().enumerate() {
        for (other, other_length) in &spans[i + 1..] {
            // The distance from one beginning to the other, forward around the week.
            let distance = (other + WEEK - start) % WEEK;
            if distance < *length || (WEEK - distance) % WEEK < *other_length {
                return Err(RulesError::Overlap);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(days: &[i64], from: &str, until: &str) -> PriceRule {
        let time = |text| ClockTime::parse(text).unwrap();
        PriceRule { days: Weekdays::parse(days).unwrap(), from: time(from), until: time(until), price: 1 }
    }

    #[test]
    fn days_are_one_to_seven() {
        assert_eq!(Weekdays::parse(&[7, 1, 1]).unwrap().iter().collect::<Vec<_>>(), [1, 7]);
        for bad in [&[][..], &[0], &[8], &[-1], &[i64::MAX]] {
            assert_eq!(Weekdays::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn two_that_hold_at_one_minute_are_refused() {
        let overlap = |a, b| check(&[a, b]) == Err(RulesError::Overlap);
        assert!(!overlap(rule(&[1, 2], "06:00", "09:00"), rule(&[1, 2], "09:00", "12:00")), "one begins where the other ends");
        assert!(!overlap(rule(&[1], "06:00", "09:00"), rule(&[2], "06:00", "09:00")));
        assert!(overlap(rule(&[1], "06:00", "09:00"), rule(&[1], "08:59", "10:00")));
        assert!(overlap(rule(&[1], "06:00", "09:00"), rule(&[1], "06:00", "09:00")));
        assert!(overlap(rule(&[7], "22:00", "06:00"), rule(&[1], "05:00", "07:00")), "past the end of the week");
        assert!(overlap(rule(&[1], "05:00", "07:00"), rule(&[7], "22:00", "06:00")));
        assert!(!overlap(rule(&[7], "22:00", "06:00"), rule(&[1], "06:00", "07:00")));
        assert!(!overlap(rule(&[1], "22:00", "24:00"), rule(&[2], "00:00", "06:00")));
        assert!(overlap(rule(&[1, 2, 3, 4, 5, 6, 7], "22:00", "21:59"), rule(&[3], "21:58", "21:59")));
    }

    #[test]
    fn a_rule_without_a_minute_and_a_seventh_one_are_refused() {
        assert_eq!(check(&[rule(&[1], "06:00", "06:00")]), Err(RulesError::Empty));
        assert_eq!(check(&[rule(&[1], "24:00", "06:00")]), Err(RulesError::Empty));
        let each: Vec<_> = (1..=7).map(|day| rule(&[day], "06:00", "07:00")).collect();
        assert_eq!(check(&each), Err(RulesError::TooMany));
        assert_eq!(check(&each[1..]), Ok(()));
    }
}
