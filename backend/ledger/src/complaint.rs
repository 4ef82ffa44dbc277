//! Complaints of customers about purchases (docs/money.md). The lock of a purchase comes before that of its complaint.

use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::complaint::{Facts, Reason, Status, WINDOW_MS};
use nyala_core::domain::id::{ComplaintId, CustomerId, MachineId, OutletId, PurchaseId};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::scope::Scope;
use nyala_core::domain::timestamp::Timestamp;

use super::error::LedgerError;
use crate::push_queue::queue_back;

/// A started purchase that its customer complains about.
#[derive(Debug)]
pub struct Purchase {
    id: PurchaseId,
    customer: CustomerId,
    idoutlet: OutletId,
    idmesin: MachineId,
    pub facts: Facts,
}

/// $1 customer, $2 receipt, $3 since when complaints count.
const READ: &str = "
    SELECT t.id, t.idoutlet, t.idmesin, t.finished_at, t.dihapus_at IS NOT NULL OR t.dikembalikan >= t.grandtotal,
        EXISTS (SELECT FROM keluhan k WHERE k.idtransaksi = t.id),
        ARRAY(SELECT k.created_at FROM keluhan k WHERE k.id_customer_global = $1 AND k.created_at > $3 ORDER BY k.created_at DESC LIMIT 10)
    FROM snap_transaksi t WHERE t.id_customer_global = $1 AND t.no_nota = $2 AND t.started_at IS NOT NULL FOR SHARE OF t";

/// The purchase, which no refund changes until the transaction ends. `None`: it is not the customer's, or has never started. A customer's
/// complaints are made one after the other.
pub async fn read(
    tx: &Transaction<'_>,
    customer: CustomerId,
    receipt: &ReceiptNumber,
    now: Timestamp,
) -> Result<Option<Purchase>, LedgerError> {
    let stmt = tx.prepare_cached("SELECT FROM customer_global WHERE id = $1 FOR NO KEY UPDATE").await?;
    tx.query_opt(&stmt, &[&customer]).await?;
    let stmt = tx.prepare_cached(READ).await?;
    let row = tx.query_opt(&stmt, &[&customer, &receipt.as_str(), &now.plus_ms(-WINDOW_MS)]).await?;
    Ok(row.map(|row| Purchase {
        id: row.get(0),
        customer,
        idoutlet: row.get(1),
        idmesin: row.get(2),
        facts: Facts { finished_at: row.get(3), came_back: row.get(4), known: row.get(5), recent: row.get(6) },
    }))
}

/// Stores a complaint that is allowed.
pub async fn add(
    tx: &Transaction<'_>,
    purchase: &Purchase,
    reason: Reason,
    note: Option<&str>,
    now: Timestamp,
) -> Result<ComplaintId, LedgerError> {
    const ADD: &str = "
        INSERT INTO keluhan (idtransaksi, id_customer_global, idoutlet, idmesin, alasan, catatan, status, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, 'terbuka', $7) RETURNING id";
    let Purchase { id, customer, idoutlet, idmesin, .. } = purchase;
    let stmt = tx.prepare_cached(ADD).await?;
    Ok(tx.query_one(&stmt, &[id, customer, idoutlet, idmesin, &reason.as_str(), &note, &now]).await?.get(0))
}

/// A complaint that is not answered, whose row is locked.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    pub id: ComplaintId,
    pub purchase: PurchaseId,
    pub idoutlet: OutletId,
}

/// Finds and locks a complaint; 404 outside the scope, 409 when it is answered already.
pub async fn lock(tx: &Transaction<'_>, id: ComplaintId, scope: Scope) -> Result<Open, LedgerError> {
    const LOCK: &str = "
        SELECT k.idtransaksi, k.idoutlet, k.status = 'terbuka' FROM keluhan k JOIN outlet o USING (idoutlet)
        WHERE k.id = $1 AND ($2::BIGINT IS NULL OR o.idowner = $2) AND ($3::BIGINT IS NULL OR o.idoutlet = $3) FOR UPDATE OF k";
    let stmt = tx.prepare_cached(LOCK).await?;
    let row = tx.query_opt(&stmt, &[&id, &scope.owner, &scope.outlet]).await?;
    let row = row.ok_or(LedgerError::NotFound("laporan tidak ditemukan"))?;
    if !row.get::<_, bool>(2) {
        return Err(LedgerError::Conflict("laporan sudah dijawab"));
    }
    Ok(Open { id, purchase: row.get(0), idoutlet: row.get(1) })
}

/// The open complaint about a purchase whose row is locked.
pub async fn of_purchase(client: &impl GenericClient, purchase: PurchaseId) -> Result<Option<Open>, LedgerError> {
    const FIND: &str = "SELECT id, idoutlet FROM keluhan WHERE idtransaksi = $1 AND status = 'terbuka' FOR UPDATE";
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_opt(&stmt, &[&purchase]).await?;
    Ok(row.map(|row| Open { id: row.get(0), purchase, idoutlet: row.get(1) }))
}

/// What a complaint is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<'a> {
    /// This many rupiah went back.
    Accepted(i64),
    /// A sentence for the customer.
    Rejected(&'a str),
}

/// $1 complaint, $2 now, $3 status, $4 rupiah, $5 sentence, $6 actor.
const ANSWER: &str = concat!(
    "
    WITH told AS (
        UPDATE keluhan SET status = $3, nominal = $4, jawaban = $5, dijawab_at = $2, dijawab_oleh = $6 WHERE id = $1
        RETURNING id, id_customer_global
    ), ",
    queue_back!("keluhan", "told.id", "told", "$2"),
    "
    SELECT FROM told"
);

/// Answers a complaint, and queues the push to its customer.
pub async fn answer(
    tx: &Transaction<'_>,
    complaint: &Open,
    answer: Answer<'_>,
    principal: &str,
    now: Timestamp,
) -> Result<(), LedgerError> {
    let (status, amount, sentence) = match answer {
        Answer::Accepted(amount) => (Status::Accepted, Some(amount), None),
        Answer::Rejected(sentence) => (Status::Rejected, None, Some(sentence)),
    };
    let stmt = tx.prepare_cached(ANSWER).await?;
    tx.query(&stmt, &[&complaint.id, &now, &status.as_str(), &amount, &sentence, &principal]).await?;
    Ok(())
}
