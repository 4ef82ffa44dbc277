//! Balances of a number that retires go to the customer who stays, at the same outlets (docs/money.md, Moving to a new number).

use deadpool_postgres::Transaction;
use nyala_core::domain::expiry::has_expired;
use nyala_core::domain::id::{CustomerId, MoveId, OutletId, OwnerId, WalletId};
use nyala_core::domain::timestamp::Timestamp;
use tokio_postgres::Row;

use super::error::LedgerError;
use super::topup::{self, Account, AccountKind, WalletRef};
use super::{newer_kinds, paid};

/// Whose balances go where.
#[derive(Debug, Clone, Copy)]
pub struct Retirement<'a> {
    pub id: MoveId,
    pub stays: CustomerId,
    pub retires: CustomerId,
    /// Who has asked for it, as the ledger has it.
    pub principal: &'a str,
    pub now: Timestamp,
}

/// Locks all wallets of both customers, in the order of their ids. This comes before the lock of the customers' rows, for which those that
/// hold a wallet may wait.
///
/// # Errors
/// When the database does not answer.
pub async fn lock_wallets(tx: &Transaction<'_>, stays: CustomerId, retires: CustomerId) -> Result<(), LedgerError> {
    const LOCK: &str = "
        SELECT FROM quota_emoney q JOIN customer c USING (idcustomer) WHERE c.id_customer_global IN ($1, $2)
        ORDER BY q.idcustomer FOR NO KEY UPDATE OF q";
    let stmt = tx.prepare_cached(LOCK).await?;
    tx.query(&stmt, &[&stays, &retires]).await?;
    Ok(())
}

/// A balance of the customer who retires.
struct Leaving {
    wallet: WalletId,
    idoutlet: OutletId,
    idowner: OwnerId,
    balance: i64,
    kind: AccountKind,
}

/// Moves every balance of the customer who retires. [`lock_wallets`] holds both customers' wallets, and the caller has made sure that no purchase
/// of the one who retires is open. What has expired, on either side, ends instead: a new expiry would revive it.
///
/// # Errors
/// When the database does not answer.
pub async fn move_balances(tx: &Transaction<'_>, of: Retirement<'_>) -> Result<(), LedgerError> {
    const LEAVING: &str = "
        SELECT c.idcustomer, c.idoutlet, c.owner_idowner, q.saldo, q.jenis_emoney, q.masa_aktif
        FROM customer c JOIN quota_emoney q USING (idcustomer) WHERE c.id_customer_global = $1 AND q.saldo > 0 ORDER BY c.idcustomer";
    let stmt = tx.prepare_cached(LEAVING).await?;
    let rows = tx.query(&stmt, &[&of.retires]).await?;
    if !rows.is_empty() {
        newer_kinds::refuse_older(tx).await?;
    }
    for leaving in rows.iter().map(leaving).collect::<Result<Vec<_>, LedgerError>>()? {
        if is_over(leaving.kind, of.now) {
            forfeit(tx, of, (of.retires, leaving.wallet), leaving.balance).await?;
        } else {
            move_one(tx, of, &leaving).await?;
        }
    }
    Ok(())
}

fn leaving(row: &Row) -> Result<Leaving, LedgerError> {
    let expires = (row.try_get::<_, i16>(4)? == 1).then(|| row.try_get(5)).transpose()?;
    Ok(Leaving {
        wallet: row.try_get(0)?,
        idoutlet: row.try_get(1)?,
        idowner: row.try_get(2)?,
        balance: row.try_get(3)?,
        kind: expires.map_or(AccountKind::Lasting, |masa_aktif| AccountKind::Expiring { masa_aktif }),
    })
}

fn is_over(kind: AccountKind, now: Timestamp) -> bool {
    kind.masa_aktif().is_some_and(|until| has_expired(until, now))
}

/// $1 wallet that pays, $2 its customer, $3 wallet that receives, $4 its customer, $5 outlet of both, $6 amount, $7 how much of it was paid for,
/// $8 kind and $9 expiry of the account after it, $10 move, $11 actor, $12 now.
const MOVE: &str = "
    WITH pays AS (
        UPDATE quota_emoney SET debits_posted = debits_posted + $6::BIGINT, updated_at = $12 WHERE idcustomer = $1 RETURNING idakun
    ), gets AS (
        UPDATE quota_emoney SET credits_posted = credits_posted + $6::BIGINT, jenis_emoney = $8::SMALLINT, masa_aktif = $9::TIMESTAMPTZ,
            updated_at = $12
        WHERE idcustomer = $3 RETURNING idakun
    )
    INSERT INTO ledger_transfer
        (kind, debit_akun, credit_akun, jumlah, dibayar, idpindah, id_customer_global, idcustomer, idoutlet, aktor, created_at)
    SELECT m.kind, CASE m.n WHEN 1 THEN p.idakun ELSE k.idakun END, CASE m.n WHEN 1 THEN k.idakun ELSE g.idakun END,
        $6, $7::BIGINT, $10::BIGINT, m.customer, m.wallet, $5, $11::TEXT, $12
    FROM pays p, gets g, akun k,
        (VALUES (1, 'pindah_keluar', $2::BIGINT, $1::BIGINT), (2, 'pindah_masuk', $4::BIGINT, $3::BIGINT)) m (n, kind, customer, wallet)
    WHERE k.idoutlet = $5 AND k.jenis = 'K' ORDER BY m.n";

async fn move_one(tx: &Transaction<'_>, of: Retirement<'_>, leaving: &Leaving) -> Result<(), LedgerError> {
    let Leaving { wallet, idoutlet, idowner, balance, kind } = *leaving;
    let there = WalletRef { id_customer_global: of.stays, idoutlet, idowner };
    topup::open_account(tx, there, kind, of.now).await?;
    let account = topup::account(tx, of.stays, idoutlet).await?;
    let account = account.ok_or_else(|| LedgerError::internal("an account that was opened is gone"))?;
    if is_over(account.kind, of.now) {
        let old =
            tx.query_one("SELECT saldo FROM quota_emoney WHERE idcustomer = $1", &[&account.idcustomer]).await?.try_get(0)?;
        forfeit(tx, of, (of.stays, account.idcustomer), old).await?;
    }
    let after = together(account, kind);
    let paid = paid::balance(tx, of.retires, wallet).await?.paid();
    let stmt = tx.prepare_cached(MOVE).await?;
    let rows = tx
        .execute(
            &stmt,
            &[
                &wallet,
                &of.retires,
                &account.idcustomer,
                &of.stays,
                &idoutlet,
                &balance,
                &paid,
                &after.number(),
                &after.masa_aktif(),
                &of.id,
                &of.principal,
                &of.now,
            ],
        )
        .await?;
    if rows == 2 { Ok(()) } else { Err(LedgerError::internal(format!("outlet {idoutlet} has no account K"))) }
}

/// Kind of an account after balance of kind `moved` has come to it: one that never expires stays so, and of two expiries the later one counts.
fn together(account: Account, moved: AccountKind) -> AccountKind {
    use AccountKind::{Expiring, Lasting};
    match (account.kind, moved) {
        _ if account.fresh => moved,
        (Expiring { masa_aktif: here }, Expiring { masa_aktif: there }) => Expiring { masa_aktif: here.max(there) },
        _ => Lasting,
    }
}

/// $1 wallet, $2 its customer, $3 amount, $4 move, $5 actor, $6 now.
const FORFEIT: &str = "
    WITH wallet AS (
        UPDATE quota_emoney SET debits_posted = debits_posted + $3::BIGINT, updated_at = $6 WHERE idcustomer = $1 RETURNING idcustomer, idakun
    )
    INSERT INTO ledger_transfer
        (kind, debit_akun, credit_akun, jumlah, idpindah, id_customer_global, idcustomer, idoutlet, aktor, created_at)
    SELECT 'hangus', w.idakun, k.idakun, $3, $4::BIGINT, $2, c.idcustomer, c.idoutlet, $5::TEXT, $6
    FROM wallet w JOIN customer c USING (idcustomer) JOIN akun k ON k.idoutlet = c.idoutlet AND k.jenis = 'K'";

async fn forfeit(
    tx: &Transaction<'_>,
    of: Retirement<'_>,
    (customer, wallet): (CustomerId, WalletId),
    amount: i64,
) -> Result<(), LedgerError> {
    if amount == 0 {
        return Ok(());
    }
    let stmt = tx.prepare_cached(FORFEIT).await?;
    tx.execute(&stmt, &[&wallet, &customer, &amount, &of.id, &of.principal, &of.now]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_wins_and_of_two_expiries_the_later_one() {
        let until = |ms| AccountKind::Expiring { masa_aktif: Timestamp::from_ms(ms) };
        let account = |kind, fresh| Account { idcustomer: WalletId::new(1), kind, fresh };
        for (here, moved, after) in [
            (until(5), until(9), until(9)),
            (until(9), until(5), until(9)),
            (until(9), AccountKind::Lasting, AccountKind::Lasting),
            (AccountKind::Lasting, until(9), AccountKind::Lasting),
        ] {
            assert_eq!(together(account(here, false), moved), after, "{here:?} {moved:?}");
            assert_eq!(together(account(here, true), moved), moved, "an empty account takes the kind of what comes");
        }
    }
}
