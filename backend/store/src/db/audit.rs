//! The audit log: who changed what, written in the transaction of the change (docs/contract.md §4).

use deadpool_postgres::Transaction;
use nyala_core::domain::id::OutletId;
use nyala_core::domain::timestamp::Timestamp;
use serde_json::Value;

use super::error::DbError;

const INSERT: &str = "INSERT INTO audit_log (aktor, aksi, objek, isi, idoutlet, created_at) VALUES ($1, $2, $3, $4, $5, $6)";

/// One change. `principal` is `operator:<id>` or `cli`, `object` is `<table>:<id>`, `content` is what was asked for.
#[derive(Debug)]
pub struct AuditEntry<'a> {
    pub principal: &'a str,
    pub action: &'static str,
    pub object: String,
    pub content: Value,
}

/// Writes a change that is about no outlet.
///
/// # Errors
/// When the database does not answer.
pub async fn write(tx: &Transaction<'_>, entry: &AuditEntry<'_>, now: Timestamp) -> Result<(), DbError> {
    write_at(tx, None, entry, now).await
}

/// Writes a change that is about an outlet, if there is one.
///
/// # Errors
/// When the database does not answer.
pub async fn write_at(
    tx: &Transaction<'_>,
    idoutlet: Option<OutletId>,
    entry: &AuditEntry<'_>,
    now: Timestamp,
) -> Result<(), DbError> {
    let stmt = tx.prepare_cached(INSERT).await?;
    tx.execute(&stmt, &[&entry.principal, &entry.action, &entry.object, &entry.content, &idoutlet, &now]).await?;
    Ok(())
}
