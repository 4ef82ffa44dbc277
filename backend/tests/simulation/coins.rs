//! The coins of the coin machine that are counted, as the row of the database has them (`koin_seri`).

use nyala_core::coins::{CoinReport, Counted};

#[derive(Debug, Default)]
pub struct CountedCoins {
    counted: Option<Counted>,
    /// The count of the first report, which is where the series begins.
    first: i64,
    total: i64,
    /// Two boards have said the coins of one machine.
    pub of_two: bool,
}

impl CountedCoins {
    /// A report is written. `fallen`: how many coins have fallen by now.
    pub fn hear(&mut self, report: CoinReport, fallen: i64) {
        match &mut self.counted {
            Some(counted) => self.total += counted.count(report).unwrap_or(0),
            None => (self.counted, self.first) = (Some(Counted::since(report)), report.coins),
        }
        assert!(self.total <= fallen || self.of_two, "more coins are counted than the {fallen} that have fallen: {self:?}");
    }

    pub fn knows(&self, boot: Option<i64>) -> bool {
        self.counted.as_ref().is_some_and(|counted| counted.knows(boot))
    }

    /// All coins that a board has kept, and reported, are counted.
    pub fn check_all(&self, kept: i64) {
        assert_eq!(self.total, kept - self.first, "{self:?}");
    }
}
