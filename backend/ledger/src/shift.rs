//! Shifts: who has a till, since when, and the cash that should be in its drawer (docs/till.md).

use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::domain::id::{OutletId, ShiftId, StaffId, TillId, TopUpId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::error::DbError;
use serde::Serialize;
use serde_json::Value;
use tokio_postgres::Row;
use utoipa::ToSchema;

use super::cash::{self, CashKind};
use super::error::LedgerError;

/// A shift as every role at its till may see it: without the amount that should be in the drawer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Shift {
    #[schema(value_type = i64)]
    pub id: ShiftId,
    /// RFC 3339.
    pub dibuka_at: Timestamp,
    /// Who opened it.
    pub petugas: String,
    /// Rupiah in the drawer when the shift was opened. Null for a `kasir`, except in the answer to the person who has just counted them.
    #[schema(required)]
    pub modal: Option<i64>,
    /// RFC 3339; null while it is open.
    pub ditutup_at: Option<Timestamp>,
}

impl Shift {
    /// As a kasir sees it before the count.
    pub fn without_float(self) -> Self {
        Self { modal: None, ..self }
    }
}

/// The most that a drawer holds, in rupiah: more cannot be counted.
pub const MAX_IN_DRAWER: i64 = 1_000_000_000;

const NOT_OPEN: LedgerError = LedgerError::Conflict("shift belum dibuka");
pub const NOT_ENOUGH: LedgerError = LedgerError::Unprocessable("uang di laci tidak cukup");
pub const NO_ROOM: LedgerError = LedgerError::Unprocessable("laci tidak boleh berisi lebih dari Rp 1.000.000.000");

/// Maximum number of answers in a shift, without a supervisor, to whether the drawer holds an amount or has room for it. Each answer halves the
/// possible sums, and the count is blind.
pub const MAX_DRAWER_QUESTIONS: i16 = 3;

const COLUMNS: &str = "s.id, s.dibuka_at, k.nama, s.modal, s.ditutup_at";

fn read(row: &Row) -> Shift {
    Shift { id: row.get(0), dibuka_at: row.get(1), petugas: row.get(2), modal: row.get(3), ditutup_at: row.get(4) }
}

/// The open shift of a till; `browser` is the till's.
///
/// # Errors
/// When the database does not answer.
pub async fn open_at(client: &impl GenericClient, browser: TillId) -> Result<Option<Shift>, DbError> {
    let find = format!(
        "SELECT {COLUMNS} FROM shift s JOIN kunci_operator k ON k.id = s.dibuka_oleh WHERE s.id_perangkat = $1 AND s.ditutup_at IS NULL"
    );
    let stmt = client.prepare_cached(&find).await?;
    Ok(client.query_opt(&stmt, &[&browser]).await?.as_ref().map(read))
}

/// Locks the till's open shift, so that no one closes it until this transaction ends. The lock order is that of the crate.
///
/// # Errors
/// 409 `shift belum dibuka`.
pub async fn hold_open(tx: &Transaction<'_>, browser: TillId) -> Result<ShiftId, LedgerError> {
    hold_if_open(tx, browser).await?.ok_or(NOT_OPEN)
}

/// As [`hold_open`], for what needs no shift and waits for the count of the one that there is.
///
/// # Errors
/// When the database does not answer.
pub async fn hold_if_open(tx: &Transaction<'_>, browser: TillId) -> Result<Option<ShiftId>, LedgerError> {
    const HOLD: &str = "SELECT id FROM shift WHERE id_perangkat = $1 AND ditutup_at IS NULL FOR SHARE";
    let stmt = tx.prepare_cached(HOLD).await?;
    Ok(tx.query_opt(&stmt, &[&browser]).await?.map(|row| row.get(0)))
}

/// As [`hold_open`], and no other transaction moves its cash: for taking cash out, and for the count.
///
/// # Errors
/// 409 `shift belum dibuka`.
pub async fn hold_alone(tx: &Transaction<'_>, browser: TillId) -> Result<ShiftId, LedgerError> {
    const HOLD: &str = "SELECT id FROM shift WHERE id_perangkat = $1 AND ditutup_at IS NULL FOR UPDATE";
    let stmt = tx.prepare_cached(HOLD).await?;
    let row = tx.query_opt(&stmt, &[&browser]).await?;
    row.map(|row| row.get(0)).ok_or(NOT_OPEN)
}

/// What should be in a shift's drawer, in rupiah. Only a transaction that holds it alone knows that it stays so.
///
/// # Errors
/// When the database does not answer.
pub async fn in_drawer(client: &impl GenericClient, shift: ShiftId) -> Result<i64, DbError> {
    const SUM: &str = "SELECT COALESCE(SUM(jumlah), 0)::BIGINT FROM kas_gerak WHERE idshift = $1";
    let stmt = client.prepare_cached(SUM).await?;
    Ok(client.query_one(&stmt, &[&shift]).await?.get(0))
}

/// A till and the member of staff who uses it.
#[derive(Debug, Clone, Copy)]
pub struct Keeper<'a> {
    pub browser: TillId,
    pub idoutlet: OutletId,
    /// The person's id.
    pub person: StaffId,
    pub principal: &'a str,
}

/// Opens a shift with `float` rupiah in the drawer.
///
/// # Errors
/// 409 `shift sudah dibuka`.
pub async fn open(tx: &Transaction<'_>, by: Keeper<'_>, float: i64, now: Timestamp) -> Result<Shift, LedgerError> {
    const OPEN: &str = "
        WITH s AS (
            INSERT INTO shift (id_perangkat, idoutlet, dibuka_oleh, modal, dibuka_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (id_perangkat) WHERE ditutup_at IS NULL DO NOTHING RETURNING *
        )";
    let stmt =
        tx.prepare_cached(&format!("{OPEN} SELECT {COLUMNS} FROM s JOIN kunci_operator k ON k.id = s.dibuka_oleh")).await?;
    let row = tx.query_opt(&stmt, &[&by.browser, &by.idoutlet, &by.person, &float, &now]).await?;
    let shift = row.as_ref().map(read).ok_or(LedgerError::Conflict("shift sudah dibuka"))?;
    cash::record(tx, shift.id, CashKind::Float, float, by.principal, now).await?;
    Ok(shift)
}

/// A final count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    pub id: ShiftId,
    /// What should have been in the drawer.
    pub expected: i64,
    /// How often [`ask_drawer`] answered.
    pub questions: i16,
    /// How many older sales a kasir has opened.
    pub looks: i32,
}

/// Closes a shift that this transaction holds alone: `counted` rupiah were in the drawer. `now` is read after it is held, so that
/// nothing of the shift is later than its end.
///
/// # Errors
/// When the database does not answer.
pub async fn close(
    tx: &Transaction<'_>,
    shift: ShiftId,
    person: StaffId,
    (counted, notes): (i64, Option<&Value>),
    now: Timestamp,
) -> Result<Closed, LedgerError> {
    const CLOSE: &str =
        // Not before the newest entry of its drawer and its newest sale: the clock may have been ahead when they were written.
        "UPDATE shift SET ditutup_oleh = $2, ditutup_at = greatest($3, (SELECT max(created_at) FROM kas_gerak WHERE idshift = $1),
            (SELECT max(created_at) FROM pembelian_emoney WHERE idshift = $1)), diharapkan = $4, dihitung = $5, pecahan = $6 WHERE id = $1
        RETURNING laci_ditanya, topup_dilihat";
    let expected = in_drawer(tx, shift).await?;
    let stmt = tx.prepare_cached(CLOSE).await?;
    let row = tx.query_one(&stmt, &[&shift, &person, &now, &expected, &counted, &notes]).await?;
    Ok(Closed { id: shift, expected, questions: row.get(0), looks: row.get(1) })
}

/// Whether the count has to be repeated before the shift is closed, which this transaction holds alone: when nothing was counted, or the
/// count is off by half. This is asked once in a shift, because a second answer would reveal more of the sum.
///
/// # Errors
/// When the database does not answer.
pub async fn is_doubtful(tx: &Transaction<'_>, shift: ShiftId, counted: i64) -> Result<bool, DbError> {
    const ASKED: &str = "UPDATE shift SET hitungan_ditanya = $2 WHERE id = $1 AND hitungan_ditanya IS NULL";
    let expected = in_drawer(tx, shift).await?;
    let off = (counted - expected).abs();
    if counted != 0 && (off == 0 || off.saturating_mul(2) < expected) {
        return Ok(false);
    }
    let stmt = tx.prepare_cached(ASKED).await?;
    Ok(tx.execute(&stmt, &[&shift, &counted]).await? == 1)
}

/// Rupiah of a shift's sales that stand, by how they were paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct SoldByMeans {
    tunai: i64,
    qris: i64,
    transfer: i64,
}

/// What a shift has sold.
///
/// # Errors
/// When the database does not answer.
pub async fn sold(client: &impl GenericClient, shift: ShiftId) -> Result<SoldByMeans, DbError> {
    const SUM: &str = "
        SELECT COALESCE(SUM(harga_paket) FILTER (WHERE cara_bayar = 'tunai'), 0)::BIGINT,
            COALESCE(SUM(harga_paket) FILTER (WHERE cara_bayar = 'qris'), 0)::BIGINT,
            COALESCE(SUM(harga_paket) FILTER (WHERE cara_bayar = 'transfer'), 0)::BIGINT
        FROM pembelian_emoney WHERE idshift = $1 AND batal_at IS NULL";
    let stmt = client.prepare_cached(SUM).await?;
    let row = client.query_one(&stmt, &[&shift]).await?;
    Ok(SoldByMeans { tunai: row.get(0), qris: row.get(1), transfer: row.get(2) })
}

/// How many of a shift's newest sales a kasir's list has amounts of. All of them would add up to what should be in the drawer.
pub const OPEN_SALES: i64 = 10;

/// The oldest of a shift's newest [`OPEN_SALES`] sales; `None` when there are fewer.
///
/// # Errors
/// When the database does not answer.
pub async fn oldest_open_sale(client: &impl GenericClient, shift: ShiftId) -> Result<Option<TopUpId>, DbError> {
    const FIND: &str = "
        SELECT MIN(id) FROM (SELECT id FROM pembelian_emoney WHERE idshift = $1 ORDER BY id DESC LIMIT $2) AS newest
        HAVING count(*) = $2";
    let stmt = client.prepare_cached(FIND).await?;
    Ok(client.query_opt(&stmt, &[&shift, &OPEN_SALES]).await?.map(|row| row.get(0)))
}

/// Counts that a kasir opened an older sale of a shift. False when it is closed.
///
/// # Errors
/// When the database does not answer.
pub async fn count_look(tx: &Transaction<'_>, shift: ShiftId) -> Result<bool, DbError> {
    const COUNT: &str = "UPDATE shift SET topup_dilihat = topup_dilihat + 1 WHERE id = $1 AND ditutup_at IS NULL";
    let stmt = tx.prepare_cached(COUNT).await?;
    Ok(tx.execute(&stmt, &[&shift]).await? == 1)
}

/// How many older sales of a shift kasirs have opened.
///
/// # Errors
/// When the database does not answer.
pub async fn looks(client: &impl GenericClient, shift: ShiftId) -> Result<i32, DbError> {
    let stmt = client.prepare_cached("SELECT topup_dilihat FROM shift WHERE id = $1").await?;
    Ok(client.query_one(&stmt, &[&shift]).await?.get(0))
}

/// Refuses `nominal` more rupiah for a drawer that could not be counted with them. The transaction holds the shift alone.
///
/// # Errors
/// 422 `laci tidak boleh berisi lebih dari Rp 1.000.000.000`.
pub async fn check_room(tx: &Transaction<'_>, shift: ShiftId, nominal: i64) -> Result<(), LedgerError> {
    if in_drawer(tx, shift).await? + nominal > MAX_IN_DRAWER { Err(NO_ROOM) } else { Ok(()) }
}

/// Puts `nominal` rupiah into the drawer of a shift that this transaction holds alone. Gives the movement.
///
/// # Errors
/// As [`check_room`].
pub async fn put_in(
    tx: &Transaction<'_>,
    shift: ShiftId,
    (kind, nominal): (CashKind<'_>, i64),
    principal: &str,
    now: Timestamp,
) -> Result<i64, LedgerError> {
    check_room(tx, shift, nominal).await?;
    cash::record(tx, shift, kind, nominal, principal, now).await
}

/// Takes `nominal` rupiah out of the drawer of a shift that this transaction holds alone. Gives the movement.
///
/// # Errors
/// 422 `uang di laci tidak cukup`.
pub async fn take_out(
    tx: &Transaction<'_>,
    shift: ShiftId,
    (kind, nominal): (CashKind<'_>, i64),
    principal: &str,
    now: Timestamp,
) -> Result<i64, LedgerError> {
    if in_drawer(tx, shift).await? < nominal {
        return Err(NOT_ENOUGH);
    }
    cash::record(tx, shift, kind, nominal, principal, now).await
}

/// A question that a kasir asked about the drawer, and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawerQuestion {
    pub shift: ShiftId,
    pub enough: bool,
}

/// Whether the drawer of a till's open shift holds `nominal` rupiah, or has room for them when they come in. `None` without a
/// shift, and when [`MAX_DRAWER_QUESTIONS`] have been answered.
///
/// # Errors
/// When the database does not answer.
pub async fn ask_drawer(
    tx: &Transaction<'_>,
    browser: TillId,
    kind: CashKind<'_>,
    nominal: i64,
) -> Result<Option<DrawerQuestion>, DbError> {
    const COUNT: &str = "
        UPDATE shift SET laci_ditanya = laci_ditanya + 1
        WHERE id_perangkat = $1 AND ditutup_at IS NULL AND laci_ditanya < $2 RETURNING id";
    let stmt = tx.prepare_cached(COUNT).await?;
    let Some(row) = tx.query_opt(&stmt, &[&browser, &MAX_DRAWER_QUESTIONS]).await? else { return Ok(None) };
    let shift = row.get(0);
    let sum = in_drawer(tx, shift).await?;
    let enough = if matches!(kind, CashKind::In { .. }) { sum + nominal <= MAX_IN_DRAWER } else { sum >= nominal };
    Ok(Some(DrawerQuestion { shift, enough }))
}

/// Puts a note to the count of a closed shift of this till, once, if it was `person` who closed it.
///
/// # Errors
/// 404 `shift tidak ditemukan`, 409 `shift belum ditutup`, 409 `catatan sudah ada`.
pub async fn note(tx: &Transaction<'_>, browser: TillId, person: StaffId, id: ShiftId, note: &str) -> Result<Noted, LedgerError> {
    const LOCK: &str = "SELECT ditutup_oleh, catatan FROM shift WHERE id = $1 AND id_perangkat = $2 FOR UPDATE";
    const WRITE: &str = "UPDATE shift SET catatan = $2 WHERE id = $1";
    let row = tx.query_opt(LOCK, &[&id, &browser]).await?.ok_or(LedgerError::NotFound("shift tidak ditemukan"))?;
    let (closed_by, before): (Option<StaffId>, Option<&str>) = (row.get(0), row.get(1));
    match (closed_by, before) {
        (None, _) => Err(LedgerError::Conflict("shift belum ditutup")),
        (Some(by), _) if by != person => Ok(Noted::NotTheirs),
        (Some(_), Some(same)) if same == note => Ok(Noted::Before),
        (Some(_), Some(_)) => Err(LedgerError::Conflict("catatan sudah ada")),
        (Some(_), None) => {
            tx.execute(WRITE, &[&id, &note]).await?;
            Ok(Noted::Now)
        }
    }
}

/// What became of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    Now,
    /// It is there already, to the letter.
    Before,
    /// Another member of staff closed that shift.
    NotTheirs,
}

/// A movement of cash as `GET shift` lists it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Movement {
    id: i64,
    /// `modal`, `topup`, `batal`, `tarik`, `masuk`, `keluar` or `setor`.
    jenis: String,
    /// Null for a `kasir`.
    #[schema(required)]
    nominal: Option<i64>,
    alasan: Option<String>,
    petugas: String,
    /// RFC 3339.
    created_at: Timestamp,
}

/// A shift's newest movements of cash. Without `all` only what was put in and taken out by hand, and no amounts: they would add up to
/// what should be in the drawer.
///
/// # Errors
/// When the database does not answer.
pub async fn movements(client: &impl GenericClient, shift: ShiftId, all: bool) -> Result<Vec<Movement>, DbError> {
    const LIST: &str = "
        SELECT g.id, g.jenis, g.nominal, g.alasan, COALESCE(k.nama, g.aktor), g.created_at
        FROM kas_gerak g LEFT JOIN kunci_operator k ON g.aktor = 'operator:' || k.id
        WHERE g.idshift = $1 AND ($2 OR g.jenis IN ('masuk', 'keluar', 'setor')) ORDER BY g.id DESC LIMIT 500";
    let stmt = client.prepare_cached(LIST).await?;
    let rows = client.query(&stmt, &[&shift, &all]).await?;
    Ok(rows
        .iter()
        .map(|row| Movement {
            id: row.get(0),
            jenis: row.get(1),
            nominal: all.then(|| row.get(2)),
            alasan: row.get(3),
            petugas: row.get(4),
            created_at: row.get(5),
        })
        .collect())
}
