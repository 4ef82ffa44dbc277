//! Coins that a machine's board counts (docs/contract.md §6): how many of what it says are new. Of one board, never more are
//! counted than have fallen; a board that takes the place of another and has counted more looks like a boot of the other one.

use crate::domain::timestamp::Timestamp;

/// How many coins a board says that it has counted. The counted report of a machine is how far its coins are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoinReport {
    pub boot: Option<i64>,
    pub coins: i64,
    /// When the server received it.
    pub at: Timestamp,
}

/// What a report adds to what is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewCoins {
    /// The counted report from now on.
    pub counted: CoinReport,
    pub coins: i64,
}

/// What a report adds; `None`: nothing, because it is known or late. `counted`: `None` before the first report, which begins the series.
pub fn new_coins(counted: Option<CoinReport>, said: CoinReport) -> Option<NewCoins> {
    let Some(counted) = counted else { return Some(NewCoins { counted: said, coins: 0 }) };
    if said.boot == counted.boot {
        return (said.coins > counted.coins).then(|| NewCoins { counted: said, coins: said.coins - counted.coins });
    }
    // A board that says less after a boot is another one, whose series begins with that.
    (said.at >= counted.at).then(|| NewCoins { counted: said, coins: (said.coins - counted.coins).max(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn report(boot: i64, coins: i64, at_ms: i64) -> CoinReport {
        CoinReport { boot: Some(boot), coins, at: Timestamp::from_ms(at_ms) }
    }

    /// What is counted of each report.
    fn counts(reports: &[CoinReport]) -> Vec<i64> {
        let mut counted = None;
        let mut count = |said: &CoinReport| {
            let new = new_coins(counted, *said)?;
            counted = Some(new.counted);
            Some(new.coins)
        };
        reports.iter().map(|said| count(said).unwrap_or(-1)).collect()
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

    proptest::proptest! {
        /// Boards count up and are replaced, and their reports come twice, late or not at all.
        #[test]
        fn never_more_is_counted_than_has_fallen(steps in proptest::collection::vec((0_u8..6, 0_i64..9), 1..80)) {
            let (mut boot, mut coins, mut fallen, mut total, mut at) = (1, 0, 0, 0, 0);
            let mut said: Vec<CoinReport> = Vec::new();
            let mut counted = None;
            for (what, n) in steps {
                at += 1;
                match what {
                    0 => boot += 1,
                    // A new board: its earlier coins fell into another machine.
                    1 => (boot, coins) = (boot + 1, n.min(coins)),
                    2 => (coins, fallen) = (coins + n, fallen + n),
                    _ => {}
                }
                let report = report(boot, coins, at);
                let heard = match what {
                    3 if !said.is_empty() => said[usize::try_from(n).unwrap() % said.len()],
                    _ => report,
                };
                said.push(heard);
                if what != 2
                    && let Some(new) = new_coins(counted, heard)
                {
                    (counted, total) = (Some(new.counted), total + new.coins);
                }
                proptest::prop_assert!(total <= fallen, "{total} of {fallen}");
            }
        }
    }
}
