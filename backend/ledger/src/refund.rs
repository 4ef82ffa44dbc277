//! Money that returns for a purchase. A refund is partial or whole, any number of times, together never more than the price
//! (docs/contract.md §4). A deletion returns what refunds have left (docs/contract.md §2). Both lock the purchase that an operator names by its
//! receipt number.

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{CustomerId, OutletId, PurchaseId, WalletId};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::scope::Scope;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::state::PurchaseState;
use tokio_postgres::Row;

use super::came_back::{self, usable_again};
use super::error::LedgerError;

/// Which uses the caller may see: within a scope, and of one wallet or all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Visible {
    pub scope: Scope,
    pub wallet: Option<WalletId>,
}

/// A use whose row is locked. Amounts in rupiah.
#[derive(Debug)]
pub struct Refundable {
    id: PurchaseId,
    /// What refunds have left of the price.
    left: i64,
    deleted: bool,
    state: PurchaseState,
}

impl Refundable {
    /// The row of `snap_transaksi`.
    pub const fn usage(&self) -> PurchaseId {
        self.id
    }
}

/// $1 receipt, $2 owner, $3 outlet, $4 account.
const LOCK: &str = "
    SELECT id, grandtotal - dikembalikan, dihapus_at IS NOT NULL, state FROM snap_transaksi
    WHERE no_nota = $1 AND NOT uji AND ($2::BIGINT IS NULL OR idowner = $2) AND ($3::BIGINT IS NULL OR idoutlet = $3)
        AND ($4::BIGINT IS NULL OR idcustomer = $4)
    ORDER BY id LIMIT 2 FOR UPDATE";

/// Finds and locks the purchase. 404 when there is none within `visible`, 409 when two customers share the number, 422 before it
/// runs (detail status below 3) or when it never ran.
pub async fn lock(tx: &Transaction<'_>, receipt: &ReceiptNumber, visible: Visible) -> Result<Refundable, LedgerError> {
    let stmt = tx.prepare_cached(LOCK).await?;
    let rows = tx.query(&stmt, &[&receipt.as_str(), &visible.scope.owner, &visible.scope.outlet, &visible.wallet]).await?;
    let refundable = match rows.as_slice() {
        [] => return Err(LedgerError::NotFound("transaksi tidak ditemukan")),
        [row] => read(row)?,
        _ => return Err(LedgerError::Conflict("nomor nota ini dipakai lebih dari satu pelanggan, sertakan idcustomer")),
    };
    match refundable.state {
        PurchaseState::Running | PurchaseState::Finished | PurchaseState::Stopped => Ok(refundable),
        PurchaseState::Refused | PurchaseState::Expired => {
            Err(LedgerError::Unprocessable("mesin tidak pernah menyala, saldo sudah dikembalikan"))
        }
        PurchaseState::Held | PurchaseState::Sent | PurchaseState::Unsure => {
            Err(LedgerError::Unprocessable("mesin belum menyala, tunggu sampai berjalan"))
        }
    }
}

fn read(row: &Row) -> Result<Refundable, LedgerError> {
    let state: &str = row.get(3);
    let state = PurchaseState::from_stored(state).ok_or_else(|| LedgerError::internal(format!("unknown state {state}")))?;
    Ok(Refundable { id: row.get(0), left: row.get(1), deleted: row.get(2), state })
}

/// Money that came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refunded {
    /// The row of `ledger_transfer`.
    pub entry: i64,
    /// The row of `snap_transaksi`.
    pub usage: PurchaseId,
    pub id_customer_global: CustomerId,
    pub idcustomer: WalletId,
    pub idoutlet: OutletId,
    pub amount: i64,
    pub balance: i64,
    /// Until when it made an expired account good.
    pub usable_until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
enum RefundKind {
    Deletion,
    Refund,
}

/// Who returns the money, and why.
#[derive(Debug, Clone, Copy)]
pub struct Grounds<'a> {
    pub principal: &'a str,
    pub reason: &'a str,
    pub now: Timestamp,
}

/// Gives `nominal` rupiah back; 422 when less than that is left of the price.
pub async fn refund(
    tx: &Transaction<'_>,
    refundable: &Refundable,
    nominal: i64,
    grounds: Grounds<'_>,
) -> Result<Refunded, LedgerError> {
    if nominal > refundable.left {
        return Err(LedgerError::Unprocessable("nominal melebihi sisa harga yang belum dikembalikan"));
    }
    issue(tx, refundable, RefundKind::Refund, nominal, grounds).await
}

/// Deletes the use; 409 when it is deleted already. The amount may be 0 when refunds gave everything back.
pub async fn delete(tx: &Transaction<'_>, refundable: &Refundable, grounds: Grounds<'_>) -> Result<Refunded, LedgerError> {
    if refundable.deleted {
        return Err(LedgerError::Conflict("transaksi ini sudah dihapus"));
    }
    issue(tx, refundable, RefundKind::Deletion, refundable.left, grounds).await
}

/// The money goes back the way it came: from where the post put it into the wallet that paid. The row is written under the wallet's lock, so that
/// a payout has it before or after it by its id, too.
/// $1 use, $2 amount, $3 kind, $4 actor, $5 reason, $6 now.
const REFUND: &str = concat!(
    "
    WITH used AS (
        UPDATE snap_transaksi SET dikembalikan = dikembalikan + $2::BIGINT,
            dihapus_at = CASE WHEN $3::TEXT = 'hapus' THEN $6::TIMESTAMPTZ ELSE dihapus_at END
        WHERE id = $1 RETURNING id, id_customer_global, idcustomer, idoutlet
    ), wallet AS (
        UPDATE quota_emoney q SET credits_posted = q.credits_posted + $2, updated_at = $6, ",
    usable_again!("$6", "$2"),
    "
        FROM used u JOIN customer c ON c.idcustomer = u.idcustomer JOIN outlet o ON o.idoutlet = c.idoutlet
        WHERE q.idcustomer = u.idcustomer RETURNING q.idcustomer, q.saldo
    ), movement AS (
        INSERT INTO ledger_transfer
            (kind, debit_akun, credit_akun, jumlah, idtransaksi, id_customer_global, idcustomer, idoutlet, aktor, alasan, created_at)
        SELECT $3, paid.credit_akun, paid.debit_akun, $2, u.id, u.id_customer_global, u.idcustomer, u.idoutlet, $4::TEXT, $5::TEXT, $6
        FROM used u JOIN wallet USING (idcustomer) JOIN ledger_transfer paid ON paid.idtransaksi = u.id AND paid.kind = 'post'
        RETURNING id, idcustomer, id_customer_global, idoutlet
    )
    SELECT m.id, w.idcustomer, w.saldo, m.id_customer_global, m.idoutlet FROM movement m JOIN wallet w USING (idcustomer)"
);

async fn issue(
    tx: &Transaction<'_>,
    refundable: &Refundable,
    kind: RefundKind,
    amount: i64,
    grounds: Grounds<'_>,
) -> Result<Refunded, LedgerError> {
    let kind_column = match kind {
        RefundKind::Deletion => "hapus",
        RefundKind::Refund => "refund",
    };
    let stmt = tx.prepare_cached(REFUND).await?;
    let row = tx
        .query_opt(&stmt, &[&refundable.id, &amount, &kind_column, &grounds.principal, &grounds.reason, &grounds.now])
        .await?
        .ok_or_else(|| LedgerError::internal(format!("use {} runs but was never paid", refundable.id)))?;
    let usable_until = came_back::usable_until(tx, row.get(1), grounds.now).await?.map(|(until, _)| until);
    Ok(Refunded {
        usable_until,
        entry: row.get(0),
        usage: refundable.id,
        id_customer_global: row.get(3),
        idcustomer: row.get(1),
        idoutlet: row.get(4),
        amount,
        balance: row.get(2),
    })
}

/// How often money went back this month, where the outlet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HowOften {
    /// To that account.
    pub customer: i64,
    /// For uses of that machine.
    pub machine: i64,
}

/// What went back at an outlet `o` this month, by its time: `l` the refund or deletion, `t` the use. $2 now.
pub const THIS_MONTH: &str = "
    outlet o JOIN ledger_transfer l ON l.idoutlet = o.idoutlet AND l.kind IN ('hapus', 'refund')
        AND l.created_at >= date_trunc('month', $2::TIMESTAMPTZ AT TIME ZONE o.zona) AT TIME ZONE o.zona
    JOIN snap_transaksi t ON t.id = l.idtransaksi";

/// Counts the refunds and deletions of a use's account and machine, those of this transaction included.
pub async fn how_often(tx: &Transaction<'_>, usage: PurchaseId, now: Timestamp) -> Result<HowOften, LedgerError> {
    let count = format!(
        "SELECT count(*) FILTER (WHERE t.idcustomer = u.idcustomer), count(*) FILTER (WHERE t.idmesin = u.idmesin)
         FROM {THIS_MONTH} JOIN snap_transaksi u ON u.idoutlet = o.idoutlet WHERE u.id = $1"
    );
    let stmt = tx.prepare_cached(&count).await?;
    let row = tx.query_one(&stmt, &[&usage, &now]).await?;
    Ok(HowOften { customer: row.get(0), machine: row.get(1) })
}
