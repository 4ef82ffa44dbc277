//! Balance that ends: the wallets of a customer pay the outlets that issued it.

use deadpool_postgres::Transaction;
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;
use tokio_postgres::error::SqlState;

use super::error::LedgerError;
use super::{account_move, bill, newer_kinds};

/// Locks what the deletion of a customer changes, in the order of locks: complaints, bills, wallets, and then the customer's row without waiting,
/// because a transaction that holds that row may wait for a wallet. False: one holds it, so the attempt must be repeated.
///
/// # Errors
/// When the database does not answer.
pub async fn hold(tx: &Transaction<'_>, customer: CustomerId) -> Result<bool, LedgerError> {
    const COMPLAINTS: &str = "SELECT FROM keluhan WHERE id_customer_global = $1 ORDER BY id FOR NO KEY UPDATE";
    const CUSTOMER: &str = "SELECT FROM customer_global WHERE id = $1 FOR UPDATE NOWAIT";
    tx.query(&tx.prepare_cached(COMPLAINTS).await?, &[&customer]).await?;
    bill::hold_all(tx, customer).await?;
    account_move::lock_wallets(tx, customer, customer).await?;
    match tx.query_opt(&tx.prepare_cached(CUSTOMER).await?, &[&customer]).await {
        Err(e) if e.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => Ok(false),
        row => Ok(row.map(|_| true)?),
    }
}

/// Rupiah of all wallets of these customers together. The wallets stay locked.
pub async fn balance(tx: &Transaction<'_>, customers: &[CustomerId]) -> Result<i64, LedgerError> {
    const LOCK: &str = "
        SELECT q.saldo FROM customer c JOIN quota_emoney q USING (idcustomer)
        WHERE c.id_customer_global = ANY($1) ORDER BY q.idcustomer FOR NO KEY UPDATE OF q";
    let stmt = tx.prepare_cached(LOCK).await?;
    Ok(tx.query(&stmt, &[&customers]).await?.iter().map(|row| row.get::<_, i64>(0)).sum())
}

/// Ends what is in the wallets of these customers, which [`balance`] has locked. Money that is held comes back to them.
pub async fn all(tx: &Transaction<'_>, customers: &[CustomerId], principal: &str, now: Timestamp) -> Result<(), LedgerError> {
    const FORFEIT: &str = "
        WITH there AS (
            SELECT q.idcustomer, q.idakun, q.saldo, c.idoutlet, c.id_customer_global FROM customer c JOIN quota_emoney q USING (idcustomer)
            WHERE c.id_customer_global = ANY($1) AND q.saldo > 0
        ), wallet AS (
            UPDATE quota_emoney q SET debits_posted = q.debits_posted + t.saldo, updated_at = $3
            FROM there t WHERE q.idcustomer = t.idcustomer RETURNING t.*
        )
        INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, id_customer_global, idcustomer, idoutlet, aktor, created_at)
        SELECT 'hangus', w.idakun, k.idakun, w.saldo, w.id_customer_global, w.idcustomer, w.idoutlet, $2::TEXT, $3
        FROM wallet w JOIN akun k ON k.idoutlet = w.idoutlet AND k.jenis = 'K'";
    newer_kinds::refuse_older(tx).await?;
    let stmt = tx.prepare_cached(FORFEIT).await?;
    tx.execute(&stmt, &[&customers, &principal, &now]).await?;
    Ok(())
}
