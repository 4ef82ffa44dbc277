//! Stored alerts. Each change is a compare-and-set together with the messages that it queues, so that a former owner of an outlet sends nothing
//! twice.

use nyala_core::board::alert::{Alert, Change};
use nyala_core::board::attention::{About, COMPLAINT_MS, Entry, Kind};
use nyala_core::domain::id::{AlertId, ComplaintId, MachineId, OutletId, ShiftId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use tokio_postgres::Row;

use crate::board::entry::about;

const OPEN: &str = "
SELECT id, idoutlet, jenis, tentang, sejak, mulai_at, lagi_at IS NOT NULL, diambil_oleh, hilang_at FROM alarm
WHERE beres_at IS NULL AND idoutlet = ANY($1) ORDER BY id";

/// To all who see the outlet; to owners at $6. Whether a person wants it is asked when it is sent.
const BEGIN: &str = "
WITH a AS (
    INSERT INTO alarm (idoutlet, jenis, tentang, sejak, mulai_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (idoutlet, jenis, tentang) WHERE beres_at IS NULL DO NOTHING RETURNING id, idoutlet
)
INSERT INTO alarm_kirim (id_alarm, idoutlet, apa, idlangganan, created_at, due_at)
SELECT a.id, a.idoutlet, 'mulai', s.id, $5, CASE WHEN k.role = 'owner' THEN $6 ELSE $5 END FROM a JOIN outlet o USING (idoutlet)
JOIN kunci_operator k ON (k.idoutlet = o.idoutlet OR k.idowner = o.idowner) AND k.revoked_at IS NULL
JOIN langganan_petugas s ON s.id_kunci = k.id";

/// `a` changes, and who was sent its beginning gets `$what`. $1 alert, $2 now.
macro_rules! and_tell {
    ($update:literal, $what:literal, $to:literal) => {
        concat!(
            "
WITH a AS (",
            $update,
            " RETURNING id, idoutlet, diambil_oleh)
INSERT INTO alarm_kirim (id_alarm, idoutlet, apa, idlangganan, created_at, due_at)
SELECT a.id, a.idoutlet, '",
            $what,
            "', m.idlangganan, $2, $2 FROM a JOIN alarm_kirim m ON m.id_alarm = a.id AND m.apa = 'mulai' AND m.sent_at IS NOT NULL
JOIN langganan_petugas s ON s.id = m.idlangganan",
            $to,
            "
ON CONFLICT (id_alarm, apa, idlangganan) DO UPDATE SET due_at = $2, tries = 0"
        )
    };
}

const REPEAT: &str =
    and_tell!("UPDATE alarm SET lagi_at = $2 WHERE id = $1 AND lagi_at IS NULL AND beres_at IS NULL", "lagi", "");
const TAKEN: &str = and_tell!(
    "UPDATE alarm SET diambil_oleh = $3 WHERE id = $1 AND diambil_oleh IS DISTINCT FROM $3 AND beres_at IS NULL",
    "diambil",
    " AND s.id_kunci <> a.diambil_oleh"
);
const ALL_CLEAR: &str =
    and_tell!("UPDATE alarm SET beres_at = $2 WHERE id = $1 AND hilang_at IS NOT NULL AND beres_at IS NULL", "beres", "");
const GONE: &str = "UPDATE alarm SET hilang_at = $2 WHERE id = $1 AND hilang_at IS NULL AND beres_at IS NULL";
const BACK: &str = "UPDATE alarm SET hilang_at = NULL, sejak = $2 WHERE id = $1 AND beres_at IS NULL";

/// An alert that is not over.
#[derive(Debug, Clone, Copy)]
pub struct OpenAlert {
    pub id: AlertId,
    pub idoutlet: OutletId,
    pub alert: Alert,
}

/// The alerts of these outlets.
pub async fn open(client: &DbClient, outlets: &[OutletId]) -> Result<Vec<OpenAlert>, DbError> {
    let stmt = client.prepare_cached(OPEN).await?;
    client.query(&stmt, &[&outlets]).await?.iter().map(alert).collect()
}

fn alert(row: &Row) -> Result<OpenAlert, DbError> {
    let kind = kind(row.try_get(2)?)?;
    let alert = Alert {
        kind,
        about: stored_about(kind, row.try_get(3)?),
        since: row.try_get(4)?,
        began_at: row.try_get(5)?,
        is_repeated: row.try_get(6)?,
        taken_by: row.try_get(7)?,
        gone_at: row.try_get(8)?,
    };
    Ok(OpenAlert { id: row.try_get(0)?, idoutlet: row.try_get(1)?, alert })
}

/// A stored kind.
pub fn kind(text: &str) -> Result<Kind, DbError> {
    Kind::parse(text).ok_or_else(|| DbError::broken(format!("unknown kind {text}")))
}

/// The inverse of [`about`].
pub fn stored_about(kind: Kind, number: i64) -> About {
    match kind {
        Kind::OutletGone | Kind::MoveRefused | Kind::Qris | Kind::Backup => About::Outlet,
        Kind::Shift => About::Shift(ShiftId::new(number)),
        Kind::Complaint => About::Complaint(ComplaintId::new(number)),
        Kind::NeedsStaff
        | Kind::ClosedItself
        | Kind::Unpaid
        | Kind::Unsure
        | Kind::Refused
        | Kind::NeverRan
        | Kind::RunsItself
        | Kind::Offline
        | Kind::OldBoard => About::Machine(MachineId::new(number)),
    }
}

/// Begins an alert, and queues its first messages.
pub async fn begin(client: &DbClient, idoutlet: OutletId, entry: Entry, now: Timestamp) -> Result<(), DbError> {
    let stmt = client.prepare_cached(BEGIN).await?;
    // A supervisor has some time to answer a complaint.
    let owners_at = if entry.kind == Kind::Complaint { entry.since.plus_ms(COMPLAINT_MS).max(now) } else { now };
    client.execute(&stmt, &[&idoutlet, &entry.kind.as_str(), &about(entry.about), &entry.since, &now, &owners_at]).await?;
    Ok(())
}

/// Stores a change of an alert, and queues its messages.
pub async fn change(client: &DbClient, id: AlertId, change: Change, now: Timestamp) -> Result<(), DbError> {
    let (statement, at) = match change {
        Change::Repeat => (REPEAT, now),
        Change::Taken(by) => {
            client.execute(&client.prepare_cached(TAKEN).await?, &[&id, &now, &by]).await?;
            return Ok(());
        }
        Change::Gone => (GONE, now),
        Change::Back(since) => (BACK, since),
        Change::AllClear => (ALL_CLEAR, now),
    };
    client.execute(&client.prepare_cached(statement).await?, &[&id, &at]).await?;
    Ok(())
}
