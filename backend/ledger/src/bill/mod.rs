//! Bills that are paid by QRIS (docs/money.md). A bill is committed before it is sent to its provider, so that each payment has one.
//! [`apply`] commits what a report of the provider means.

mod credit;
mod due;
mod settle;

pub use credit::{Applied, Credited, apply};
pub use due::{DueBill, asked, claim, claim_watched, find, hold_all, made_between, make_due, open_of};
pub use settle::settle;

use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::bill::{BillId, ProviderKind, ask};
use nyala_core::domain::id::{CustomerId, OwnerId, PackageId, TillId};
use nyala_core::domain::timestamp::Timestamp;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::error::LedgerError;
use crate::topup::WalletRef;

/// Condition, as a literal: the bill `t` is of the customer in parameter `n`, also one that was made before a move to the present number. A move leads
/// those of earlier ones on to the customer who stays, so that all of them are one step away.
#[doc(hidden)]
#[macro_export]
macro_rules! __bill_of_customer {
    ($n:literal) => {
        concat!(
            "t.id_customer_global = ANY(ARRAY(SELECT ",
            $n,
            "::BIGINT UNION ALL SELECT c.id FROM customer_global c WHERE c.pindah_ke = ",
            $n,
            "))"
        )
    };
}
pub use __bill_of_customer as bill_of_customer;

/// What a bill is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goods {
    /// Rupiah to be paid.
    pub nominal: i64,
    /// Rupiah of balance.
    pub quota: i64,
    pub name: String,
    pub idpaket: Option<PackageId>,
    /// Days of validity from the payment on.
    pub days: Option<i32>,
}

/// Where a bill is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BillPlace {
    Till(TillId),
    /// A customer's phone, with its own id of the request.
    Phone(Uuid),
}

/// A bill to be made.
#[derive(Debug, Clone)]
pub struct NewBill<'a> {
    pub id: &'a BillId,
    pub wallet: WalletRef,
    pub place: BillPlace,
    pub goods: &'a Goods,
    pub provider: ProviderKind,
    pub expires_at: Timestamp,
    pub principal: &'a str,
}

/// Stores a bill that its provider does not know yet.
///
/// # Errors
/// When the database does not answer.
pub async fn create(tx: &Transaction<'_>, bill: &NewBill<'_>, now: Timestamp) -> Result<(), LedgerError> {
    const CREATE: &str = "
        INSERT INTO tagihan (id, id_customer_global, idowner, idoutlet, id_perangkat, id_permintaan, nominal, quota, nama_paket, idpaket, masa_hari,
            penyedia, status, kedaluwarsa_at, tanya_at, aktor, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'dibuat', $13, $14, $15, $16)";
    let (till, request) = match bill.place {
        BillPlace::Till(till) => (Some(till), None),
        BillPlace::Phone(request) => (None, Some(request)),
    };
    let (wallet, goods) = (bill.wallet, bill.goods);
    let params: [&(dyn ToSql + Sync); 16] = [
        &bill.id.as_str(),
        &wallet.id_customer_global,
        &wallet.idowner,
        &wallet.idoutlet,
        &till,
        &request,
        &goods.nominal,
        &goods.quota,
        &goods.name,
        &goods.idpaket,
        &goods.days,
        &bill.provider.as_str(),
        &bill.expires_at,
        &now.plus_ms(ask::EVERY_MS),
        &bill.principal,
        &now,
    ];
    let stmt = tx.prepare_cached(CREATE).await?;
    tx.execute(&stmt, &params).await?;
    Ok(())
}

/// What the customer pays with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// Text of the QR code.
    pub qr: String,
    pub deeplink: Option<String>,
    /// The provider's own id of the payment.
    pub reference: Option<String>,
}

/// The provider has taken the bill. A notification may have come before.
///
/// # Errors
/// When the database does not answer.
pub async fn charged(client: &impl GenericClient, id: &BillId, charge: &Charge) -> Result<(), LedgerError> {
    const CHARGED: &str = "
        UPDATE tagihan SET qr = $2, deeplink = $3, ref_penyedia = COALESCE(ref_penyedia, $4),
            status = CASE WHEN status = 'dibuat' THEN 'menunggu' ELSE status END
        WHERE id = $1 AND qr IS NULL";
    let stmt = client.prepare_cached(CHARGED).await?;
    client.execute(&stmt, &[&id.as_str(), &charge.qr, &charge.deeplink, &charge.reference]).await?;
    Ok(())
}

/// A payment of an order that no bill was made for, as its provider reported it.
#[derive(Debug)]
pub struct ForeignPayment<'a> {
    pub provider: ProviderKind,
    pub order: &'a BillId,
    pub owner: OwnerId,
    pub content: &'a serde_json::Value,
}

/// Keeps a payment without a bill. False when it is kept already.
///
/// # Errors
/// When the database does not answer.
pub async fn keep_foreign(
    client: &impl GenericClient,
    payment: &ForeignPayment<'_>,
    now: Timestamp,
) -> Result<bool, LedgerError> {
    const KEEP: &str = "
        INSERT INTO pembayaran_asing (penyedia, order_id, idowner, isi, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    let stmt = client.prepare_cached(KEEP).await?;
    let ForeignPayment { provider, order, owner, content } = payment;
    Ok(client.execute(&stmt, &[&provider.as_str(), &order.as_str(), owner, content, &now]).await? == 1)
}

/// Bills of a customer's phone, for its limits: when the earliest open one ends and how many there are, and the same of the last hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhoneBills {
    pub open: i64,
    /// When the first of the open ones ends.
    pub first_ends_at: Option<Timestamp>,
    pub hourly: i64,
    /// The oldest of the hour.
    pub oldest_at: Option<Timestamp>,
}

/// Holds the making of bills on a customer's phones until the transaction ends.
///
/// # Errors
/// When the database does not answer.
pub async fn hold_phone(tx: &Transaction<'_>, customer: CustomerId) -> Result<(), LedgerError> {
    const HOLD: &str = "SELECT pg_advisory_xact_lock(hashtextextended('tagihan:' || $1::BIGINT, 0))";
    let stmt = tx.prepare_cached(HOLD).await?;
    tx.query_one(&stmt, &[&customer]).await?;
    Ok(())
}

/// The bills of a customer's phones since `since` that count for the limits at `now`.
///
/// # Errors
/// When the database does not answer.
pub async fn of_phone(
    client: &impl GenericClient,
    customer: CustomerId,
    since: Timestamp,
    now: Timestamp,
) -> Result<PhoneBills, LedgerError> {
    const COUNT: &str = "
        SELECT count(*) FILTER (WHERE is_open), min(kedaluwarsa_at) FILTER (WHERE is_open), count(*) FILTER (WHERE created_at > $2),
            min(created_at) FILTER (WHERE created_at > $2)
        FROM (SELECT created_at, kedaluwarsa_at, status IN ('dibuat', 'menunggu') AND kedaluwarsa_at > $3 AS is_open FROM tagihan
            WHERE id_customer_global = $1 AND id_perangkat IS NULL) b";
    let stmt = client.prepare_cached(COUNT).await?;
    let row = client.query_one(&stmt, &[&customer, &since, &now]).await?;
    Ok(PhoneBills { open: row.get(0), first_ends_at: row.get(1), hourly: row.get(2), oldest_at: row.get(3) })
}
