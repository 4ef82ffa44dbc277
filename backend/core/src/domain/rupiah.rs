//! Amounts a caller may name.

use serde::{Deserialize, Serialize};

use super::whole;
use crate::domain::error::DomainError;

/// The most one top-up or one service may be worth (docs/contract.md §4).
pub const MAX_RUPIAH: i64 = 20_000_000;

/// A whole-rupiah amount that came from outside; the range is checked where its meaning is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Rupiah(#[serde(deserialize_with = "whole::deserialize")] i64);

impl Rupiah {
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The amount when it lies in `min..=MAX_RUPIAH`, else a 400 that names `field` and the range.
    pub fn within(self, field: &str, min: i64) -> Result<i64, DomainError> {
        self.between(field, (min, MAX_RUPIAH))
    }

    /// The amount when it lies in `min..=max`, else a 400 that names `field` and the range.
    pub fn between(self, field: &str, (min, max): (i64, i64)) -> Result<i64, DomainError> {
        if (min..=max).contains(&self.0) {
            Ok(self.0)
        } else {
            Err(DomainError::malformed(format!("{field} harus {min} sampai {max} rupiah")))
        }
    }
}

impl From<i64> for Rupiah {
    fn from(amount: i64) -> Self {
        Self(amount)
    }
}

/// For people: `Rp 1.318.000`.
pub fn text(amount: i64) -> String {
    let digits = amount.unsigned_abs().to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    format!("{}Rp {}", if amount < 0 { "-" } else { "" }, groups.join("."))
}

/// The most balance that an account may have, in rupiah (`ledger.max_balance`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxBalance(i64);

impl MaxBalance {
    /// 0: no limit.
    pub fn new(rupiah: u64) -> Self {
        Self(i64::try_from(rupiah).unwrap_or(i64::MAX))
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    /// Whether `more` rupiah fit into an account that has, or will have, `there`.
    pub const fn allows(self, there: i64, more: i64) -> bool {
        self.0 == 0 || there.saturating_add(more) <= self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rupiah_are_in_groups() {
        for (amount, expected) in
            [(0, "Rp 0"), (500, "Rp 500"), (12_000, "Rp 12.000"), (1_318_000, "Rp 1.318.000"), (-500, "-Rp 500")]
        {
            assert_eq!(text(amount), expected);
        }
    }

    #[test]
    fn an_account_may_be_full_and_no_more() {
        let max = MaxBalance::new(2_000_000);
        for (there, more, expected) in [(0, 2_000_000, true), (0, 2_000_001, false), (1_999_999, 1, true), (2_500_000, 1, false)]
        {
            assert_eq!(max.allows(there, more), expected, "{there} {more}");
        }
        assert!(MaxBalance::new(0).allows(i64::MAX, i64::MAX), "none");
    }
}
