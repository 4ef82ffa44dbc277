//! Deletion of a use: what refunds have left of its price goes back (contract §2). The use stays in the history.

use deadpool_postgres::Transaction;

use super::pemakaian::{Cara, Kembali, Keputusan, Pemakaian, give_back};
use crate::http::error::AppError;

/// Deletes the use; 409 when it is deleted already. The amount may be 0 when refunds gave everything back.
pub async fn hapus(tx: &Transaction<'_>, pemakaian: &Pemakaian, keputusan: Keputusan<'_>) -> Result<Kembali, AppError> {
    if pemakaian.dihapus {
        return Err(AppError::Conflict("transaksi ini sudah dihapus"));
    }
    give_back(tx, pemakaian, Cara::Hapus, pemakaian.sisa, keputusan).await
}
