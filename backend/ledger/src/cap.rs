//! The most balance that an account may have. It is asked before a sale, and before a bill is made: what is paid or comes back is never refused.

use deadpool_postgres::Transaction;
use nyala_core::domain::rupiah::MaxBalance;

use super::bill::bill_of_customer;
use super::error::LedgerError;
use super::topup::{self, WalletRef};

/// The 422 when `quota` rupiah more do not fit into a wallet. Until the transaction ends, nothing else is sold into it.
pub async fn check(tx: &Transaction<'_>, wallet: WalletRef, quota: i64, max: MaxBalance) -> Result<(), LedgerError> {
    topup::hold_sales(tx, wallet).await?;
    if fits(tx, wallet, quota, max).await? { Ok(()) } else { Err(LedgerError::OverMaxBalance(max)) }
}

/// Whether a wallet would have at most `max` with `quota` rupiah more: with what is held, and with the bills that its customer may still pay.
/// The wallet, if there is one, is locked.
pub(super) async fn fits(tx: &Transaction<'_>, wallet: WalletRef, quota: i64, max: MaxBalance) -> Result<bool, LedgerError> {
    const LOCK: &str = "
        SELECT FROM quota_emoney q JOIN customer c USING (idcustomer) WHERE c.id_customer_global = $1 AND c.idoutlet = $2
        FOR NO KEY UPDATE OF q";
    // A separate statement, so that it sees what the previous holder of the lock has committed.
    const THERE: &str = concat!(
        "
        SELECT (
            COALESCE((SELECT q.saldo + q.debits_pending FROM customer c JOIN quota_emoney q USING (idcustomer)
                WHERE c.id_customer_global = $1 AND c.idoutlet = $2), 0)
            + (SELECT COALESCE(SUM(t.quota), 0) FROM tagihan t
                WHERE t.idoutlet = $2 AND t.status IN ('dibuat', 'menunggu') AND ",
        bill_of_customer!("$1"),
        ")
        )::BIGINT"
    );
    let stmt = tx.prepare_cached(LOCK).await?;
    tx.query_opt(&stmt, &[&wallet.id_customer_global, &wallet.idoutlet]).await?;
    let stmt = tx.prepare_cached(THERE).await?;
    let there = tx.query_one(&stmt, &[&wallet.id_customer_global, &wallet.idoutlet]).await?.get(0);
    Ok(max.allows(there, quota))
}
