//! Refund of a use, in part or in whole, any number of times; together never more than was paid (contract §4).

use deadpool_postgres::Transaction;

use super::pemakaian::{Cara, Kembali, Keputusan, Pemakaian, give_back};
use crate::http::error::AppError;

/// Gives `nominal` rupiah back; 422 when less than that is left of the price.
pub async fn refund(
    tx: &Transaction<'_>,
    pemakaian: &Pemakaian,
    nominal: i64,
    keputusan: Keputusan<'_>,
) -> Result<Kembali, AppError> {
    if nominal > pemakaian.sisa {
        return Err(AppError::Unprocessable("nominal melebihi sisa harga yang belum dikembalikan"));
    }
    give_back(tx, pemakaian, Cara::Refund, nominal, keputusan).await
}
