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
        if (min..=MAX_RUPIAH).contains(&self.0) {
            Ok(self.0)
        } else {
            Err(DomainError::malformed(format!("{field} harus {min} sampai {MAX_RUPIAH} rupiah")))
        }
    }
}

impl From<i64> for Rupiah {
    fn from(amount: i64) -> Self {
        Self(amount)
    }
}
