//! Deletes a customer: what names the person goes, what the ledger needs stays (docs/privacy.md).

use deadpool_postgres::Transaction;
use nyala_core::deletion::{Facts, Refusal, decide};
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_ledger::error::LedgerError;
use nyala_ledger::forfeit;
use nyala_ledger::payout::has_open_purchase;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::db::error::DbError;
use serde_json::json;

/// The name that a deleted customer has.
const NAME: [&str; 2] = ["Pelanggan", "Dihapus"];
/// Password hash of someone who cannot log in.
const NO_PASSWORD: &str = "-";

/// What allows it.
#[derive(Debug, Clone, Copy)]
pub enum Terms<'a> {
    /// The customer, whose password has this hash, gives up this much balance.
    Asked { hash: &'a str, given_up: Option<i64> },
    /// The customer was deleted already, in what a restore has undone.
    Again,
}

#[derive(Debug, thiserror::Error)]
pub enum DeletionError {
    /// There is no such customer any more, or the password has changed.
    #[error("the customer is gone, or has another password")]
    Gone,
    #[error("{0:?}")]
    Refused(Refusal),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl From<tokio_postgres::Error> for DeletionError {
    fn from(e: tokio_postgres::Error) -> Self {
        Self::Ledger(e.into())
    }
}

impl From<DbError> for DeletionError {
    fn from(e: DbError) -> Self {
        Self::Ledger(LedgerError::Db(e))
    }
}

/// A customer who was deleted.
#[derive(Debug)]
pub struct Deleted {
    /// The number that is free again.
    pub telp: Telp,
    /// Tokens of earlier versions have ended.
    pub version: i32,
}

/// Deletes a customer, with the accounts of numbers that have moved there.
///
/// # Errors
/// Why not; then nothing may be committed.
pub async fn delete(
    tx: &Transaction<'_>,
    id: CustomerId,
    terms: Terms<'_>,
    principal: &str,
    now: Timestamp,
) -> Result<Deleted, DeletionError> {
    // A sale to the customer waits for this lock, and is then refused.
    const LOCK: &str = "
        SELECT telp, password_hash, token_version + 1 FROM customer_global WHERE id = $1 AND NOT internal AND dihapus_at IS NULL FOR UPDATE";
    const RETIRED: &str = "
        WITH RECURSIVE own (id) AS (
            VALUES ($1::BIGINT) UNION SELECT c.id FROM customer_global c JOIN own ON c.pindah_ke = own.id
        ) SELECT id FROM own";
    let row = tx.query_opt(LOCK, &[&id]).await?.ok_or(DeletionError::Gone)?;
    let (telp, version) = (Telp::from_stored(row.get(0)), row.get(2));
    let own: Vec<CustomerId> = tx.query(RETIRED, &[&id]).await?.iter().map(|row| row.get(0)).collect();
    let balance = match terms {
        Terms::Asked { hash, .. } if hash != row.get::<_, &str>(1) => return Err(DeletionError::Gone),
        Terms::Asked { given_up, .. } => {
            let facts = Facts {
                has_open_purchase: has_open_purchase(tx, id, None).await?,
                awaits_payment: awaits_payment(tx, &own).await?,
                balance: forfeit::balance(tx, &own).await?,
            };
            decide(facts, given_up).map_err(DeletionError::Refused)?;
            facts.balance
        }
        Terms::Again => forfeit::balance(tx, &own).await?,
    };
    if balance > 0 {
        forfeit::all(tx, &own, principal, now).await?;
    }
    empty(tx, &own, &telp, now).await?;
    for id in &own {
        rename(tx, *id, now).await?;
    }
    let content = json!({ "hangus": balance });
    let entry = AuditEntry { principal, action: "akun.hapus", object: format!("customer_global:{id}"), content };
    audit::write(tx, &entry, now).await?;
    Ok(Deleted { telp, version })
}

async fn awaits_payment(tx: &Transaction<'_>, own: &[CustomerId]) -> Result<bool, DeletionError> {
    const OPEN: &str =
        "SELECT EXISTS (SELECT FROM tagihan WHERE id_customer_global = ANY($1) AND status IN ('dibuat', 'menunggu'))";
    Ok(tx.query_one(OPEN, &[&own]).await?.get(0))
}

async fn rename(tx: &Transaction<'_>, id: CustomerId, now: Timestamp) -> Result<(), DeletionError> {
    const RENAME: &str = "
        UPDATE customer_global SET telp = $2, nama_awal = $3, nama_akhir = $4, password_hash = $5, token_version = token_version + 1, dihapus_at = $6
        WHERE id = $1";
    tx.execute(RENAME, &[&id, &Telp::of_nobody(id).as_str(), &NAME[0], &NAME[1], &NO_PASSWORD, &now]).await?;
    Ok(())
}

/// Empties what these customers wrote, and what names them. $1 customers, and `$2` where it is said.
async fn empty(tx: &Transaction<'_>, own: &[CustomerId], telp: &Telp, now: Timestamp) -> Result<(), DeletionError> {
    /// What tills were answered about sales to them: each answer has the instant of its sale.
    const ANSWERS: &str = "
        UPDATE idempotensi i SET jawaban = jsonb_set(i.jawaban::JSONB, '{data}', 'null')::JSON
        WHERE i.created_at = ANY(ARRAY(
                SELECT created_at FROM pembelian_emoney WHERE id_customer_global = ANY($1)
                UNION ALL SELECT created_at FROM tagihan WHERE id_customer_global = ANY($1)))
            AND (i.jawaban->'data'->>'idpembelian_emoney' IN (SELECT id::TEXT FROM pembelian_emoney WHERE id_customer_global = ANY($1))
                OR i.jawaban->'data'->>'idtagihan' IN (SELECT id FROM tagihan WHERE id_customer_global = ANY($1)))";
    const OF_CUSTOMERS: [&str; 9] = [
        ANSWERS,
        "UPDATE keluhan SET catatan = NULL WHERE id_customer_global = ANY($1)",
        "UPDATE tagihan SET qr = NULL, deeplink = NULL WHERE id_customer_global = ANY($1)",
        "UPDATE saldo_awal SET telp = NULL, nama = NULL
         WHERE idcustomer IN (SELECT idcustomer FROM customer WHERE id_customer_global = ANY($1))",
        "UPDATE pindah SET nomor_lama = '', nomor_baru = '' WHERE dari = ANY($1) OR ke = ANY($1)",
        "DELETE FROM push WHERE id_customer_global = ANY($1)",
        "DELETE FROM langganan_push WHERE id_customer_global = ANY($1)",
        "DELETE FROM ended_token WHERE id_customer_global = ANY($1)",
        "DELETE FROM pelanggan_ditemukan WHERE id_customer_global = ANY($1)",
    ];
    /// Approvals of moves: id of the new number's customer, and the old number.
    const APPROVALS: &str = "
        DELETE FROM izin WHERE aksi = 'pindah' AND (objek LIKE '%:' || $2 OR split_part(objek, ':', 1) IN (SELECT id::TEXT FROM unnest($1::BIGINT[]) own (id)))";
    // $2 now.
    const WAITING: [&str; 2] = [
        "UPDATE panggilan SET selesai_at = $2 WHERE id_customer_global = ANY($1) AND selesai_at IS NULL",
        "UPDATE pindah SET selesai_at = $2, sebab = 'dihapus' WHERE (dari = ANY($1) OR ke = ANY($1)) AND ditolak_at IS NULL AND selesai_at IS NULL",
    ];
    for sql in OF_CUSTOMERS {
        tx.execute(sql, &[&own]).await?;
    }
    for sql in WAITING {
        tx.execute(sql, &[&own, &now]).await?;
    }
    tx.execute("DELETE FROM kode_otp WHERE telp = $1", &[&telp.as_str()]).await?;
    tx.execute(APPROVALS, &[&own, &telp.as_str()]).await?;
    Ok(())
}
