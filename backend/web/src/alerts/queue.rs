//! Queue of messages to browsers of staff. Any server takes a row, one server at a time.

use deadpool_postgres::GenericClient;
use nyala_core::board::alert::QuietHours;
use nyala_core::board::attention::{self, Entry, Kind, Level};
use nyala_core::domain::id::{AlertMessageId, OutletId, StaffId, TillId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::prices::{ClockTime, Zone};
use nyala_ledger::push_queue::Browser;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use tokio_postgres::Row;

use super::store::{kind, stored_about};
use super::text::{About, AlertNews, Content};

/// When a person has chosen nothing, minutes of the day.
pub const QUIET_FROM: i16 = 22 * 60;
pub const QUIET_TO: i16 = 7 * 60;

/// $1 now, $2 maximum of rows, $3 until when no other server takes them. The person, the browser, what is in sight and what was chosen decide
/// as they are now.
const CLAIM: &str = "
WITH due AS (
    SELECT id FROM alarm_kirim WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
), p AS (
    UPDATE alarm_kirim q SET tries = q.tries + 1, due_at = $3 FROM due WHERE q.id = due.id RETURNING q.*
)
SELECT p.id, p.idlangganan, p.tries, p.apa, p.idoutlet, p.isi, p.id_alarm, a.jenis, a.tentang, a.sejak AS sejak_at, a.hilang_at IS NULL AND a.beres_at IS NULL AS berlaku,
       to_char(a.sejak AT TIME ZONE o.zona, 'HH24.MI') AS sejak, taker.nama AS diambil,
       EXISTS (SELECT FROM perhatian_ditangani d WHERE d.idoutlet = a.idoutlet AND d.jenis = a.jenis AND d.tentang = a.tentang
               AND d.sejak = a.sejak AND d.sampai > $1) AS ditangani,
       o.nama AS outlet, o.zona, COALESCE(m.nama, till.nama, o.nama) AS nama,
       s.endpoint, s.p256dh, s.auth, s.kid, c.id_kunci IS NULL AS bawaan, c.senyap_dari, c.senyap_sampai
FROM p JOIN outlet o ON o.idoutlet = p.idoutlet LEFT JOIN alarm a ON a.id = p.id_alarm
LEFT JOIN kunci_operator taker ON taker.id = a.diambil_oleh
LEFT JOIN keluhan e ON e.id = a.tentang AND a.jenis = 'keluhan'
LEFT JOIN mesin m ON m.idmesin = CASE WHEN a.jenis = 'keluhan' THEN e.idmesin WHEN a.jenis NOT IN ('shift', 'outlet_putus', 'pindah', 'qris', 'cadangan') THEN a.tentang END
LEFT JOIN shift h ON h.id = a.tentang AND a.jenis = 'shift' LEFT JOIN perangkat till ON till.id = h.id_perangkat
LEFT JOIN (langganan_petugas s JOIN kunci_operator k ON k.id = s.id_kunci AND k.revoked_at IS NULL
           JOIN perangkat b ON b.id = s.id_perangkat AND b.token_hash = s.token_hash AND b.token_sampai > $1 AND b.dicabut_at IS NULL
           LEFT JOIN alarm_petugas c ON c.id_kunci = k.id)
    ON s.id = p.idlangganan AND (k.idoutlet = o.idoutlet OR k.idowner = o.idowner) AND (c.idoutlet IS NULL OR o.idoutlet = ANY(c.idoutlet))
    AND CASE WHEN p.apa = 'ringkasan' THEN c.ringkasan AND k.role <> 'kasir'
        ELSE (c.id_kunci IS NULL OR a.jenis = ANY(c.jenis)) AND CASE a.jenis WHEN 'cadangan' THEN k.role = 'owner' WHEN 'keluhan' THEN k.role <> 'kasir' ELSE TRUE END END";

/// Each changes nothing when another server has taken the row since.
const DONE: &str = "UPDATE alarm_kirim SET due_at = NULL, sent_at = $3 WHERE id = $1 AND tries = $2";
const AGAIN: &str = "UPDATE alarm_kirim SET due_at = $3 WHERE id = $1 AND tries = $2";
/// Quiet hours are no attempt.
const WAIT: &str = "UPDATE alarm_kirim SET due_at = $3, tries = 0 WHERE id = $1 AND tries = $2";

const FORGET: &str = "DELETE FROM langganan_petugas WHERE id = $1";

const WAITING: &str = "SELECT count(*) FROM alarm_kirim WHERE due_at <= $1";

/// A secret is good for this time after its message was sent.
const SECRET_MS: i64 = 30 * 60_000;

/// A message that this server has taken.
pub struct Taken {
    pub id: AlertMessageId,
    idlangganan: i64,
    /// How often one did, this time included.
    pub tries: i16,
    pub content: Content,
    /// It still has to be sent.
    pub is_useful: bool,
    /// `None` when it is gone, or its person does not want this message.
    pub browser: Option<Browser>,
    zone: Zone,
    quiet: Option<QuietHours>,
    /// `None`: a digest.
    entry: Option<Entry>,
}

impl Taken {
    /// When the quiet hours of its person end, if they hold for this message.
    pub fn quiet_until(&self, now: Timestamp) -> Option<Timestamp> {
        let is_red = self.entry.is_some_and(|entry| entry.level(now) == Level::Red);
        self.quiet.filter(|_| !is_red)?.until(&self.zone, now)
    }
}

/// Takes due rows, oldest first, and keeps other servers from them until `until`.
pub async fn claim(client: &DbClient, now: Timestamp, limit: i64, until: Timestamp) -> Result<Vec<Taken>, DbError> {
    let stmt = client.prepare_cached(CLAIM).await?;
    client.query(&stmt, &[&now, &limit, &until]).await?.iter().map(taken).collect()
}

fn taken(row: &Row) -> Result<Taken, DbError> {
    let what: &str = row.try_get("apa")?;
    let (content, is_useful, entry) = if what == "ringkasan" {
        let (idoutlet, outlet, text) = (row.try_get("idoutlet")?, row.try_get("outlet")?, row.try_get("isi")?);
        (Content::Digest { idoutlet, outlet, text }, true, None)
    } else {
        of_alert(row, what)?
    };
    let quiet: (Option<i16>, Option<i16>) = if row.try_get("bawaan")? {
        (Some(QUIET_FROM), Some(QUIET_TO))
    } else {
        (row.try_get("senyap_dari")?, row.try_get("senyap_sampai")?)
    };
    let clock = |minute: Option<i16>| minute.and_then(|minute| ClockTime::from_minute(minute.into()));
    Ok(Taken {
        id: row.try_get("id")?,
        idlangganan: row.try_get("idlangganan")?,
        tries: row.try_get("tries")?,
        content,
        is_useful,
        browser: Browser::of(row)?,
        zone: Zone::parse(row.try_get("zona")?).unwrap_or_default(),
        quiet: clock(quiet.0).zip(clock(quiet.1)).map(|(from, to)| QuietHours { from, to }),
        entry,
    })
}

/// A message of an alert, whether it still has to be sent, and its entry.
fn of_alert(row: &Row, what: &str) -> Result<(Content, bool, Option<Entry>), DbError> {
    let (lasts, is_taken): (bool, bool) = (row.try_get("berlaku")?, row.try_get("ditangani")?);
    let (news, is_useful) = match what {
        "mulai" => (AlertNews::Lasts, lasts),
        "lagi" => (AlertNews::Lasts, lasts && !is_taken),
        "diambil" => (AlertNews::Taken(row.try_get("diambil")?), lasts),
        "beres" => (AlertNews::Over, !lasts),
        other => return Err(DbError::broken(format!("unknown message {other}"))),
    };
    let kind = kind(row.try_get("jenis")?)?;
    let entry = Entry { kind, about: stored_about(kind, row.try_get("tentang")?), since: row.try_get("sejak_at")? };
    let about = About { kind, name: row.try_get("nama")?, outlet: row.try_get("outlet")?, since: row.try_get("sejak")? };
    Ok((Content::Alert { alert: row.try_get("id_alarm")?, about, news }, is_useful, Some(entry)))
}

/// What becomes of a taken message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Its push service has it.
    Sent(Timestamp),
    /// It is not sent.
    Dropped,
    Again(Timestamp),
    /// After the quiet hours.
    Quiet(Timestamp),
}

pub async fn settle(client: &DbClient, taken: &Taken, settled: Settled) -> Result<(), DbError> {
    let (statement, at) = match settled {
        Settled::Sent(at) => (DONE, Some(at)),
        Settled::Dropped => (DONE, None),
        Settled::Again(at) => (AGAIN, Some(at)),
        Settled::Quiet(at) => (WAIT, Some(at)),
    };
    client.execute(&client.prepare_cached(statement).await?, &[&taken.id, &taken.tries, &at]).await?;
    Ok(())
}

/// Deletes a subscription, because its service has reported that the browser no longer exists.
pub async fn forget(client: &DbClient, taken: &Taken) -> Result<(), DbError> {
    let stmt = client.prepare_cached(FORGET).await?;
    client.execute(&stmt, &[&taken.idlangganan]).await?;
    Ok(())
}

/// How many are due.
pub async fn waiting(store: &Store) -> Result<i64, DbError> {
    let client = store.get().await?;
    let stmt = client.prepare_cached(WAITING).await?;
    Ok(client.query_one(&stmt, &[&store.now()]).await?.try_get(0)?)
}

/// A message that a person was sent, and its entry.
#[derive(Debug)]
pub struct SentAlert {
    pub person: StaffId,
    pub idoutlet: OutletId,
    pub kind: Kind,
    pub about: attention::About,
    pub since: Timestamp,
}

/// The message of a secret, in the browser that it was sent to. `None`: the secret is used or expired, or it is another browser's.
pub async fn sent_alert(
    client: &DbClient,
    id: AlertMessageId,
    browser: TillId,
    now: Timestamp,
) -> Result<Option<SentAlert>, DbError> {
    const FIND: &str = "
        SELECT s.id_kunci, a.idoutlet, a.jenis, a.tentang, a.sejak
        FROM alarm_kirim q JOIN alarm a ON a.id = q.id_alarm JOIN langganan_petugas s ON s.id = q.idlangganan
        JOIN perangkat b ON b.id = s.id_perangkat AND b.token_hash = s.token_hash
        WHERE q.id = $1 AND b.id = $2 AND q.dipakai_at IS NULL AND q.sent_at > $3 AND q.apa IN ('mulai', 'lagi')";
    let stmt = client.prepare_cached(FIND).await?;
    let Some(row) = client.query_opt(&stmt, &[&id, &browser, &now.plus_ms(-SECRET_MS)]).await? else { return Ok(None) };
    let kind = kind(row.try_get(2)?)?;
    let about = stored_about(kind, row.try_get(3)?);
    Ok(Some(SentAlert { person: row.try_get(0)?, idoutlet: row.try_get(1)?, kind, about, since: row.try_get(4)? }))
}

/// Uses the secret of a message. `false`: it was used before.
pub async fn use_secret(tx: &impl GenericClient, id: AlertMessageId, now: Timestamp) -> Result<bool, DbError> {
    const USE: &str = "UPDATE alarm_kirim SET dipakai_at = $2 WHERE id = $1 AND dipakai_at IS NULL";
    let stmt = tx.prepare_cached(USE).await?;
    Ok(tx.execute(&stmt, &[&id, &now]).await? == 1)
}
