//! All prices of a service.

use jiff::ToSpan;

use super::rule::PriceRule;
use super::zone::Zone;
use crate::domain::timestamp::Timestamp;

/// A service's price with its rules, on the wall clock of its outlet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tariff {
    /// Rupiah, when no rule holds.
    pub base: i64,
    pub rules: Vec<PriceRule>,
    pub zone: Zone,
}

/// What a service costs at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceNow {
    /// Rupiah.
    pub price: i64,
    /// When it next costs something else; `None`: never.
    pub until: Option<Timestamp>,
}

impl Tariff {
    /// One price at all hours.
    pub fn flat(base: i64) -> Self {
        Self { base, rules: Vec::new(), zone: Zone::default() }
    }

    /// Rupiah at `at`. Where the clock is put back, the price of the repeated hour is repeated; where it is put forward, that of the
    /// skipped hour never holds.
    pub fn price(&self, at: Timestamp) -> i64 {
        if self.rules.is_empty() {
            return self.base;
        }
        let (day, minute) = self.zone.wall_clock(at);
        let weekday = i16::from(day.weekday().to_monday_one_offset());
        self.rules.iter().find(|rule| rule.holds(weekday, minute)).map_or(self.base, |rule| rule.price)
    }

    pub fn at(&self, at: Timestamp) -> PriceNow {
        let price = self.price(at);
        PriceNow { price, until: self.next_change(price, at) }
    }

    /// The first instant after `at` with another price than `price`, which is that of `at`.
    fn next_change(&self, price: i64, at: Timestamp) -> Option<Timestamp> {
        if self.rules.is_empty() {
            return None;
        }
        // A price changes only where a rule begins or ends and where the clock is put forward or back, and repeats after a week.
        let (today, _) = self.zone.wall_clock(at);
        let mut changes: Vec<Timestamp> = (-1_i64..=8)
            .filter_map(|days| today.checked_add(days.days()).ok())
            .flat_map(|day| self.rules.iter().flat_map(|rule| [rule.from, rule.until]).map(move |time| (day, time)))
            .flat_map(|(day, time)| self.zone.instants(day, time))
            .collect();
        changes.extend(self.zone.next_shift(at));
        changes.retain(|change| *change > at);
        changes.sort_unstable();
        changes.into_iter().find(|change| self.price(*change) != price)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::clock_time::ClockTime;
    use super::super::rule::{self, Weekdays};
    use super::*;

    const MINUTE_MS: i64 = 60_000;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    fn tariff(zone: &str, rules: &[(&[i64], &str, &str, i64)]) -> Tariff {
        let time = |text| ClockTime::parse(text).unwrap();
        let rules = rules
            .iter()
            .map(|(days, from, until, price)| PriceRule {
                days: Weekdays::parse(days).unwrap(),
                from: time(from),
                until: time(until),
                price: *price,
            })
            .collect();
        Tariff { base: 15_000, rules, zone: Zone::parse(zone).unwrap() }
    }

    #[test]
    fn a_rule_holds_from_its_first_minute_until_before_its_last() {
        // A Monday.
        let early = tariff("Asia/Jakarta", &[(&[1], "06:00", "09:00", 10_000)]);
        for (text, price, until) in [
            ("2026-11-23T05:59:59.999+07:00", 15_000, Some("2026-11-23T06:00:00+07:00")),
            ("2026-11-23T06:00:00+07:00", 10_000, Some("2026-11-23T09:00:00+07:00")),
            ("2026-11-23T08:59:59.999+07:00", 10_000, Some("2026-11-23T09:00:00+07:00")),
            ("2026-11-23T09:00:00+07:00", 15_000, Some("2026-11-30T06:00:00+07:00")),
        ] {
            assert_eq!(early.at(at(text)), PriceNow { price, until: until.map(at) }, "{text}");
        }
    }

    #[test]
    fn past_midnight_it_belongs_to_the_day_on_which_it_began() {
        let night = tariff("Asia/Jakarta", &[(&[6], "22:00", "06:00", 9_000)]);
        for (text, price) in [
            ("2026-11-28T21:59:00+07:00", 15_000),
            ("2026-11-28T22:00:00+07:00", 9_000),
            ("2026-11-29T05:59:00+07:00", 9_000),
            ("2026-11-29T06:00:00+07:00", 15_000),
            ("2026-11-29T22:00:00+07:00", 15_000),
            ("2026-11-28T05:00:00+07:00", 15_000),
        ] {
            assert_eq!(night.price(at(text)), price, "{text}");
        }
    }

    #[test]
    fn a_rule_at_the_same_price_and_one_for_all_hours_change_nothing() {
        let same = tariff("Asia/Jakarta", &[(&[1], "06:00", "09:00", 15_000)]);
        assert_eq!(same.at(at("2026-11-23T05:00:00+07:00")), PriceNow { price: 15_000, until: None });
        let always = tariff("Asia/Jakarta", &[(&[1, 2, 3, 4, 5, 6, 7], "00:00", "24:00", 8_000)]);
        assert_eq!(always.at(at("2026-11-23T05:00:00+07:00")), PriceNow { price: 8_000, until: None });
        assert_eq!(Tariff::flat(5).at(at("2026-11-23T05:00:00+07:00")), PriceNow { price: 5, until: None });
    }

    #[test]
    fn a_repeated_hour_repeats_its_price_and_a_skipped_one_skips_it() {
        let early = tariff("America/New_York", &[(&[7], "01:30", "02:30", 10_000)]);
        // 2026-11-01: 02:00 becomes 01:00.
        for (text, price, until) in [
            ("2026-11-01T01:29:00-04:00", 15_000, "2026-11-01T01:30:00-04:00"),
            ("2026-11-01T01:59:00-04:00", 10_000, "2026-11-01T01:00:00-05:00"),
            ("2026-11-01T01:00:00-05:00", 15_000, "2026-11-01T01:30:00-05:00"),
            ("2026-11-01T02:29:00-05:00", 10_000, "2026-11-01T02:30:00-05:00"),
        ] {
            assert_eq!(early.at(at(text)), PriceNow { price, until: Some(at(until)) }, "{text}");
        }
        // 2026-03-08: 02:00 becomes 03:00.
        assert_eq!(
            early.at(at("2026-03-08T01:59:00-05:00")),
            PriceNow { price: 10_000, until: Some(at("2026-03-08T03:00:00-04:00")) }
        );
        assert_eq!(early.price(at("2026-03-08T03:00:00-04:00")), 15_000);
    }

    fn rules() -> impl Strategy<Value = Vec<PriceRule>> {
        let rule = (1_u8..128, 0_i32..96, 1_i32..97, 1_i64..4).prop_map(|(days, from, until, price)| {
            let days: Vec<i64> = (1..=7).filter(|day| days & (1 << (day - 1)) != 0).collect();
            let time = |quarter| ClockTime::from_minute(quarter * 15).unwrap();
            PriceRule { days: Weekdays::parse(&days).unwrap(), from: time(from), until: time(until), price: price * 5_000 }
        });
        proptest::collection::vec(rule, 1..4).prop_filter("stand together", |rules| rule::check(rules).is_ok())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
        /// Beside a walk minute by minute, over the days on which clocks are put forward and back, one by half an hour.
        #[test]
        fn the_next_change_is_the_first_minute_with_another_price(
            rules in rules(),
            zone in prop::sample::select(vec!["Asia/Jakarta", "America/New_York", "Australia/Lord_Howe"]),
            day in prop::sample::select(vec!["2026-03-07T00:00:00Z", "2026-04-03T00:00:00Z", "2026-10-02T00:00:00Z", "2026-10-31T00:00:00Z"]),
            minute in 0_i64..2 * 1440,
        ) {
            let tariff = Tariff { base: 15_000, rules, zone: Zone::parse(zone).unwrap() };
            let from = at(day).plus_ms(minute * MINUTE_MS);
            let now = tariff.at(from);
            let walked = (1..=8 * 1440).map(|m| from.plus_ms(m * MINUTE_MS)).find(|at| tariff.price(*at) != now.price);
            prop_assert_eq!(now.until, walked);
        }
    }

    #[test]
    fn a_zone_is_spelled_as_iana_does() {
        assert_eq!(Zone::parse("Asia/Makassar").unwrap().name(), "Asia/Makassar");
        for bad in ["", "Asia/Bandung", "asia/jakarta", "WIB", "UTC+7", "Asia/Jakarta ", "../Asia/Jakarta"] {
            assert!(Zone::parse(bad).is_none(), "{bad}");
        }
    }
}
