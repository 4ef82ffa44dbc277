//! The audit log: who changed what, written in the transaction of the change (contract §4).

use deadpool_postgres::Transaction;
use serde_json::Value;

use crate::domain::waktu::Waktu;
use crate::http::error::AppError;

const INSERT: &str = "INSERT INTO audit_log (aktor, aksi, objek, isi, created_at) VALUES ($1, $2, $3, $4, $5)";

/// One change. `aktor` is `operator:<id>` or `cli`, `objek` is `<table>:<id>`, `isi` is what was asked for.
#[derive(Debug)]
pub struct Catatan<'a> {
    pub aktor: &'a str,
    pub aksi: &'static str,
    pub objek: String,
    pub isi: Value,
}

pub async fn write(tx: &Transaction<'_>, catatan: &Catatan<'_>, now: Waktu) -> Result<(), AppError> {
    let stmt = tx.prepare_cached(INSERT).await?;
    tx.execute(&stmt, &[&catatan.aktor, &catatan.aksi, &catatan.objek, &catatan.isi, &now]).await?;
    Ok(())
}
