//! The audit log: who changed what, written in the transaction of the change (docs/contract.md §4).

use deadpool_postgres::Transaction;
use serde_json::Value;

use super::error::DbError;
use crate::domain::timestamp::Timestamp;

const INSERT: &str = "INSERT INTO audit_log (aktor, aksi, objek, isi, created_at) VALUES ($1, $2, $3, $4, $5)";

/// One change. `principal` is `operator:<id>` or `cli`, `object` is `<table>:<id>`, `content` is what was asked for.
#[derive(Debug)]
pub struct AuditEntry<'a> {
    pub principal: &'a str,
    pub action: &'static str,
    pub object: String,
    pub content: Value,
}

pub async fn write(tx: &Transaction<'_>, entry: &AuditEntry<'_>, now: Timestamp) -> Result<(), DbError> {
    let stmt = tx.prepare_cached(INSERT).await?;
    tx.execute(&stmt, &[&entry.principal, &entry.action, &entry.object, &entry.content, &now]).await?;
    Ok(())
}
