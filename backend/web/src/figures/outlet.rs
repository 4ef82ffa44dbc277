//! An outlet and its machines, for reports.

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{MachineId, OutletId, OwnerId};
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::text::natural_key;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::calendar::Calendar;
use nyala_store::db::error::DbError;
use tokio_postgres::Row;

/// An outlet with its present days.
#[derive(Debug, Clone)]
pub struct ReportOutlet {
    pub idoutlet: OutletId,
    pub idowner: OwnerId,
    pub calendar: Calendar,
    /// When it was opened first; `None`: it is being prepared.
    pub opened_at: Option<Timestamp>,
    /// Since when it is closed, and until when if that is known.
    pub closed: Option<(Timestamp, Option<Timestamp>)>,
    /// One of its boards counts coins.
    pub counts_coins: bool,
    /// One of its machines is started by pulses.
    pub has_pulses: bool,
}

impl ReportOutlet {
    /// # Errors
    /// When the database does not answer.
    pub async fn read(tx: &Transaction<'_>, idoutlet: OutletId) -> Result<Self, DbError> {
        const OUTLET: &str = "
            SELECT idowner, zona, hari_mulai, dibuka_at, ditutup_sejak, ditutup_sampai,
                EXISTS (SELECT FROM koin_seri JOIN mesin m USING (idmesin) WHERE m.idoutlet = outlet.idoutlet),
                EXISTS (SELECT FROM mesin m WHERE m.idoutlet = outlet.idoutlet AND m.cara = 'pulsa')
            FROM outlet WHERE idoutlet = $1";
        let stmt = tx.prepare_cached(OUTLET).await?;
        let row = tx.query_one(&stmt, &[&idoutlet]).await?;
        let calendar = Calendar::stored(row.try_get(1)?, row.try_get(2)?);
        let since: Option<Timestamp> = row.try_get(4)?;
        let until: Option<Timestamp> = row.try_get(5)?;
        Ok(Self {
            idoutlet,
            idowner: row.try_get(0)?,
            calendar: calendar.ok_or_else(|| DbError::broken("an outlet without days"))?,
            opened_at: row.try_get(3)?,
            closed: since.map(|since| (since, until)),
            counts_coins: row.try_get(6)?,
            has_pulses: row.try_get(7)?,
        })
    }
}

/// A machine of an outlet.
#[derive(Debug, Clone)]
pub struct ReportMachine {
    pub idmesin: MachineId,
    pub name: String,
    pub kind: MachineKind,
    pub created_at: Timestamp,
    /// Not retired.
    pub active: bool,
}

/// All machines of an outlet, retired ones too, in the order of the board.
///
/// # Errors
/// When the database does not answer.
pub async fn machines(tx: &Transaction<'_>, idoutlet: OutletId) -> Result<Vec<ReportMachine>, DbError> {
    const MACHINES: &str = "SELECT idmesin, nama, jenis, created_at, aktif, urut FROM mesin WHERE idoutlet = $1";
    let stmt = tx.prepare_cached(MACHINES).await?;
    let mut rows = tx.query(&stmt, &[&idoutlet]).await?;
    rows.sort_by_cached_key(|row| {
        let order: Option<i32> = row.get("urut");
        (order.is_none(), order, natural_key(row.get("nama")), row.get::<_, MachineId>("idmesin"))
    });
    rows.iter().map(machine).collect()
}

fn machine(row: &Row) -> Result<ReportMachine, DbError> {
    Ok(ReportMachine {
        idmesin: row.try_get(0)?,
        name: row.try_get(1)?,
        kind: row.try_get(2)?,
        created_at: row.try_get(3)?,
        active: row.try_get(4)?,
    })
}
