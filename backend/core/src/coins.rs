//! Decides how many coins of a board's report are new (docs/contract.md §6). Of one board, never more are counted than have fallen. A replacement board
//! with a higher count looks the same as a reboot of the old one, so its coins are counted.

use crate::domain::timestamp::Timestamp;

/// Boots that are remembered beside the last one (docs/contract.md §6).
pub const MAX_FORMER: usize = 8;

/// How many coins a board says that it has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoinReport {
    pub boot: Option<i64>,
    pub coins: i64,
    /// When the server received it.
    pub at: Timestamp,
}

/// How far the coins of a machine are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The newest report of the newest boot.
    pub last: CoinReport,
    /// The boots before that one and their highest numbers, the newest first. Another server may hand in a report of theirs late, and that is
    /// no new series.
    pub former: Vec<(i64, i64)>,
}

impl Counted {
    /// The first report of a machine begins its series.
    pub const fn since(first: CoinReport) -> Self {
        Self { last: first, former: Vec::new() }
    }

    /// Counts a report. Returns the coins that it adds; `None`: it is known or late.
    pub fn count(&mut self, said: CoinReport) -> Option<i64> {
        if said.boot == self.last.boot {
            let new = said.coins - self.last.coins;
            return (new > 0).then(|| {
                self.last = said;
                new
            });
        }
        if said.at < self.last.at {
            return None;
        }
        if self.knows(said.boot) {
            return self.count_former(said);
        }
        // A lower count after a boot means a new board: its series starts here. Otherwise counting goes on from the highest known number that is not above.
        let goes_on = said.coins >= self.last.coins;
        let below = self.numbers().filter(|coins| goes_on && *coins <= said.coins).max();
        self.former.splice(0..0, self.last.boot.map(|boot| (boot, self.last.coins)));
        self.former.truncate(MAX_FORMER);
        self.last = said;
        Some(below.map_or(0, |below| said.coins - below))
    }

    /// A report of a former boot that is above all known numbers shows that the last boot's report was the late one: the difference is counted.
    fn count_former(&mut self, said: CoinReport) -> Option<i64> {
        let highest = self.numbers().max()?;
        let entry = self.former.iter_mut().find(|(boot, _)| Some(*boot) == said.boot)?;
        (said.coins > highest).then(|| {
            entry.1 = said.coins;
            said.coins - highest
        })
    }

    /// Whether a boot was counted, as far as that is remembered.
    pub fn knows(&self, boot: Option<i64>) -> bool {
        self.last.boot == boot || self.former.iter().any(|(former, _)| Some(*former) == boot)
    }

    fn numbers(&self) -> impl Iterator<Item = i64> {
        std::iter::once(self.last.coins).chain(self.former.iter().map(|(_, coins)| *coins))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn report(boot: i64, coins: i64, at_ms: i64) -> CoinReport {
        CoinReport { boot: Some(boot), coins, at: Timestamp::from_ms(at_ms) }
    }

    /// What is counted of each report.
    fn counts(reports: &[CoinReport]) -> Vec<i64> {
        let mut counted = Counted::since(reports[0]);
        let mut count = |said: &CoinReport| counted.count(*said).unwrap_or(-1);
        [0].into_iter().chain(reports[1..].iter().map(&mut count)).collect()
    }

    #[test]
    fn the_first_report_begins_the_series_and_only_growth_is_counted() {
        assert_eq!(counts(&[report(1, 500, 0), report(1, 500, 1), report(1, 503, 2), report(1, 504, 3)]), [0, -1, 3, 1]);
    }

    #[test]
    fn what_is_doubled_or_late_counts_nothing() {
        assert_eq!(
            counts(&[report(1, 5, 0), report(1, 9, 1), report(1, 7, 2), report(1, 9, 3), report(1, 10, 4)]),
            [0, 4, -1, -1, 1]
        );
        // Another server was slower with a report from before the boot.
        assert_eq!(counts(&[report(1, 5, 0), report(2, 9, 9), report(1, 7, 8), report(1, 12, 8)]), [0, 4, -1, -1]);
    }

    #[test]
    fn a_boot_goes_on_with_the_series_and_a_lower_number_after_it_begins_another() {
        assert_eq!(counts(&[report(1, 5, 0), report(2, 5, 1), report(2, 6, 2), report(3, 8, 3)]), [0, 0, 1, 2]);
        assert_eq!(counts(&[report(1, 90, 0), report(2, 4, 1), report(2, 6, 2), report(2, 5, 3)]), [0, 0, 2, -1]);
    }

    #[test]
    fn a_former_boot_that_is_read_late_begins_no_series() {
        let late = [report(1, 7, 0), report(2, 9, 1), report(1, 7, 5), report(2, 10, 6), report(1, 8, 7)];
        assert_eq!(counts(&late), [0, 2, -1, 1, -1]);
        let boots: Vec<CoinReport> = (0..12).map(|n| report(n, n, n)).collect();
        assert_eq!(counts(&boots).iter().sum::<i64>(), 11, "and there is a limit to what is remembered");
    }

    /// Boot 2 is reported after boot 3, and no server knew it before.
    #[test]
    fn one_late_report_of_an_unknown_boot_costs_no_coin() {
        let late = [report(1, 7, 0), report(3, 10, 1), report(2, 9, 2), report(3, 10, 3), report(3, 12, 4), report(4, 15, 5)];
        assert_eq!(counts(&late), [0, 3, 0, -1, 2, 3]);
    }

    proptest::proptest! {
        /// Boards count up and are replaced, and their reports come twice, late or not at all.
        #[test]
        fn never_more_is_counted_than_has_fallen(steps in proptest::collection::vec((0_u8..7, 0_i64..9), 1..80)) {
            let (mut boot, mut coins, mut fallen, mut total, mut at) = (1, 0, 0, 0, 0);
            let mut said: Vec<CoinReport> = Vec::new();
            let mut counted: Option<Counted> = None;
            for (what, n) in steps {
                at += 1;
                match what {
                    0 => boot += 1,
                    // A new board: its earlier coins fell into another machine. One with a higher count looks like a boot.
                    1 => {
                        let known = counted.as_ref().map_or(coins, |counted| counted.last.coins);
                        (boot, coins) = (boot + 1, n.min(coins).min(known));
                    }
                    2 => (coins, fallen) = (coins + n, fallen + n),
                    _ => {}
                }
                let report = report(boot, coins, at);
                let late = || said[(said.len() - 1).saturating_sub(usize::try_from(n).unwrap())];
                let heard = match what {
                    3 if !said.is_empty() => late(),
                    // A server that stood still reads it only now.
                    4 if !said.is_empty() => CoinReport { at: report.at, ..late() },
                    _ => report,
                };
                // Reports are delayed by seconds in practice, so a report that is older than half of the remembered boots is not generated.
                if heard.boot.is_none_or(|heard| heard + i64::try_from(MAX_FORMER / 2).unwrap() < boot) {
                    continue;
                }
                // Only one report of an unknown boot may be late: a second one could add coins that are counted already.
                if !counted.as_ref().is_some_and(|counted| counted.knows(heard.boot)) && heard.boot != report.boot {
                    said.retain(|said| said.boot != heard.boot);
                } else {
                    said.push(heard);
                }
                if what != 2 {
                    match &mut counted {
                        Some(counted) => total += counted.count(heard).unwrap_or(0),
                        None => counted = Some(Counted::since(heard)),
                    }
                }
                proptest::prop_assert!(total <= fallen, "{total} of {fallen}");
            }
        }
    }
}
