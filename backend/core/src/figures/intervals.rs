//! Sets of time.

use crate::domain::timestamp::Timestamp;

/// From an instant until before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    pub from: Timestamp,
    pub until: Timestamp,
}

/// Instants: intervals in their order that neither overlap nor touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intervals(Vec<Interval>);

impl FromIterator<Interval> for Intervals {
    /// All instants of any of them.
    fn from_iter<I: IntoIterator<Item = Interval>>(all: I) -> Self {
        let mut all: Vec<Interval> = all.into_iter().filter(|i| i.from < i.until).collect();
        all.sort_unstable();
        let mut joined: Vec<Interval> = Vec::new();
        for interval in all {
            match joined.last_mut() {
                Some(last) if interval.from <= last.until => last.until = last.until.max(interval.until),
                _ => joined.push(interval),
            }
        }
        Self(joined)
    }
}

impl Intervals {
    pub fn one(from: Timestamp, until: Timestamp) -> Self {
        [Interval { from, until }].into_iter().collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = Interval> {
        self.0.iter().copied()
    }

    pub fn and(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).collect()
    }

    /// Without those of `other`.
    pub fn minus(&self, other: &Self) -> Self {
        let (mut left, mut next) = (Vec::new(), 0);
        for mut interval in self.iter() {
            while other.0.get(next).is_some_and(|o| o.until <= interval.from) {
                next += 1;
            }
            for taken in other.0[next..].iter().take_while(|o| o.from < interval.until) {
                if interval.from < taken.from {
                    left.push(Interval { from: interval.from, until: taken.from });
                }
                interval.from = interval.from.max(taken.until);
            }
            if interval.from < interval.until {
                left.push(interval);
            }
        }
        Self(left)
    }

    /// Those of both.
    pub fn within(&self, other: &Self) -> Self {
        self.minus(&self.minus(other))
    }

    /// Milliseconds in each of the parts between `bounds`.
    pub fn ms_between(&self, bounds: &[Timestamp]) -> Vec<i64> {
        let mut parts = vec![0; bounds.len().saturating_sub(1)];
        for interval in self.iter() {
            let first = bounds.partition_point(|bound| *bound <= interval.from).saturating_sub(1);
            for (n, part) in bounds.windows(2).enumerate().skip(first).take_while(|(_, part)| part[0] < interval.until) {
                parts[n] += interval.from.max(part[0]).ms_until(interval.until.min(part[1])).max(0);
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(pairs: &[(i64, i64)]) -> Intervals {
        pairs
            .iter()
            .map(|(from, until)| Interval { from: Timestamp::from_ms(*from), until: Timestamp::from_ms(*until) })
            .collect()
    }

    fn has(set: &Intervals, ms: i64) -> bool {
        set.iter().any(|i| i.from.ms() <= ms && ms < i.until.ms())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn sets_of_time_are_sets_of_instants(
            a in proptest::collection::vec((0_i64..60, 0_i64..60), 0..8),
            b in proptest::collection::vec((0_i64..60, 0_i64..60), 0..8),
            cuts in proptest::collection::btree_set(0_i64..60, 2..5),
        ) {
            let (left, right) = (set(&a), set(&b));
            let (sum, rest, both) = (left.and(&right), left.minus(&right), left.within(&right));
            for ms in 0..60 {
                prop_assert_eq!(has(&left, ms), a.iter().any(|(from, until)| (*from..*until).contains(&ms)));
                prop_assert_eq!(has(&sum, ms), has(&left, ms) || has(&right, ms));
                prop_assert_eq!(has(&rest, ms), has(&left, ms) && !has(&right, ms));
                prop_assert_eq!(has(&both, ms), has(&left, ms) && has(&right, ms));
            }
            let bounds: Vec<Timestamp> = cuts.iter().map(|ms| Timestamp::from_ms(*ms)).collect();
            let counted: Vec<i64> = cuts.iter().zip(cuts.iter().skip(1))
                .map(|(from, until)| (*from..*until).filter(|ms| has(&left, *ms)).count().try_into().unwrap()).collect();
            prop_assert_eq!(left.ms_between(&bounds), counted);
        }
    }
}
