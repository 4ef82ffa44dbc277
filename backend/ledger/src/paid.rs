//! Reads the rows that `nyala_core::paid` replays, and holds every payout and every move against the replay.

use std::pin::pin;

use deadpool_postgres::Transaction;
use futures_util::TryStreamExt;
use nyala_core::domain::id::{CustomerId, MoveId, PayoutId, WalletId};
use nyala_core::domain::ledger_kind::LedgerKind;
use nyala_core::paid::{Movement, PaidBalance};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use super::error::LedgerError;

/// The columns of [`movement`] of the ledger row `l`, as a literal; `p` is its top-up, if it is about one.
macro_rules! movement_columns {
    () => {
        "l.kind, l.jumlah, COALESCE(p.harga_paket, l.dibayar, 0), l.idtransaksi"
    };
}

/// What was paid of a wallet's balance. The transaction holds the wallet, so that it stays so.
///
/// # Errors
/// When the database does not answer.
pub async fn balance(tx: &Transaction<'_>, customer: CustomerId, wallet: WalletId) -> Result<PaidBalance, LedgerError> {
    const ROWS: &str = concat!(
        "SELECT ",
        movement_columns!(),
        " FROM ledger_transfer l LEFT JOIN pembelian_emoney p ON p.id = l.idpembelian_emoney
        WHERE l.id_customer_global = $1 AND l.kind <> 'post' AND l.idcustomer = $2 ORDER BY l.id"
    );
    let stmt = tx.prepare_cached(ROWS).await?;
    let params: [&(dyn ToSql + Sync); 2] = [&customer, &wallet];
    let mut rows = pin!(tx.query_raw(&stmt, params).await?);
    let mut account = PaidBalance::default();
    while let Some(row) = rows.try_next().await? {
        account.apply(&movement(&row)?);
    }
    Ok(account)
}

fn movement(row: &Row) -> Result<Movement, LedgerError> {
    Ok(Movement { kind: row.try_get(0)?, amount: row.try_get(1)?, paid: row.try_get(2)?, purchase: row.try_get(3)? })
}

/// A payout or a move that did not take what the replay says: the broken rule, and the id of the payout or the move.
pub type Broken = (&'static str, i64);

/// Replays every account from which balance was paid out or moved. Memory is bounded by the purchases of one account.
///
/// # Errors
/// When the database does not answer.
pub async fn broken(client: &Client) -> Result<Vec<Broken>, LedgerError> {
    const ROWS: &str = concat!(
        "WITH accounts AS (SELECT idcustomer FROM penarikan UNION SELECT idcustomer FROM ledger_transfer WHERE idpindah IS NOT NULL)
        SELECT ",
        movement_columns!(),
        ", l.idcustomer, l.idpenarikan, l.idpindah, n.hangus
        FROM accounts a JOIN ledger_transfer l USING (idcustomer) LEFT JOIN pembelian_emoney p ON p.id = l.idpembelian_emoney
        LEFT JOIN penarikan n ON n.id = l.idpenarikan
        WHERE l.kind <> 'post' ORDER BY l.idcustomer, l.id"
    );
    let params: [&(dyn ToSql + Sync); 0] = [];
    let mut rows = pin!(client.query_raw(ROWS, params).await?);
    let (mut of, mut account, mut broken) = (None, PaidBalance::default(), Vec::new());
    while let Some(row) = rows.try_next().await? {
        let wallet: WalletId = row.try_get(4)?;
        if of.replace(wallet) != Some(wallet) {
            account = PaidBalance::default();
        }
        let movement = movement(&row)?;
        match movement.kind {
            LedgerKind::Payout if (Some(account.paid()), Some(account.bonus())) != (Some(movement.amount), row.try_get(7)?) => {
                broken.push(("penarikan melebihi yang dibayar", row.try_get::<_, PayoutId>(5)?.get()));
            }
            LedgerKind::MoveOut if (movement.amount, movement.paid) != (account.balance(), account.paid()) => {
                broken.push(("pindah tidak seimbang", row.try_get::<_, MoveId>(6)?.get()));
            }
            _ => {}
        }
        account.apply(&movement);
    }
    Ok(broken)
}
