//! Moving a customer to a new number (docs/money.md, Moving to a new number). The row of the old number stays, with its history, and takes number
//! and password of the new number, whose row retires.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::domain::id::{CustomerId, MoveId, OutletId};
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_ledger::account_move::{self, Retirement};
use nyala_ledger::error::LedgerError;
use nyala_ledger::payout::has_open_purchase;
use nyala_ledger::push_queue::queue_back;
use nyala_store::crash_point;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use rand::RngCore;
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio_postgres::error::SqlState;

use super::Auth;
use super::code_try::{self, RightCode};
use super::error::AuthError;
use crate::push::subscription;

/// After a no of the old number's owner, no till asks again for this long.
const REFUSED_FOR_MS: i64 = 30 * 24 * 60 * 60 * 1000;
/// The till's server notifies the old number itself. When it dies, another server does so after this time, and again at these intervals.
const NOTIFY_AGAIN_MS: i64 = 60_000;
/// A move whose message could not be sent, or that could not happen, for this long ends.
const GIVE_UP_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// A transaction that holds a customer's row may wait for a wallet that a move, or a deletion, holds. So that one releases its locks and starts again.
pub const MAX_ATTEMPTS: usize = 50;
pub const ATTEMPT_AGAIN: Duration = Duration::from_millis(40);
const SECRET_BYTES: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Auth(#[from] AuthError),
}

impl From<tokio_postgres::Error> for MoveError {
    fn from(e: tokio_postgres::Error) -> Self {
        Self::Ledger(e.into())
    }
}

impl From<DbError> for MoveError {
    fn from(e: DbError) -> Self {
        Self::Ledger(e.into())
    }
}

const OPEN: MoveError = MoveError::Ledger(LedgerError::Conflict("nomor baru masih punya mesin yang belum selesai"));

/// A customer of a move.
#[derive(Debug, Clone)]
pub struct MovedCustomer {
    pub id: CustomerId,
    pub telp: Telp,
}

/// Who moves: `old` stays and gets the number of `new`.
#[derive(Debug, Clone)]
pub struct NumberMove {
    pub old: MovedCustomer,
    pub new: MovedCustomer,
    /// Who asks for it, as the audit log has it.
    pub principal: String,
}

/// A move that a till has asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    pub id: MoveId,
    pub happens_at: Timestamp,
}

/// Stores the move that a till asks for, and queues a push to the old number. It happens at `happens_at`, unless that number's owner says no.
///
/// # Errors
/// 409 `nomor lama dan baru sama`, `pemilik nomor lama menolak`, `pindah sudah diminta`, `nomor baru masih punya mesin yang belum selesai`.
pub async fn ask(
    tx: &Transaction<'_>,
    of: &NumberMove,
    (idoutlet, happens_at): (OutletId, Timestamp),
    now: Timestamp,
) -> Result<Asked, MoveError> {
    const ASK: &str = concat!(
        "WITH asked AS (
            INSERT INTO pindah (dari, ke, cara, idoutlet, nomor_lama, nomor_baru, kabar_at, diminta_at, terjadi_at, aktor)
            VALUES ($1, $2, 'kasir', $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING id, dari AS id_customer_global
        ), ",
        queue_back!("pindah", "asked.id", "asked", "$7"),
        " SELECT id FROM asked"
    );
    const REFUSED: &str = "SELECT EXISTS (SELECT FROM pindah WHERE dari = $1 AND ditolak_at > $2)";
    differs(of)?;
    let stmt = tx.prepare_cached(REFUSED).await?;
    if tx.query_one(&stmt, &[&of.old.id, &now.plus_ms(-REFUSED_FOR_MS)]).await?.try_get(0)? {
        return Err(LedgerError::Conflict("pemilik nomor lama menolak").into());
    }
    is_free(tx, of).await?;
    if has_open_purchase(tx, of.new.id, None).await? {
        return Err(OPEN);
    }
    let stmt = tx.prepare_cached(ASK).await?;
    let (old, new, kabar_at) = (of.old.telp.masked(), of.new.telp.masked(), now.plus_ms(NOTIFY_AGAIN_MS));
    let row = tx
        .query_opt(&stmt, &[&of.old.id, &of.new.id, &idoutlet, &old, &new, &kabar_at, &now, &happens_at, &of.principal])
        .await?;
    let id = row.ok_or(ASKED)?.try_get(0)?;
    Ok(Asked { id, happens_at })
}

const ASKED: MoveError = MoveError::Ledger(LedgerError::Conflict("pindah sudah diminta"));

fn differs(of: &NumberMove) -> Result<(), MoveError> {
    if of.old.id == of.new.id { Err(LedgerError::Conflict("nomor lama dan baru sama").into()) } else { Ok(()) }
}

/// Neither customer is in another move that has not happened yet.
async fn is_free(tx: &Transaction<'_>, of: &NumberMove) -> Result<(), MoveError> {
    const PENDING: &str = "
        SELECT EXISTS (SELECT FROM pindah WHERE ditolak_at IS NULL AND selesai_at IS NULL AND (dari IN ($1, $2) OR ke IN ($1, $2)))";
    let stmt = tx.prepare_cached(PENDING).await?;
    if tx.query_one(&stmt, &[&of.old.id, &of.new.id]).await?.try_get(0)? { Err(ASKED) } else { Ok(()) }
}

/// A move that waits, as the old number's owner sees it.
#[derive(Debug)]
pub struct Pending {
    pub id: MoveId,
    /// The new number, masked.
    pub to: String,
    pub happens_at: Timestamp,
}

/// The move that waits for this customer, whose number is the old one.
///
/// # Errors
/// When the database does not answer.
pub async fn pending(client: &DbClient, old: CustomerId) -> Result<Option<Pending>, DbError> {
    const PENDING: &str =
        "SELECT id, nomor_baru, terjadi_at FROM pindah WHERE dari = $1 AND ditolak_at IS NULL AND selesai_at IS NULL";
    let stmt = client.prepare_cached(PENDING).await?;
    let row = client.query_opt(&stmt, &[&old]).await?;
    row.map(|row| Ok(Pending { id: row.try_get(0)?, to: row.try_get(1)?, happens_at: row.try_get(2)? })).transpose()
}

/// By what the owner of the old number says no.
#[derive(Debug, Clone, Copy)]
pub enum Objection<'a> {
    /// Logged in with the old number.
    LoggedIn(CustomerId, MoveId),
    /// By the link in the message.
    Link(&'a str),
}

/// What became of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveState {
    Waits,
    Refused,
    Happened,
    /// It ended for another reason.
    Ended,
}

/// A move, as the link in the message shows it.
#[derive(Debug)]
pub struct Linked {
    pub id: MoveId,
    /// Both numbers, masked.
    pub from: String,
    pub to: String,
    /// `DD/MM/YYYY HH24:MI` on the outlet's clock.
    pub when: String,
    pub state: MoveState,
}

/// The move that a link names.
///
/// # Errors
/// When the database does not answer.
pub async fn linked(client: &impl GenericClient, secret: &str) -> Result<Option<Linked>, DbError> {
    const FIND: &str = "
        SELECT p.id, p.nomor_lama, p.nomor_baru, to_char(p.terjadi_at AT TIME ZONE o.zona, 'DD/MM/YYYY HH24:MI'),
            p.ditolak_at IS NOT NULL, p.selesai_at IS NOT NULL, p.sebab IS NOT NULL
        FROM pindah p JOIN outlet o USING (idoutlet) WHERE p.rahasia_hash = $1";
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_opt(&stmt, &[&hash_of(secret)]).await?;
    row.map(|row| {
        let state = match (row.try_get(4)?, row.try_get(5)?, row.try_get(6)?) {
            (true, ..) => MoveState::Refused,
            (_, true, true) => MoveState::Ended,
            (_, true, false) => MoveState::Happened,
            _ => MoveState::Waits,
        };
        Ok(Linked { id: row.try_get(0)?, from: row.try_get(1)?, to: row.try_get(2)?, when: row.try_get(3)?, state })
    })
    .transpose()
}

/// The owner of the old number says no. A second no changes nothing. `None`: there is no such move.
///
/// # Errors
/// When the database does not answer.
pub async fn refuse(client: &mut DbClient, by: Objection<'_>, now: Timestamp) -> Result<Option<MoveState>, DbError> {
    const REFUSE: &str = "
        UPDATE pindah SET ditolak_at = $2 WHERE id = $1 AND ditolak_at IS NULL AND selesai_at IS NULL RETURNING idoutlet, dari, ke";
    const FIND: &str = "
        SELECT id FROM pindah WHERE (dari = $1 AND id = $2) OR rahasia_hash = $3 FOR UPDATE";
    const STATE: &str = "SELECT ditolak_at IS NOT NULL, sebab IS NOT NULL FROM pindah WHERE id = $1";
    let tx = client.transaction().await?;
    let (customer, id, hash) = match by {
        Objection::LoggedIn(customer, id) => (Some(customer), Some(id), None),
        Objection::Link(secret) => (None, None, Some(hash_of(secret))),
    };
    let stmt = tx.prepare_cached(FIND).await?;
    let Some(row) = tx.query_opt(&stmt, &[&customer, &id, &hash]).await? else { return Ok(None) };
    let id: MoveId = row.try_get(0)?;
    let stmt = tx.prepare_cached(REFUSE).await?;
    let Some(row) = tx.query_opt(&stmt, &[&id, &now]).await? else {
        let row = tx.query_one(STATE, &[&id]).await?;
        return Ok(Some(match (row.try_get(0)?, row.try_get(1)?) {
            (true, _) => MoveState::Refused,
            (false, true) => MoveState::Ended,
            (false, false) => MoveState::Happened,
        }));
    };
    let (old, new): (CustomerId, CustomerId) = (row.try_get(1)?, row.try_get(2)?);
    let entry = AuditEntry {
        principal: &format!("pelanggan:{old}"),
        action: "pindah.tolak",
        object: format!("pindah:{id}"),
        content: json!({ "dari": old, "ke": new }),
    };
    audit::write_at(&tx, row.try_get(0)?, &entry, now).await?;
    tx.commit().await?;
    Ok(Some(MoveState::Refused))
}

/// A message to the owner of the old number that is due.
#[derive(Debug)]
pub struct Notice {
    pub id: MoveId,
    pub telp: Telp,
    /// The new number, masked.
    pub to: String,
    /// `DD/MM/YYYY HH24:MI` on the outlet's clock.
    pub when: String,
    /// What the link ends with.
    pub secret: String,
}

/// Makes the secret of a move's message, which only this call knows, and keeps other servers from sending one for a while. `None`: it was sent,
/// another server is sending it, or the move is over.
///
/// # Errors
/// When the database does not answer.
pub async fn notice(client: &impl GenericClient, id: MoveId, now: Timestamp) -> Result<Option<Notice>, DbError> {
    const TAKE: &str = "
        UPDATE pindah p SET rahasia_hash = $2, kabar_at = $3 FROM customer_global g, outlet o
        WHERE p.id = $1 AND (p.kabar_at <= $4 OR (p.kabar_at IS NOT NULL AND p.rahasia_hash IS NULL)) AND p.ditolak_at IS NULL AND p.selesai_at IS NULL AND g.id = p.dari AND o.idoutlet = p.idoutlet
        RETURNING g.telp, p.nomor_baru, to_char(p.terjadi_at AT TIME ZONE o.zona, 'DD/MM/YYYY HH24:MI')";
    let mut bytes = [0; SECRET_BYTES];
    rand::rng().fill_bytes(&mut bytes);
    let secret = B64.encode(bytes);
    let stmt = client.prepare_cached(TAKE).await?;
    let row = client.query_opt(&stmt, &[&id, &hash_of(&secret), &now.plus_ms(NOTIFY_AGAIN_MS), &now]).await?;
    row.map(|row| Ok(Notice { id, telp: Telp::from_stored(row.try_get(0)?), to: row.try_get(1)?, when: row.try_get(2)?, secret }))
        .transpose()
}

fn hash_of(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
}

/// The message was sent. One that was late leaves the old number the whole time to say no.
///
/// # Errors
/// When the database does not answer.
pub async fn notified(client: &impl GenericClient, id: MoveId, wait_ms: i64, now: Timestamp) -> Result<(), DbError> {
    const NOTIFIED: &str = "
        UPDATE pindah SET kabar_at = NULL, terjadi_at = CASE WHEN diminta_at < $2 THEN GREATEST(terjadi_at, $3) ELSE terjadi_at END
        WHERE id = $1 AND kabar_at IS NOT NULL";
    let stmt = client.prepare_cached(NOTIFIED).await?;
    client.execute(&stmt, &[&id, &now.plus_ms(-NOTIFY_AGAIN_MS), &now.plus_ms(wait_ms)]).await?;
    Ok(())
}

/// Moves whose message is due, and moves that are due themselves: their ids, at most `limit` of each.
///
/// # Errors
/// When the database does not answer.
pub async fn due(client: &impl GenericClient, limit: i64, now: Timestamp) -> Result<(Vec<MoveId>, Vec<MoveId>), DbError> {
    const END: &str = "
        UPDATE pindah SET selesai_at = $1, sebab = 'tidak dapat dipindah' WHERE ditolak_at IS NULL AND selesai_at IS NULL AND terjadi_at < $2";
    const TO_NOTIFY: &str = "
        SELECT id FROM pindah WHERE kabar_at <= $1 AND ditolak_at IS NULL AND selesai_at IS NULL ORDER BY kabar_at LIMIT $2";
    const TO_DO: &str = "
        SELECT p.id FROM pindah p WHERE p.terjadi_at <= $1 AND p.kabar_at IS NULL AND p.ditolak_at IS NULL AND p.selesai_at IS NULL
            AND NOT EXISTS (SELECT FROM snap_transaksi t WHERE t.id_customer_global = p.ke AND t.state IN ('HELD', 'SENT', 'UNSURE', 'RUNNING'))
        ORDER BY p.terjadi_at LIMIT $2";
    let ids =
        |rows: Vec<tokio_postgres::Row>| rows.iter().map(|row| Ok(row.try_get(0)?)).collect::<Result<Vec<MoveId>, DbError>>();
    client.execute(&client.prepare_cached(END).await?, &[&now, &now.plus_ms(-GIVE_UP_MS)]).await?;
    let to_notify = client.query(&client.prepare_cached(TO_NOTIFY).await?, &[&now, &limit]).await?;
    let to_do = client.query(&client.prepare_cached(TO_DO).await?, &[&now, &limit]).await?;
    Ok((ids(to_notify)?, ids(to_do)?))
}

/// How a move begins.
#[derive(Debug)]
pub enum Begin<'a> {
    /// A till has asked for it, and its time has come.
    Due(MoveId),
    /// The owner of both numbers has shown both codes.
    Now(&'a NumberMove, [&'a RightCode; 2]),
}

/// What a move did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// The customer who stays, and the version of the customer's tokens.
    Done(CustomerId, i32),
    /// It was refused in between, another server does it, or the number that retires is in use.
    NotNow,
}

/// Moves all accounts. Runs to its end even when the caller disconnects, so that open sessions are always notified of it.
///
/// # Errors
/// 409 as [`ask`]'s, of a move that begins now; `OtpInvalid` when another request used a code first.
pub async fn happen(auth: &Auth, begin: &Begin<'_>, fault_point: &str) -> Result<Moved, MoveError> {
    for _ in 0..MAX_ATTEMPTS {
        match attempt(auth, begin, fault_point).await {
            Ok(Some(moved)) => return Ok(moved),
            Ok(None) => tokio::time::sleep(ATTEMPT_AGAIN).await,
            Err(e) => return Err(e),
        }
    }
    Err(DbError::Busy.into())
}

/// As it is stored.
struct Stored {
    id: MoveId,
    old: CustomerId,
    new: CustomerId,
    idoutlet: Option<OutletId>,
    principal: String,
}

/// `None`: another transaction holds a customer's row, so the attempt must be repeated.
async fn attempt(auth: &Auth, begin: &Begin<'_>, fault_point: &str) -> Result<Option<Moved>, MoveError> {
    let now = auth.store.now();
    let mut client = auth.store.get().await?;
    let tx = client.transaction().await?;
    let stored = match begin {
        Begin::Due(id) => match take(&tx, *id, now).await? {
            Some(stored) => stored,
            None => return Ok(Some(Moved::NotNow)),
        },
        Begin::Now(of, codes) => begin_now(&tx, of, codes, now).await?,
    };
    account_move::lock_wallets(&tx, stored.old, stored.new).await?;
    let Some(customers) = lock_customers(&tx, &stored).await? else { return Ok(None) };
    if has_open_purchase(&tx, stored.new, None).await? {
        return if matches!(begin, Begin::Now(..)) { Err(OPEN) } else { Ok(Some(Moved::NotNow)) };
    }
    let versions = match customers {
        Some(new) => Some(carry_over(&tx, &stored, &new, now).await?),
        // One of them has moved or was deleted in between.
        None => None,
    };
    const END: &str = "UPDATE pindah SET selesai_at = $2, sebab = $3 WHERE id = $1";
    let why = versions.is_none().then_some("pelanggan tidak ada lagi");
    tx.execute(&tx.prepare_cached(END).await?, &[&stored.id, &now, &why]).await?;
    let content = json!({ "dari": stored.old, "ke": stored.new, "sebab": why });
    let entry = AuditEntry { principal: &stored.principal, action: "pindah", object: format!("pindah:{}", stored.id), content };
    audit::write_at(&tx, stored.idoutlet, &entry, now).await?;
    crash_point::reach(fault_point, "before_move");
    tx.commit().await?;
    crash_point::reach(fault_point, "after_move");
    let Some([stays, retires]) = versions else { return Ok(Some(Moved::NotNow)) };
    auth.versions.changed(stored.old, stays, now);
    auth.versions.changed(stored.new, retires, now);
    Ok(Some(Moved::Done(stored.old, stays)))
}

async fn take(tx: &Transaction<'_>, id: MoveId, now: Timestamp) -> Result<Option<Stored>, MoveError> {
    const TAKE: &str = "
        SELECT dari, ke, idoutlet, aktor FROM pindah
        WHERE id = $1 AND terjadi_at <= $2 AND kabar_at IS NULL AND ditolak_at IS NULL AND selesai_at IS NULL FOR UPDATE SKIP LOCKED";
    let stmt = tx.prepare_cached(TAKE).await?;
    let row = tx.query_opt(&stmt, &[&id, &now]).await?;
    row.map(|row| {
        Ok(Stored { id, old: row.try_get(0)?, new: row.try_get(1)?, idoutlet: row.try_get(2)?, principal: row.try_get(3)? })
    })
    .transpose()
}

async fn begin_now(tx: &Transaction<'_>, of: &NumberMove, codes: &[&RightCode; 2], now: Timestamp) -> Result<Stored, MoveError> {
    const BEGIN: &str = "
        INSERT INTO pindah (dari, ke, cara, nomor_lama, nomor_baru, diminta_at, terjadi_at, aktor)
        VALUES ($1, $2, 'aplikasi', $3, $4, $5, $5, $6) ON CONFLICT DO NOTHING RETURNING id";
    differs(of)?;
    for code in codes {
        code_try::consume(tx, code, now).await?;
    }
    is_free(tx, of).await?;
    let stmt = tx.prepare_cached(BEGIN).await?;
    let (old, new) = (of.old.telp.masked(), of.new.telp.masked());
    let row = tx.query_opt(&stmt, &[&of.old.id, &of.new.id, &old, &new, &now, &of.principal]).await?;
    let id = row.ok_or(ASKED)?.try_get(0)?;
    Ok(Stored { id, old: of.old.id, new: of.new.id, idoutlet: None, principal: of.principal.clone() })
}

/// Number and password that the customer who stays takes.
struct Taken {
    telp: String,
    password_hash: String,
}

/// Locks both customers' rows. `None`: another transaction holds one of them. `Some(None)`: one of them is gone.
async fn lock_customers(tx: &Transaction<'_>, of: &Stored) -> Result<Option<Option<Taken>>, MoveError> {
    const LOCK: &str = "
        SELECT id, telp, password_hash, pindah_ke IS NULL AND dihapus_at IS NULL FROM customer_global WHERE id IN ($1, $2)
        ORDER BY id FOR UPDATE NOWAIT";
    let stmt = tx.prepare_cached(LOCK).await?;
    let rows = match tx.query(&stmt, &[&of.old, &of.new]).await {
        Err(e) if e.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => return Ok(None),
        rows => rows?,
    };
    let mut taken = None;
    for row in &rows {
        if !row.try_get(3)? {
            return Ok(Some(None));
        }
        if row.try_get::<_, CustomerId>(0)? == of.new {
            taken = Some(Taken { telp: row.try_get(1)?, password_hash: row.try_get(2)? });
        }
    }
    Ok(Some(taken))
}

/// Moves the balances, and gives number and password to the row that stays. Returns the versions of its tokens and of the one that retires: all
/// tokens, pushes and known phones of both end.
async fn carry_over(tx: &Transaction<'_>, of: &Stored, new: &Taken, now: Timestamp) -> Result<[i32; 2], MoveError> {
    const RETIRE: &str = "
        UPDATE customer_global SET telp = $3, password_hash = '-', token_version = token_version + 1, pindah_ke = $2
        WHERE id = $1 RETURNING token_version";
    /// Those of an earlier move stay one step away.
    const LEAD_ON: &str = "UPDATE customer_global SET pindah_ke = $2 WHERE pindah_ke = $1";
    /// After the move the old number belongs to no customer, so its codes are deleted.
    const CODES: &str = "DELETE FROM kode_otp WHERE telp = (SELECT telp FROM customer_global WHERE id = $1)";
    const TAKE_OVER: &str = "
        UPDATE customer_global SET telp = $2, password_hash = $3, token_version = token_version + 1, updated_at = $4
        WHERE id = $1 RETURNING token_version";
    let retirement = Retirement { id: of.id, stays: of.old, retires: of.new, principal: &of.principal, now };
    account_move::move_balances(tx, retirement).await?;
    let stmt = tx.prepare_cached(RETIRE).await?;
    let retires = tx.query_one(&stmt, &[&of.new, &of.old, &Telp::of_nobody(of.new).as_str()]).await?.try_get(0)?;
    tx.execute(&tx.prepare_cached(LEAD_ON).await?, &[&of.new, &of.old]).await?;
    tx.execute(&tx.prepare_cached(CODES).await?, &[&of.old]).await?;
    let stmt = tx.prepare_cached(TAKE_OVER).await?;
    let stays = tx.query_one(&stmt, &[&of.old, &new.telp, &new.password_hash, &now]).await?.try_get(0)?;
    for customer in [of.old, of.new] {
        subscription::end_all(tx, customer).await?;
    }
    const LEAVE_QUEUES: &str = "UPDATE panggilan SET selesai_at = $2 WHERE id_customer_global = $1 AND selesai_at IS NULL";
    tx.execute(&tx.prepare_cached(LEAVE_QUEUES).await?, &[&of.new, &now]).await?;
    Ok([stays, retires])
}

/// As [`happen`], in a separate task.
///
/// # Errors
/// As [`happen`]'s.
pub async fn happen_now(
    auth: &Arc<Auth>,
    of: NumberMove,
    codes: [RightCode; 2],
    fault_point: String,
) -> Result<Moved, MoveError> {
    let auth = auth.clone();
    let task = actix_web::rt::spawn(async move {
        let [old, new] = &codes;
        happen(&auth, &Begin::Now(&of, [old, new]), &fault_point).await
    });
    task.await.map_err(AuthError::broken)?
}
