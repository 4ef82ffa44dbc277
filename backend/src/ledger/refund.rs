//! Refund of a use, in part or in whole, any number of times; together never more than was paid (docs/contract.md §4).

use deadpool_postgres::Transaction;

use super::error::LedgerError;
use super::refundable::{GivenBack, Grounds, Refundable, Way, give_back};

/// Gives `nominal` rupiah back; 422 when less than that is left of the price.
pub async fn refund(
    tx: &Transaction<'_>,
    refundable: &Refundable,
    nominal: i64,
    grounds: Grounds<'_>,
) -> Result<GivenBack, LedgerError> {
    if nominal > refundable.left {
        return Err(LedgerError::Unprocessable("nominal melebihi sisa harga yang belum dikembalikan"));
    }
    give_back(tx, refundable, Way::Refund, nominal, grounds).await
}
