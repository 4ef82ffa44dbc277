//! `sampai`: what a history page has to know to go on as of the first one (docs/contract.md §2).
//!
//! Ledger ids are given out before their transactions commit, so "ids up to the newest" is not enough: a row with a lower id
//! may commit after the first page was read and would shift every later page by one. So the transactions that were in progress
//! then are kept too, and their rows left out. (`ledger_transfer.xid` is taken before `id`, so a transaction that was not in
//! progress at the first page and is not in the list either has only higher ids.)

use std::fmt::Write;

/// Maximum number of transactions in progress in a cursor; more than the connections of any PostgreSQL.
pub const MAX_IN_PROGRESS: usize = 2048;

/// The rows a series of pages is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The highest ledger id of the customer at the first page; 0 when there was none.
    pub max_id: i64,
    /// Transactions that were in progress then (`xid8`).
    pub in_progress: Vec<u64>,
}

impl Cursor {
    /// Lower-case hexadecimal numbers between dots: the id, then the transactions.
    pub fn encode(&self) -> String {
        let mut text = format!("{:x}", self.max_id);
        for xid in &self.in_progress {
            let _ = write!(text, ".{xid:x}");
        }
        text
    }

    /// `None` for anything `encode` would not have written.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').take(MAX_IN_PROGRESS + 2).map(|part| u64::from_str_radix(part, 16).ok());
        let max_id = i64::try_from(numbers.next()??).ok()?;
        let in_progress = numbers.collect::<Option<Vec<u64>>>()?;
        let parsed = Self { max_id, in_progress };
        (parsed.in_progress.len() <= MAX_IN_PROGRESS && parsed.encode() == text).then_some(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, MAX_IN_PROGRESS};

    #[test]
    fn what_was_written_reads_back() {
        for in_progress in [vec![], vec![1], vec![u64::MAX; MAX_IN_PROGRESS]] {
            let sampai = Cursor { max_id: i64::MAX, in_progress };
            assert_eq!(Cursor::parse(&sampai.encode()), Some(sampai));
        }
    }

    #[test]
    fn nothing_else_does() {
        let long = "1".to_owned() + &".1".repeat(MAX_IN_PROGRESS + 1);
        for bad in [
            "",
            ".",
            "1.",
            "-1",
            "+1",
            "0x1",
            "1..2",
            "01",
            "1A",
            "ffffffffffffffff",
            "1.10000000000000000",
            "1 ",
            "1;DROP",
            &long,
        ] {
            assert_eq!(Cursor::parse(bad), None, "{bad}");
        }
    }
}
