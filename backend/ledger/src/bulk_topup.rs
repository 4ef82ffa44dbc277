//! Accounts with a balance for many customers at once, for load tests (docs/contract.md §4, `pelanggan/bulk`).

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{CustomerId, OutletId, OwnerId, WalletId};
use nyala_core::domain::timestamp::Timestamp;

use super::error::LedgerError;

/// Where the accounts are opened, with how much in each (0: opened, never topped up).
#[derive(Debug, Clone, Copy)]
pub struct BulkTopUp<'a> {
    pub idoutlet: OutletId,
    pub idowner: OwnerId,
    pub balance: i64,
    pub principal: &'a str,
    pub now: Timestamp,
}

/// $1 customers, $2 outlet, $3 owner, $4 balance, $5 now.
const OPEN: &str = "
    WITH made AS (
        INSERT INTO customer (id_customer_global, idoutlet, owner_idowner, created_at)
        SELECT id, $2, $3, $5 FROM unnest($1::BIGINT[]) AS id RETURNING idcustomer, id_customer_global
    ), wallet AS (
        INSERT INTO akun (jenis, idoutlet, idcustomer) SELECT 'W', $2, idcustomer FROM made RETURNING idakun, idcustomer
    ), balances AS (
        INSERT INTO quota_emoney (idcustomer, idakun, jenis_emoney, credits_posted, updated_at)
        SELECT idcustomer, idakun, 2, $4::BIGINT, $5 FROM wallet
    )
    SELECT idcustomer, id_customer_global, idakun FROM made JOIN wallet USING (idcustomer)";

/// $1 accounts, $2 customers, $3 wallets, $4 outlet, $5 owner, $6 balance, $7 now, $8 actor.
const FILL: &str = "
    WITH accounts AS (
        SELECT * FROM unnest($1::BIGINT[], $2::BIGINT[], $3::BIGINT[]) AS r (idcustomer, id_customer_global, idakun)
    ), sale AS (
        INSERT INTO pembelian_emoney
            (idcustomer, id_customer_global, idowner, idoutlet, nama_paket, harga_paket, quota, saldo_akhir, created_at, jenis_emoney)
        SELECT idcustomer, id_customer_global, $5, $4, 'Top-Up', $6::BIGINT, $6, $6, $7, 2 FROM accounts RETURNING id, idcustomer
    )
    INSERT INTO ledger_transfer
        (kind, debit_akun, credit_akun, jumlah, idpembelian_emoney, id_customer_global, idcustomer, idoutlet, aktor, created_at)
    SELECT 'topup', k.idakun, r.idakun, $6, s.id, r.id_customer_global, r.idcustomer, $4, $8::TEXT, $7
    FROM sale s JOIN accounts r USING (idcustomer) JOIN akun k ON k.idoutlet = $4 AND k.jenis = 'K'";

/// Opens an account for each of `customers`, who have none there. Gives each with the account.
pub async fn open(
    tx: &Transaction<'_>,
    customers: &[CustomerId],
    bulk: BulkTopUp<'_>,
) -> Result<Vec<(CustomerId, WalletId)>, LedgerError> {
    let BulkTopUp { idoutlet, idowner, balance, principal, now } = bulk;
    let rows = tx.query(OPEN, &[&customers, &idoutlet, &idowner, &balance, &now]).await?;
    if balance > 0 {
        let column = |i: usize| rows.iter().map(|r| r.get(i)).collect::<Vec<i64>>();
        let (accounts, owners, wallets) = (column(0), column(1), column(2));
        let moved = tx.execute(FILL, &[&accounts, &owners, &wallets, &idoutlet, &idowner, &balance, &now, &principal]).await?;
        if usize::try_from(moved) != Ok(rows.len()) {
            return Err(LedgerError::internal(format!("outlet {idoutlet} has no account K")));
        }
    }
    Ok(rows.iter().map(|r| (r.get(1), r.get(0))).collect())
}
