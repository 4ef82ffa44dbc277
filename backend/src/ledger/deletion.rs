//! Deletion of a use: what refunds have left of its price goes back (docs/contract.md §2). The use stays in the history.

use deadpool_postgres::Transaction;

use super::error::LedgerError;
use super::refundable::{GivenBack, Grounds, Refundable, Way, give_back};

/// Deletes the use; 409 when it is deleted already. The amount may be 0 when refunds gave everything back.
pub async fn delete(tx: &Transaction<'_>, refundable: &Refundable, grounds: Grounds<'_>) -> Result<GivenBack, LedgerError> {
    if refundable.deleted {
        return Err(LedgerError::Conflict("transaksi ini sudah dihapus"));
    }
    give_back(tx, refundable, Way::Deletion, refundable.left, grounds).await
}
