//! Machines that are started by coin pulses. A program of the previous release would send their devices a `start`, so they are set up only while no
//! server of such a release is alive, and from then on none starts (docs/decisions/0024-migrations-under-an-advisory-lock.md).

use deadpool_postgres::Transaction;
use nyala_store::db::migrate;
use tokio_postgres::Client;

use super::error::LedgerError;
use super::newer_kinds;

/// The migration with which programs began to send pulses.
const SENT_SINCE: i32 = 20_270_108;

/// Call before a machine is set to coin pulses.
///
/// # Errors
/// `DbError::Busy` while a server that would start it by its relay is alive.
pub async fn check(client: &Client) -> Result<(), LedgerError> {
    newer_kinds::check_since(client, SENT_SINCE).await
}

/// Call in the transaction that sets a machine to coin pulses: from its commit on, older programs do not start.
///
/// # Errors
/// When the database does not answer.
pub async fn refuse_older(tx: &Transaction<'_>) -> Result<(), LedgerError> {
    Ok(migrate::refuse_older(&**tx, SENT_SINCE).await?)
}
