//! `sampai`: the state of the ledger at the first page of a history, so that later pages continue from it (docs/contract.md §2).
//!
//! The newest id alone is not enough. A ledger id is assigned before its transaction commits, so a row with a lower id may become visible
//! after the first page was read, and would shift every later page by one. Therefore the cursor also lists the transactions that were in
//! progress at the first page, and later pages leave out their rows. All other transactions that commit later have only higher ids,
//! because a transaction assigns `ledger_transfer.xid` before `id`.

use std::fmt::Write;

/// Maximum number of transactions in progress in a cursor; more than the connections of any PostgreSQL.
pub const MAX_IN_PROGRESS: usize = 2048;

/// The rows of a series of pages.
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
