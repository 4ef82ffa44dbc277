//! Bills whose provider is to be asked. A claimed bill is due again after a while, so that a server that dies loses none.

use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::bill::{BillId, BillStatus, ProviderKind, ask};
use nyala_core::domain::id::{CustomerId, OutletId, OwnerId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::error::DbError;
use tokio_postgres::Row;

use super::bill_of_customer;

/// A bill, as its provider knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueBill {
    pub id: BillId,
    pub idowner: OwnerId,
    pub idoutlet: OutletId,
    pub provider: ProviderKind,
    pub nominal: i64,
    pub status: BillStatus,
    pub expires_at: Timestamp,
}

macro_rules! columns {
    () => {
        "t.id, t.idowner, t.idoutlet, t.penyedia, t.nominal, t.status, t.kedaluwarsa_at"
    };
}

const CLAIM: &str = concat!(
    "
WITH due AS (
    SELECT id FROM tagihan WHERE tanya_at <= $1 ORDER BY tanya_at LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE tagihan t SET tanya_at = $3 FROM due WHERE t.id = due.id RETURNING ",
    columns!()
);
const CLAIM_WATCHED: &str =
    concat!("UPDATE tagihan t SET tanya_at = $3 WHERE t.id = $1 AND t.tanya_at <= $2 RETURNING ", columns!());
const FIND: &str = concat!("SELECT ", columns!(), " FROM tagihan t WHERE t.id = $1");

/// Claims due bills, the longest due first.
///
/// # Errors
/// When the database does not answer.
pub async fn claim(client: &impl GenericClient, now: Timestamp, limit: i64) -> Result<Vec<DueBill>, DbError> {
    let stmt = client.prepare_cached(CLAIM).await?;
    let rows = client.query(&stmt, &[&now, &limit, &now.plus_ms(ask::EVERY_MS)]).await?;
    rows.iter().map(due).collect()
}

/// Claims a bill that is being viewed, unless it was asked about a moment ago, or is no longer asked about.
///
/// # Errors
/// When the database does not answer.
pub async fn claim_watched(client: &impl GenericClient, id: &BillId, now: Timestamp) -> Result<Option<DueBill>, DbError> {
    let stmt = client.prepare_cached(CLAIM_WATCHED).await?;
    // A question sets the time of the next one, from which the time of the last one follows.
    let asked_before = now.plus_ms(ask::EVERY_MS - ask::WATCHED_MS);
    let row = client.query_opt(&stmt, &[&id.as_str(), &asked_before, &now.plus_ms(ask::EVERY_MS)]).await?;
    row.as_ref().map(due).transpose()
}

/// The bill of this id.
///
/// # Errors
/// When the database does not answer.
pub async fn find(client: &impl GenericClient, id: &BillId) -> Result<Option<DueBill>, DbError> {
    let stmt = client.prepare_cached(FIND).await?;
    client.query_opt(&stmt, &[&id.as_str()]).await?.as_ref().map(due).transpose()
}

/// What a customer can still pay, on phones and at tills.
///
/// # Errors
/// When the database does not answer.
pub async fn open_of(client: &impl GenericClient, customer: CustomerId) -> Result<Vec<BillId>, DbError> {
    const OPEN: &str =
        concat!("SELECT ", columns!(), " FROM tagihan t WHERE t.status IN ('dibuat', 'menunggu') AND ", bill_of_customer!("$1"));
    let stmt = client.prepare_cached(OPEN).await?;
    client.query(&stmt, &[&customer]).await?.iter().map(|row| due(row).map(|bill| bill.id)).collect()
}

/// Locks a customer's bills until the transaction ends. This comes before the lock of the customer's row: a payment holds its bill and then waits for
/// that row.
///
/// # Errors
/// When the database does not answer.
pub async fn hold_all(tx: &Transaction<'_>, customer: CustomerId) -> Result<(), DbError> {
    const HOLD: &str = concat!("SELECT FROM tagihan t WHERE ", bill_of_customer!("$1"), " ORDER BY t.id FOR NO KEY UPDATE");
    let stmt = tx.prepare_cached(HOLD).await?;
    tx.query(&stmt, &[&customer]).await?;
    Ok(())
}

/// The bills of an outlet that were made between two instants.
///
/// # Errors
/// When the database does not answer.
pub async fn made_between(
    client: &impl GenericClient,
    idoutlet: OutletId,
    (from, until): (Timestamp, Timestamp),
) -> Result<Vec<DueBill>, DbError> {
    const MADE: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM tagihan t WHERE t.idoutlet = $1 AND t.created_at >= $2 AND t.created_at < $3 ORDER BY t.created_at, t.id"
    );
    let stmt = client.prepare_cached(MADE).await?;
    client.query(&stmt, &[&idoutlet, &from, &until]).await?.iter().map(due).collect()
}

/// Stores when a bill is asked about next, unless money has come for it. One that is given up has ended; what is paid later is credited all the same.
///
/// # Errors
/// When the database does not answer.
pub async fn asked(client: &impl GenericClient, id: &BillId, next: Option<Timestamp>) -> Result<(), DbError> {
    const ASKED: &str = "
        UPDATE tagihan SET tanya_at = $2, status = CASE WHEN $2::TIMESTAMPTZ IS NULL AND status IN ('dibuat', 'menunggu') THEN 'kedaluwarsa' ELSE status END
        WHERE id = $1 AND tanya_at IS NOT NULL";
    let stmt = client.prepare_cached(ASKED).await?;
    client.execute(&stmt, &[&id.as_str(), &next]).await?;
    Ok(())
}

/// A bill is to be asked about at once, also one that was given up, unless money has come for it.
///
/// # Errors
/// When the database does not answer.
pub async fn make_due(client: &impl GenericClient, id: &BillId, now: Timestamp) -> Result<(), DbError> {
    const DUE: &str = "UPDATE tagihan SET tanya_at = $2 WHERE id = $1 AND status NOT IN ('dibayar', 'tertahan')";
    let stmt = client.prepare_cached(DUE).await?;
    client.execute(&stmt, &[&id.as_str(), &now]).await?;
    Ok(())
}

fn due(row: &Row) -> Result<DueBill, DbError> {
    let (id, provider, status): (&str, &str, &str) = (row.try_get(0)?, row.try_get(3)?, row.try_get(5)?);
    let unknown = |what: &str| DbError::broken(format!("unknown {what} of a bill"));
    Ok(DueBill {
        id: BillId::parse(id).ok_or_else(|| unknown("id"))?,
        idowner: row.try_get(1)?,
        idoutlet: row.try_get(2)?,
        provider: ProviderKind::parse(provider).ok_or_else(|| unknown("provider"))?,
        nominal: row.try_get(4)?,
        status: BillStatus::from_stored(status).ok_or_else(|| unknown("status"))?,
        expires_at: row.try_get(6)?,
    })
}
