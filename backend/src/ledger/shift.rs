//! Shifts: who has a till, since when, and the cash that should be in its drawer (docs/till.md).

use deadpool_postgres::{GenericClient, Transaction};
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use super::error::LedgerError;
use crate::db::error::DbError;
use crate::domain::timestamp::Timestamp;

/// A shift as everybody at its till may see it: not what should be in the drawer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Shift {
    pub id: i64,
    /// RFC 3339.
    pub dibuka_at: Timestamp,
    /// Who opened it.
    pub petugas: String,
    /// Rupiah in the drawer when it was opened.
    pub modal: i64,
    /// RFC 3339; null while it is open.
    pub ditutup_at: Option<Timestamp>,
}

pub(super) const COLUMNS: &str = "s.id, s.dibuka_at, k.nama, s.modal, s.ditutup_at";

pub(super) fn read(row: &Row) -> Shift {
    Shift { id: row.get(0), dibuka_at: row.get(1), petugas: row.get(2), modal: row.get(3), ditutup_at: row.get(4) }
}

/// The open shift of a till; `browser` is the till's.
///
/// # Errors
/// When the database does not answer.
pub async fn open_at(client: &impl GenericClient, browser: i64) -> Result<Option<Shift>, DbError> {
    let find = format!(
        "SELECT {COLUMNS} FROM shift s JOIN kunci_operator k ON k.id = s.dibuka_oleh WHERE s.id_perangkat = $1 AND s.ditutup_at IS NULL"
    );
    let stmt = client.prepare_cached(&find).await?;
    Ok(client.query_opt(&stmt, &[&browser]).await?.as_ref().map(read))
}

/// The till's open shift, which nobody closes until this transaction ends: lock order is machine, purchase, shift, wallet.
///
/// # Errors
/// 409 `shift belum dibuka`.
pub async fn hold_open(tx: &Transaction<'_>, browser: i64) -> Result<i64, LedgerError> {
    const HOLD: &str = "SELECT id FROM shift WHERE id_perangkat = $1 AND ditutup_at IS NULL FOR SHARE";
    let stmt = tx.prepare_cached(HOLD).await?;
    let row = tx.query_opt(&stmt, &[&browser]).await?;
    row.map(|row| row.get(0)).ok_or(LedgerError::Conflict("shift belum dibuka"))
}
