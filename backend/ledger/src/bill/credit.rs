//! Commits what a provider reported about a bill. The bill's row is locked first, so that a payment that is reported twice is credited once.
//! Then the till's shift, then the wallet.

use deadpool_postgres::Transaction;
use nyala_core::bill::{BillFacts, BillId, BillStatus, BillStep, HoldReason, ProviderKind, ProviderReport, decide};
use nyala_core::domain::id::{CustomerId, OutletId, OwnerId, TillId, WalletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::audit::{self, AuditEntry};
use serde_json::json;

use super::Goods;
use crate::error::LedgerError;
use crate::push_queue::queue_balance;
use crate::shift;
use crate::topup::{self, AccountKind, AtShift, Means, Package, Payment, ToppedUp, WalletRef};

/// How many moves to another number are followed.
const MAX_MOVES: usize = 100;

/// What a report changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// The bill stays as it is.
    Nothing(BillStatus),
    Credited(Credited),
    /// Money came that needs the owner.
    Held(HoldReason),
    Became(BillStatus),
}

/// A balance that a payment has raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credited {
    pub id_customer_global: CustomerId,
    pub idcustomer: WalletId,
    pub balance: i64,
    /// Paid after the bill had ended.
    pub is_late: bool,
}

/// A bill whose row is locked.
struct LockedBill {
    facts: BillFacts,
    customer: CustomerId,
    idowner: OwnerId,
    idoutlet: OutletId,
    till: Option<TillId>,
    goods: Goods,
    provider: ProviderKind,
}

/// Commits what `report` means for a bill.
///
/// # Errors
/// 404 `tagihan tidak ditemukan`.
pub async fn apply(tx: &Transaction<'_>, id: &BillId, report: &ProviderReport, now: Timestamp) -> Result<Applied, LedgerError> {
    let bill = lock(tx, id).await?;
    if let Some(reference) = &report.reference {
        keep_reference(tx, id, reference).await?;
    }
    match decide(bill.facts, report.state, now) {
        BillStep::Nothing => Ok(Applied::Nothing(bill.facts.status)),
        BillStep::Become(status) => {
            let stmt = tx.prepare_cached("UPDATE tagihan SET status = $2 WHERE id = $1").await?;
            tx.execute(&stmt, &[&id.as_str(), &status.as_str()]).await?;
            Ok(Applied::Became(status))
        }
        BillStep::Report(reason) => report_to_owner(tx, id, &bill, reason, now).await,
        BillStep::Hold { reason, amount } => hold(tx, id, &bill, (reason, amount), now).await,
        BillStep::Credit => match remaining_customer(tx, bill.customer).await? {
            Some(customer) => credit(tx, id, &bill, customer, now).await.map(Applied::Credited),
            None => hold(tx, id, &bill, (HoldReason::CustomerDeleted, bill.facts.nominal), now).await,
        },
    }
}

async fn lock(tx: &Transaction<'_>, id: &BillId) -> Result<LockedBill, LedgerError> {
    const LOCK: &str = "
        SELECT status, nominal, kedaluwarsa_at, id_customer_global, idowner, idoutlet, id_perangkat, quota, nama_paket, idpaket, masa_hari, penyedia
        FROM tagihan WHERE id = $1 FOR NO KEY UPDATE";
    let stmt = tx.prepare_cached(LOCK).await?;
    let row = tx.query_opt(&stmt, &[&id.as_str()]).await?.ok_or(LedgerError::NotFound("tagihan tidak ditemukan"))?;
    let unknown = |what: &str| LedgerError::internal(format!("unknown {what} of bill {id}"));
    let status = BillStatus::from_stored(row.get(0)).ok_or_else(|| unknown("status"))?;
    let nominal = row.get(1);
    Ok(LockedBill {
        facts: BillFacts { status, nominal, expires_at: row.get(2) },
        customer: row.get(3),
        idowner: row.get(4),
        idoutlet: row.get(5),
        till: row.get(6),
        goods: Goods { nominal, quota: row.get(7), name: row.get(8), idpaket: row.get(9), days: row.get(10) },
        provider: ProviderKind::parse(row.get(11)).ok_or_else(|| unknown("provider"))?,
    })
}

/// The provider's id of the payment. A notification's is not covered by its signature, so that of another bill is not kept.
async fn keep_reference(tx: &Transaction<'_>, id: &BillId, reference: &str) -> Result<(), LedgerError> {
    const KEEP: &str = "
        UPDATE tagihan SET ref_penyedia = $2
        WHERE id = $1 AND ref_penyedia IS NULL AND NOT EXISTS (SELECT FROM tagihan WHERE ref_penyedia = $2)";
    let stmt = tx.prepare_cached(KEEP).await?;
    tx.execute(&stmt, &[&id.as_str(), &reference]).await?;
    Ok(())
}

/// The customer whose accounts hold a customer's balances after moves to other numbers; `None` when that customer was deleted. Neither
/// happens until the transaction ends.
async fn remaining_customer(tx: &Transaction<'_>, customer: CustomerId) -> Result<Option<CustomerId>, LedgerError> {
    const FIND: &str = "SELECT pindah_ke, dihapus_at IS NOT NULL FROM customer_global WHERE id = $1 FOR KEY SHARE";
    let stmt = tx.prepare_cached(FIND).await?;
    let mut customer = customer;
    for _ in 0..MAX_MOVES {
        let row = tx.query_one(&stmt, &[&customer]).await?;
        match row.get(0) {
            Some(next) => customer = next,
            None => return Ok((!row.get::<_, bool>(1)).then_some(customer)),
        }
    }
    Err(LedgerError::internal(format!("customer {customer} was moved more than {MAX_MOVES} times")))
}

/// The bill becomes a top-up: of the shift that is open at its till, of no shift otherwise.
async fn credit(
    tx: &Transaction<'_>,
    id: &BillId,
    bill: &LockedBill,
    customer: CustomerId,
    now: Timestamp,
) -> Result<Credited, LedgerError> {
    const PAID: &str = concat!(
        "
        WITH paid AS (
            UPDATE tagihan SET status = 'dibayar', dibayar_at = $2, jumlah_dibayar = nominal, idpembelian_emoney = $3, tanya_at = NULL
            WHERE id = $1
        ), l AS (
            SELECT id, id_customer_global FROM ledger_transfer WHERE idpembelian_emoney = $3 AND kind = 'topup'
        ), ",
        queue_balance!("l", "$2"),
        "
        SELECT FROM l"
    );
    let shift = match bill.till {
        Some(till) => shift::hold_if_open(tx, till).await?,
        None => None,
    };
    let payment = match shift {
        Some(id) => Payment::AtShift(AtShift { id, means: Means::Qris, again: true }),
        None => Payment::OutsideShift(Some(Means::Qris)),
    };
    let Goods { nominal, quota, ref name, idpaket, days } = bill.goods;
    let package = Package { nominal, quota, name: name.clone(), kind: AccountKind::given(days, now), idpaket };
    let wallet = WalletRef { id_customer_global: customer, idoutlet: bill.idoutlet, idowner: bill.idowner };
    let principal = bill.provider.principal();
    let done = topup::credit_paid(tx, wallet, &package, payment, principal, now).await?;
    let stmt = tx.prepare_cached(PAID).await?;
    tx.query(&stmt, &[&id.as_str(), &now, &done.idpembelian_emoney]).await?;
    audit_topup(tx, id, bill, (&package, done), now).await?;
    Ok(Credited {
        id_customer_global: customer,
        idcustomer: done.idcustomer,
        balance: done.balance,
        is_late: !bill.facts.status.is_open(),
    })
}

/// As the sale at a till is audited.
async fn audit_topup(
    tx: &Transaction<'_>,
    id: &BillId,
    bill: &LockedBill,
    (package, done): (&Package, ToppedUp),
    now: Timestamp,
) -> Result<(), LedgerError> {
    let content = json!({
        "idcustomer": done.idcustomer, "idoutlet": bill.idoutlet, "nominal": package.nominal, "quota": package.quota,
        "nama_paket": package.name, "jenis_emoney": package.kind.number(), "masa_aktif": package.kind.masa_aktif().map(Timestamp::ms),
        "saldo_akhir": done.balance, "cara_bayar": Means::Qris.as_str(), "idtagihan": id.as_str(),
    });
    let object = format!("pembelian_emoney:{}", done.idpembelian_emoney);
    let entry = AuditEntry { principal: bill.provider.principal(), action: "topup", object, content };
    Ok(audit::write_at(tx, Some(bill.idoutlet), &entry, now).await?)
}

async fn hold(
    tx: &Transaction<'_>,
    id: &BillId,
    bill: &LockedBill,
    (reason, amount): (HoldReason, i64),
    now: Timestamp,
) -> Result<Applied, LedgerError> {
    const HOLD: &str = "
        UPDATE tagihan SET status = 'tertahan', sebab = $2, tertahan_at = $3, dibayar_at = $3, jumlah_dibayar = $4, tanya_at = NULL WHERE id = $1";
    let stmt = tx.prepare_cached(HOLD).await?;
    tx.execute(&stmt, &[&id.as_str(), &reason.as_str(), &now, &amount]).await?;
    audit_held(tx, id, bill, (reason, amount), now).await?;
    Ok(Applied::Held(reason))
}

/// The bill is credited and stays so.
async fn report_to_owner(
    tx: &Transaction<'_>,
    id: &BillId,
    bill: &LockedBill,
    reason: HoldReason,
    now: Timestamp,
) -> Result<Applied, LedgerError> {
    const REPORT: &str = "UPDATE tagihan SET sebab = $2, tertahan_at = $3 WHERE id = $1 AND sebab IS NULL";
    let stmt = tx.prepare_cached(REPORT).await?;
    if tx.execute(&stmt, &[&id.as_str(), &reason.as_str(), &now]).await? == 0 {
        return Ok(Applied::Nothing(bill.facts.status));
    }
    audit_held(tx, id, bill, (reason, bill.facts.nominal), now).await?;
    Ok(Applied::Held(reason))
}

async fn audit_held(
    tx: &Transaction<'_>,
    id: &BillId,
    bill: &LockedBill,
    (reason, amount): (HoldReason, i64),
    now: Timestamp,
) -> Result<(), LedgerError> {
    let content = json!({ "sebab": reason.as_str(), "nominal": bill.facts.nominal, "jumlah_dibayar": amount });
    let object = format!("tagihan:{id}");
    let entry = AuditEntry { principal: bill.provider.principal(), action: "tagihan.tertahan", object, content };
    Ok(audit::write_at(tx, Some(bill.idoutlet), &entry, now).await?)
}
