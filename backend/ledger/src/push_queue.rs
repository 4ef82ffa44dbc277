//! Queue of pushes: one row for each browser, written by the statement that commits the event. Any server takes a row, one server at a time.

use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type, accepts};

use nyala_core::domain::id::OutletId;
use nyala_core::domain::ledger_kind::LedgerKind;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;

/// How long after the end its customer is reminded of laundry that was not fetched.
pub const REMIND_AFTER_MS: i64 = 10 * 60_000;

/// Event that a push reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The wash is over.
    Ended,
    /// The laundry was not fetched.
    Waits,
    /// The machine did not start and the money is back.
    NotStarted,
    /// A till took a top-up back.
    TopUpReversed,
    /// A machine is free for the customer, who waits for one.
    Called,
    /// Balance moved otherwise: the ledger row says how.
    Balance,
    /// A till has asked to move the accounts to another number.
    Moves,
    /// A complaint was answered.
    Answered,
    /// The machine has its coins and did not run.
    NeverRan,
}

impl Cause {
    const ALL: [Self; 9] = [
        Self::Ended,
        Self::Waits,
        Self::NotStarted,
        Self::TopUpReversed,
        Self::Called,
        Self::Balance,
        Self::Moves,
        Self::Answered,
        Self::NeverRan,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ended => "selesai",
            Self::Waits => "menunggu",
            Self::NotStarted => "gagal",
            Self::TopUpReversed => "topup_batal",
            Self::Called => "panggilan",
            Self::Balance => "saldo",
            Self::Moves => "pindah",
            Self::Answered => "keluhan",
            Self::NeverRan => "tidak_jalan",
        }
    }

    /// How long after it was queued it is due.
    pub const fn after_ms(self) -> i64 {
        match self {
            Self::Waits => REMIND_AFTER_MS,
            Self::Ended
            | Self::NotStarted
            | Self::TopUpReversed
            | Self::Called
            | Self::Balance
            | Self::Moves
            | Self::Answered
            | Self::NeverRan => 0,
        }
    }
}

impl<'a> FromSql<'a> for Cause {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        let text = <&str>::from_sql(ty, raw)?;
        Self::ALL.into_iter().find(|cause| cause.as_str() == text).ok_or_else(|| format!("unknown cause {text}").into())
    }
    accepts!(TEXT);
}

/// For the statement that ends a run: `t` has its `id` and `id_customer_global`, the parameter `now` is when. Of a machine that its sensor has not seen
/// run, the push waits for its board, which may say that it never ran.
#[doc(hidden)]
#[macro_export]
macro_rules! __queue_end {
    ($now:literal) => {
        concat!(
            "push_queued AS (
    INSERT INTO push (objek, sebab, idlangganan, id_customer_global, created_at, due_at)
    SELECT t.id, k.sebab, s.id, t.id_customer_global, ",
            $now,
            ", ",
            $now,
            " + greatest(k.after, CASE WHEN n.sense IS FALSE THEN INTERVAL '10 seconds' END)
    FROM t JOIN snap_transaksi n ON n.id = t.id AND n.kendala IS DISTINCT FROM 'tidak_jalan'
        JOIN langganan_push s ON s.id_customer_global = t.id_customer_global AND s.expires_at > ",
            $now,
            "
        , (VALUES ('selesai', INTERVAL '0'), ('menunggu', INTERVAL '10 minutes')) k (sebab, after) ON CONFLICT DO NOTHING
)"
        )
    };
}
pub use __queue_end as queue_end;

/// For one that decides about something: `from` has the `object`'s id and `id_customer_global`.
#[doc(hidden)]
#[macro_export]
macro_rules! __queue_back {
    ($cause:literal, $object:literal, $from:literal, $now:literal) => {
        concat!(
            "push_queued AS (
    INSERT INTO push (objek, sebab, idlangganan, id_customer_global, created_at, due_at)
    SELECT ",
            $object,
            ", '",
            $cause,
            "', s.id, s.id_customer_global, ",
            $now,
            ", ",
            $now,
            " FROM ",
            $from,
            " JOIN langganan_push s USING (id_customer_global) WHERE s.expires_at > ",
            $now,
            " ON CONFLICT DO NOTHING
)"
        )
    };
}
pub use __queue_back as queue_back;

/// For one that moves a balance otherwise: `from` has the ledger row's `id` and `id_customer_global`, by the name `l`.
#[doc(hidden)]
#[macro_export]
macro_rules! __queue_balance {
    ($from:literal, $now:literal) => {
        $crate::push_queue::queue_back!("saldo", "l.id", $from, $now)
    };
}
pub use __queue_balance as queue_balance;

/// For the statement that calls a customer: `from` has the call's `id` and `id_customer_global`. One that is still on its way is sent again.
#[doc(hidden)]
#[macro_export]
macro_rules! __queue_call {
    ($from:literal, $now:literal) => {
        concat!(
            "push_queued AS (
    INSERT INTO push (objek, sebab, idlangganan, id_customer_global, created_at, due_at)
    SELECT ",
            $from,
            ".id, 'panggilan', s.id, s.id_customer_global, ",
            $now,
            ", ",
            $now,
            " FROM ",
            $from,
            " JOIN langganan_push s USING (id_customer_global) WHERE s.expires_at > ",
            $now,
            " ON CONFLICT (objek, sebab, idlangganan) DO UPDATE SET created_at = EXCLUDED.created_at, due_at = EXCLUDED.due_at, tries = 0
)"
        )
    };
}
pub use __queue_call as queue_call;

/// Whether the laundry of the finished cycle `t` is presumably still in its machine. A later start means that it was taken out.
#[doc(hidden)]
#[macro_export]
macro_rules! __laundry_waits {
    () => {
        "t.diambil_at IS NULL AND t.finished_at IS NOT NULL AND NOT EXISTS (SELECT FROM snap_transaksi later \
         WHERE later.idmesin = t.idmesin AND later.cmd_epoch > t.cmd_epoch AND later.started_at IS NOT NULL)"
    };
}
pub use __laundry_waits as laundry_waits;

/// $1 now, $2 maximum of rows, $3 until when no other server takes them. The browser's present subscriber decides: it may have changed or be gone.
const CLAIM: &str = concat!(
    "
WITH due AS (
    SELECT objek, sebab, idlangganan FROM push WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
), p AS (
    UPDATE push SET tries = push.tries + 1, due_at = $3 FROM due
    WHERE (push.objek, push.sebab, push.idlangganan) = (due.objek, due.sebab, due.idlangganan) RETURNING push.*
)
SELECT p.idlangganan, p.tries, p.sebab, p.objek, p.created_at, s.endpoint, s.p256dh, s.auth, s.kid,
       COALESCE(t.nama_mesin, m.nama) AS nama_mesin, o.nama AS nama_outlet, o.idoutlet, c.dipanggil_sampai, l.kind AS gerak,
       to_char(q.kembali_sampai AT TIME ZONE o.zona, 'DD/MM/YYYY HH24:MI') AS berlaku_sampai, ",
    laundry_waits!(),
    " AS menunggu
FROM p LEFT JOIN langganan_push s ON s.id = p.idlangganan AND s.id_customer_global = p.id_customer_global AND s.expires_at > $1
LEFT JOIN snap_transaksi t ON t.id = p.objek AND p.sebab NOT IN ('topup_batal', 'panggilan', 'saldo', 'pindah', 'keluhan')
LEFT JOIN panggilan c ON c.id = p.objek AND p.sebab = 'panggilan' AND c.selesai_at IS NULL
LEFT JOIN mesin m ON m.idmesin = c.idmesin
LEFT JOIN ledger_transfer l ON l.id = p.objek AND p.sebab = 'saldo'
LEFT JOIN outlet o ON o.idoutlet = COALESCE(t.idoutlet, c.idoutlet, l.idoutlet)
LEFT JOIN quota_emoney q ON q.idcustomer = t.idcustomer AND p.sebab = 'gagal' AND q.jenis_emoney = 1 AND q.masa_aktif = q.kembali_sampai
    AND q.kembali_at >= t.created_at"
);

/// Both change nothing when another server has taken the row since.
const DONE: &str = "DELETE FROM push WHERE objek = $1 AND sebab = $2 AND idlangganan = $3 AND tries = $4";
const AGAIN: &str = "UPDATE push SET due_at = $5 WHERE objek = $1 AND sebab = $2 AND idlangganan = $3 AND tries = $4";

const FORGET: &str = "DELETE FROM langganan_push WHERE id = $1";

const WAITING: &str = "SELECT count(*) FROM push WHERE due_at <= $1";

/// A push that this server has taken.
pub struct Taken {
    idlangganan: i64,
    /// How often one did, this time included.
    pub tries: i16,
    pub cause: Cause,
    pub object: i64,
    pub created_at: Timestamp,
    /// `None` when it is gone, or belongs to another customer.
    pub browser: Option<Browser>,
    pub machine: String,
    pub outlet: String,
    pub idoutlet: Option<OutletId>,
    /// Until when its customer is called to the machine.
    pub called_until: Option<Timestamp>,
    /// When the money of a purchase that did not start came back to an expired account: until when it is good.
    pub usable_until: Option<String>,
    /// How a balance moved.
    pub movement: Option<LedgerKind>,
    /// The laundry is still in the machine, as far as is known.
    pub waits: bool,
}

pub struct Browser {
    pub endpoint: String,
    pub p256dh: Vec<u8>,
    pub auth: Vec<u8>,
    /// Number of the server's key that it has subscribed with.
    pub kid: i32,
}

impl Browser {
    /// Of a row with its columns; `None` when they are NULL.
    ///
    /// # Errors
    /// When the row has no such columns.
    pub fn of(row: &Row) -> Result<Option<Self>, DbError> {
        let Some(endpoint) = row.try_get("endpoint")? else { return Ok(None) };
        Ok(Some(Self { endpoint, p256dh: row.try_get("p256dh")?, auth: row.try_get("auth")?, kid: row.try_get("kid")? }))
    }
}

/// Takes due rows, oldest first, and keeps other servers from them until `until`.
pub async fn claim(client: &DbClient, now: Timestamp, limit: i64, until: Timestamp) -> Result<Vec<Taken>, DbError> {
    let stmt = client.prepare_cached(CLAIM).await?;
    client.query(&stmt, &[&now, &limit, &until]).await?.iter().map(taken).collect()
}

fn taken(row: &Row) -> Result<Taken, DbError> {
    let text = |name| row.try_get::<_, Option<String>>(name).map(Option::unwrap_or_default);
    Ok(Taken {
        idlangganan: row.try_get("idlangganan")?,
        tries: row.try_get("tries")?,
        cause: row.try_get("sebab")?,
        object: row.try_get("objek")?,
        created_at: row.try_get("created_at")?,
        browser: Browser::of(row)?,
        machine: text("nama_mesin")?,
        outlet: text("nama_outlet")?,
        idoutlet: row.try_get("idoutlet")?,
        called_until: row.try_get("dipanggil_sampai")?,
        usable_until: row.try_get("berlaku_sampai")?,
        movement: row.try_get("gerak")?,
        waits: row.try_get::<_, Option<bool>>("menunggu")?.unwrap_or(false),
    })
}

/// It is done with, or to be tried again.
pub async fn settle(client: &DbClient, taken: &Taken, again: Option<Timestamp>) -> Result<(), DbError> {
    let Taken { object, cause, idlangganan, tries, .. } = taken;
    let cause = cause.as_str();
    let own: [&(dyn ToSql + Sync); 4] = [object, &cause, idlangganan, tries];
    match again {
        None => client.execute(&client.prepare_cached(DONE).await?, &own).await?,
        Some(at) => client.execute(&client.prepare_cached(AGAIN).await?, &[&own[..], &[&at]].concat()).await?,
    };
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

#[cfg(test)]
mod tests {
    use super::{REMIND_AFTER_MS, queue_end};

    #[test]
    fn the_reminder_is_due_when_it_says() {
        assert!(queue_end!("$1").contains(&format!("('menunggu', INTERVAL '{} minutes')", REMIND_AFTER_MS / 60_000)));
    }
}
