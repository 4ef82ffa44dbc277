//! Kinds of the ledger that the previous release cannot read: payouts, moves and opening balances. They are written only while no server of such
//! a release is alive, and from then on none starts (docs/decisions/0024-migrations-under-an-advisory-lock.md).

use deadpool_postgres::Transaction;
use nyala_cluster::error::ClusterError;
use nyala_cluster::membership;
use nyala_store::db::error::DbError;
use nyala_store::db::migrate;
use tokio_postgres::Client;

use super::error::LedgerError;

/// The migration with which programs began to read them.
const READ_SINCE: i32 = 20_270_104;

/// Comes before every call that may write such a row.
///
/// # Errors
/// `DbError::Busy` while a server that cannot read them is alive.
pub async fn check(client: &Client) -> Result<(), LedgerError> {
    check_since(client, READ_SINCE).await
}

/// The same, of what programs know since a migration.
pub(super) async fn check_since(client: &Client, introduced: i32) -> Result<(), LedgerError> {
    let all = membership::all_can_read(client, introduced).await.map_err(|e| match e {
        ClusterError::Database(e) => LedgerError::Db(e),
        e => LedgerError::internal(e),
    })?;
    if all { Ok(()) } else { Err(LedgerError::Db(DbError::Busy)) }
}

/// In the transaction that writes such a row.
///
/// # Errors
/// When the database does not answer.
pub async fn refuse_older(tx: &Transaction<'_>) -> Result<(), LedgerError> {
    Ok(migrate::refuse_older(&**tx, READ_SINCE).await?)
}
