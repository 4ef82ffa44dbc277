//! An owner has dealt with a payment that was not credited, or that was refunded.

use deadpool_postgres::Transaction;
use nyala_core::bill::BillId;
use nyala_core::domain::id::OutletId;
use nyala_core::domain::scope::Scope;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::audit::{self, AuditEntry};
use serde_json::json;

use crate::error::LedgerError;

/// Of a payment without a bill the outlet is the owner's first. The note of one that is settled stays as it is.
const LOCK_BILL: &str = "
    SELECT idoutlet, tertahan_at IS NOT NULL, catatan FROM tagihan
    WHERE id = $1 AND ($2::BIGINT IS NULL OR idowner = $2) AND ($3::BIGINT IS NULL OR idoutlet = $3) FOR NO KEY UPDATE";
const LOCK_FOREIGN: &str = "
    SELECT first.idoutlet, TRUE, catatan
    FROM pembayaran_asing f, LATERAL (SELECT min(o.idoutlet) AS idoutlet FROM outlet o WHERE o.idowner = f.idowner) first
    WHERE f.order_id = $1 AND ($2::BIGINT IS NULL OR f.idowner = $2) AND ($3::BIGINT IS NULL OR first.idoutlet = $3) FOR NO KEY UPDATE OF f";
const SETTLE_BILL: &str = "UPDATE tagihan SET selesai_at = $2, catatan = $3 WHERE id = $1";
const SETTLE_FOREIGN: &str = "UPDATE pembayaran_asing SET selesai_at = $2, catatan = $3 WHERE order_id = $1";

/// Notes what the owner has done about a payment, once. Gives the outlet whose entry may be over.
///
/// # Errors
/// 404 `tagihan tidak ditemukan`; 409 `tagihan tidak tertahan`, `catatan sudah ada`.
pub async fn settle(
    tx: &Transaction<'_>,
    (id, scope): (&BillId, Scope),
    note: &str,
    principal: &str,
    now: Timestamp,
) -> Result<Option<OutletId>, LedgerError> {
    for (lock, settle) in [(LOCK_BILL, SETTLE_BILL), (LOCK_FOREIGN, SETTLE_FOREIGN)] {
        let stmt = tx.prepare_cached(lock).await?;
        let Some(row) = tx.query_opt(&stmt, &[&id.as_str(), &scope.owner, &scope.outlet]).await? else { continue };
        let (outlet, is_held, before): (Option<OutletId>, bool, Option<&str>) = (row.get(0), row.get(1), row.get(2));
        return match (is_held, before) {
            (false, _) => Err(LedgerError::Conflict("tagihan tidak tertahan")),
            (true, Some(same)) if same == note => Ok(outlet),
            (true, Some(_)) => Err(LedgerError::Conflict("catatan sudah ada")),
            (true, None) => {
                let stmt = tx.prepare_cached(settle).await?;
                tx.execute(&stmt, &[&id.as_str(), &now, &note]).await?;
                let (object, content) = (format!("tagihan:{id}"), json!({ "catatan": note }));
                let entry = AuditEntry { principal, action: "tagihan.selesai", object, content };
                audit::write_at(tx, outlet, &entry, now).await?;
                Ok(outlet)
            }
        };
    }
    Err(LedgerError::NotFound("tagihan tidak ditemukan"))
}
