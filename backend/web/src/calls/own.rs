//! A customer's own call: made, read and ended.

use nyala_core::calls::{MAX_WAITING, WAIT_MS};
use nyala_core::domain::id::{CallId, CustomerId, MachineId, OutletId};
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::state::undecided_states;
use nyala_ledger::on_sale::is_open;
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use super::decide;
use crate::http::error::AppError;

/// A customer's call for a machine.
#[derive(Debug, Serialize, ToSchema)]
pub struct Panggilan {
    #[schema(value_type = i64)]
    id: CallId,
    #[schema(value_type = i64)]
    idoutlet: OutletId,
    jenis: MachineKind,
    /// The customer's place in the queue; 1 is called next.
    urutan: i64,
    /// Until when it waits.
    sampai: Timestamp,
    /// The machine that the customer is called to.
    #[schema(required)]
    dipanggil: Option<Dipanggil>,
}

/// A machine that is free, with a head start for the customer.
#[derive(Debug, Serialize, ToSchema)]
pub struct Dipanggil {
    #[schema(value_type = i64)]
    idmesin: MachineId,
    /// Its name.
    mesin: String,
    sampai: Timestamp,
}

/// Condition, as a literal: the call `p` at the outlet `o` is not over at `$now`. While a purchase of the customer holds the machine that the call is
/// for, nothing ends it but the answer of the device.
macro_rules! lasts {
    ($now:literal) => {
        concat!(
            "(p.selesai_at IS NULL AND ",
            is_open!($now),
            " AND (COALESCE(p.dipanggil_sampai, p.sampai) > ",
            $now,
            "::TIMESTAMPTZ OR EXISTS (
        SELECT FROM snap_transaksi h WHERE h.id_customer_global = p.id_customer_global AND h.idmesin = p.idmesin AND h.state IN ",
            undecided_states!(),
            ")))"
        )
    };
}

/// $1 customer, $2 now.
const OWN: &str = concat!(
    "
SELECT p.id, p.idoutlet, p.jenis, p.sampai, p.idmesin, m.nama, p.dipanggil_sampai,
    (SELECT count(*) FROM panggilan b WHERE b.selesai_at IS NULL AND b.idoutlet = p.idoutlet AND b.jenis = p.jenis AND b.id < p.id) + 1
FROM panggilan p JOIN outlet o USING (idoutlet) LEFT JOIN mesin m ON m.idmesin = p.idmesin
WHERE p.id_customer_global = $1 AND ",
    lasts!("$2")
);

fn of(row: &Row) -> Result<Panggilan, DbError> {
    let machine: Option<MachineId> = row.try_get(4)?;
    let (name, until): (Option<String>, Option<Timestamp>) = (row.try_get(5)?, row.try_get(6)?);
    Ok(Panggilan {
        id: row.try_get(0)?,
        idoutlet: row.try_get(1)?,
        jenis: row.try_get(2)?,
        sampai: row.try_get(3)?,
        urutan: row.try_get(7)?,
        dipanggil: machine.zip(name).zip(until).map(|((idmesin, mesin), sampai)| Dipanggil { idmesin, mesin, sampai }),
    })
}

/// The customer's call, if there is one that is not over.
///
/// # Errors
/// When the database does not answer.
pub async fn get(
    client: &impl deadpool_postgres::GenericClient,
    customer: CustomerId,
    now: Timestamp,
) -> Result<Option<Panggilan>, DbError> {
    let stmt = client.prepare_cached(OWN).await?;
    client.query_opt(&stmt, &[&customer, &now]).await?.as_ref().map(of).transpose()
}

/// $1 outlet, $2 now, $3 kind: whether it is open, whether it has such machines, and how many calls wait.
const QUEUE: &str = concat!(
    "
SELECT ",
    is_open!("$2"),
    ", EXISTS (SELECT FROM mesin m WHERE m.idoutlet = o.idoutlet AND m.jenis = $3 AND m.aktif),
    (SELECT count(*) FROM panggilan p WHERE p.idoutlet = o.idoutlet AND p.jenis = $3 AND ",
    lasts!("$2"),
    ")
FROM outlet o WHERE o.idoutlet = $1 AND o.dibuka_at IS NOT NULL"
);

/// Ends calls of the customer that are over but not decided yet. $1 customer, $2 now.
const END_OLD: &str = concat!(
    "UPDATE panggilan p SET selesai_at = $2 FROM outlet o WHERE o.idoutlet = p.idoutlet AND p.id_customer_global = $1 AND p.selesai_at IS NULL AND NOT ",
    lasts!("$2")
);

/// $1 customer, $2 outlet, $3 kind, $4 now, $5 until when.
const ADD: &str = "
INSERT INTO panggilan (id_customer_global, idoutlet, jenis, created_at, sampai, sesudah)
SELECT $1, $2, $3, $4, $5, COALESCE((SELECT max(id) FROM snap_transaksi WHERE id_customer_global = $1), 0)";

/// Lets the customer wait for a machine of a kind.
///
/// # Errors
/// The refusals of the call.
pub async fn add(
    client: &mut DbClient,
    mqtt: &Mqtt,
    customer: CustomerId,
    (idoutlet, kind): (OutletId, MachineKind),
    now: Timestamp,
) -> Result<Panggilan, AppError> {
    // One after the other at an outlet, and of a customer: the answers stay true until the commit.
    const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('panggilan:' || $1::TEXT, 0))";
    let tx = client.transaction().await?;
    let stmt = tx.prepare_cached(LOCK).await?;
    for of in [format!("pelanggan:{customer}"), format!("outlet:{idoutlet}")] {
        tx.execute(&stmt, &[&of]).await?;
    }
    let stmt = tx.prepare_cached(QUEUE).await?;
    let row = tx.query_opt(&stmt, &[&idoutlet, &now, &kind]).await?.ok_or(AppError::NotFound("outlet tidak ditemukan"))?;
    let (is_open, has_kind): (bool, bool) = (row.try_get(0)?, row.try_get(1)?);
    let waiting: i64 = row.try_get(2)?;
    if !has_kind {
        return Err(AppError::NotFound("jenis mesin tidak ada"));
    }
    if !is_open {
        return Err(AppError::Conflict("outlet sedang tutup"));
    }
    if let Some(own) = get(&tx, customer, now).await? {
        let same = (own.idoutlet, own.jenis) == (idoutlet, kind);
        return if same { Ok(own) } else { Err(AppError::Conflict("masih ada panggilan lain")) };
    }
    if waiting == 0 && !decide::free(&tx, mqtt, (idoutlet, kind), now).await?.is_empty() {
        return Err(AppError::Conflict("ada mesin yang siap"));
    }
    if waiting >= MAX_WAITING {
        return Err(AppError::Conflict("antrean penuh"));
    }
    let stmt = tx.prepare_cached(END_OLD).await?;
    tx.execute(&stmt, &[&customer, &now]).await?;
    let stmt = tx.prepare_cached(ADD).await?;
    tx.execute(&stmt, &[&customer, &idoutlet, &kind, &now, &now.plus_ms(WAIT_MS)]).await?;
    let made = get(&tx, customer, now).await?.ok_or_else(|| AppError::internal("a call that was just made is gone"))?;
    tx.commit().await?;
    Ok(made)
}

/// Ends the customer's call, if there is one. Gives its outlet.
///
/// # Errors
/// When the database does not answer.
pub async fn end(client: &DbClient, customer: CustomerId, now: Timestamp) -> Result<Option<OutletId>, DbError> {
    const END: &str =
        "UPDATE panggilan SET selesai_at = $2 WHERE id_customer_global = $1 AND selesai_at IS NULL RETURNING idoutlet";
    let stmt = client.prepare_cached(END).await?;
    Ok(client.query_opt(&stmt, &[&customer, &now]).await?.map(|row| row.get(0)))
}
