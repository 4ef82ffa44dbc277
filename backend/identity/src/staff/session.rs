//! Till sessions: `nys_<id>_<random>`, valid only together with the cookie of the browser in which they began.

use actix_web::http::header::HeaderMap;
use deadpool_postgres::GenericClient;
use nyala_core::domain::id::{OutletId, TillId, TillSessionId};
use nyala_core::domain::scope::Scope;
use nyala_core::domain::timestamp::Timestamp;

use super::Staff;
use super::browser;
use super::ended::SessionEnded;
use super::error::StaffError;
use super::key::{self, KeyKind};
use super::login::CheckedPerson;
use super::operator::{AtTill, Operator, role};

/// A session that is not used for this time has ended.
pub const IDLE_MS: i64 = 30 * 60 * 1000;
/// The longest session, in any case.
pub const TTL_MS: i64 = 12 * 60 * 60 * 1000;
/// Precision of the stored time of the last use.
const TOUCH_MS: i64 = 60 * 1000;

/// A session that has just begun.
#[derive(Debug)]
pub struct Begun {
    pub token: String,
    pub until: Timestamp,
}

/// $1 now, $2 the time after which a used session is not idle. `s` is the session, `k` its key, `p` its browser.
const IS_GOOD: &str = "s.keluar_at IS NULL AND s.sampai > $1 AND s.dipakai_at > $2 AND k.revoked_at IS NULL
    AND p.dicabut_at IS NULL AND p.token_sampai > $1";

/// The operator of a session.
///
/// # Errors
/// `NotPaired` without the cookie of a paired browser; `SessionOver` when the session is not a valid one of that browser.
pub async fn by_token(
    client: &impl GenericClient,
    text: &str,
    headers: &HeaderMap,
    now: Timestamp,
) -> Result<Operator, StaffError> {
    const TOUCH: &str = "UPDATE sesi_petugas SET dipakai_at = $2 WHERE id = $1 AND dipakai_at < $2";
    let find = format!(
        "SELECT s.id, s.dipakai_at, k.id, k.role, k.idowner, k.idoutlet, p.id, p.idoutlet
         FROM sesi_petugas s JOIN kunci_operator k ON k.id = s.id_kunci JOIN perangkat p ON p.id = s.id_perangkat
         WHERE s.id = $3 AND s.hash = $4 AND p.token_hash = ANY($5) AND {IS_GOOD}"
    );
    let (id, hash) = KeyKind::Session.read(text).ok_or(StaffError::SessionOver)?;
    let stmt = client.prepare_cached(&find).await?;
    let found = client.query_opt(&stmt, &[&now, &now.plus_ms(-IDLE_MS), &id, &hash, &browser::cookie_hashes(headers)]).await?;
    let Some(row) = found else {
        browser::of_headers(client, headers, now).await?;
        return Err(StaffError::SessionOver);
    };
    let (session, used_at): (TillSessionId, Timestamp) = (row.get(0), row.get(1));
    if used_at.ms_until(now) >= TOUCH_MS {
        let stmt = client.prepare_cached(TOUCH).await?;
        client.execute(&stmt, &[&session, &now]).await?;
    }
    let of_browser: Option<OutletId> = row.get(7);
    Ok(Operator {
        id: row.get(2),
        role: role(row.get(3))?,
        // On an outlet's tablet its owner sees only that outlet.
        scope: Scope { owner: row.get(4), outlet: row.get::<_, Option<OutletId>>(5).or(of_browser) },
        at: Some(AtTill { session, browser: row.get(6), idoutlet: of_browser }),
    })
}

/// Filters these sessions to those that are valid now.
///
/// # Errors
/// When the database does not answer.
pub async fn good(
    client: &impl GenericClient,
    sessions: &[TillSessionId],
    now: Timestamp,
) -> Result<Vec<TillSessionId>, StaffError> {
    let find = format!(
        "SELECT s.id FROM sesi_petugas s JOIN kunci_operator k ON k.id = s.id_kunci JOIN perangkat p ON p.id = s.id_perangkat
         WHERE s.id = ANY($3) AND {IS_GOOD}"
    );
    let stmt = client.prepare_cached(&find).await?;
    let rows = client.query(&stmt, &[&now, &now.plus_ms(-IDLE_MS), &sessions]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// The operator of a session that is known by its id, while it is valid.
///
/// # Errors
/// `SessionOver`.
pub async fn by_id(client: &impl GenericClient, at: AtTill, now: Timestamp) -> Result<Operator, StaffError> {
    let find = format!(
        "SELECT k.id, k.role, k.idowner, k.idoutlet
         FROM sesi_petugas s JOIN kunci_operator k ON k.id = s.id_kunci JOIN perangkat p ON p.id = s.id_perangkat
         WHERE s.id = $3 AND {IS_GOOD}"
    );
    let stmt = client.prepare_cached(&find).await?;
    let row = client.query_opt(&stmt, &[&now, &now.plus_ms(-IDLE_MS), &at.session]).await?.ok_or(StaffError::SessionOver)?;
    let scope = Scope { owner: row.get(2), outlet: row.get::<_, Option<OutletId>>(3).or(at.idoutlet) };
    Ok(Operator { id: row.get(0), role: role(row.get(1))?, scope, at: Some(at) })
}

impl Staff {
    /// Begins a session of a person whose PIN was right, and renews the cookie.
    ///
    /// # Errors
    /// `SessionOver` when the PIN was changed in the meantime.
    pub async fn begin(&self, known: &CheckedPerson) -> Result<Begun, StaffError> {
        begin(&*self.store.get().await?, known, self.store.now()).await
    }

    /// Ends a session.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn leave(&self, session: TillSessionId) -> Result<(), StaffError> {
        const LEAVE: &str = "UPDATE sesi_petugas SET keluar_at = $2 WHERE id = $1 AND keluar_at IS NULL";
        self.store.get().await?.execute(LEAVE, &[&session, &self.store.now()]).await?;
        self.notify(SessionEnded::One(session));
        Ok(())
    }

    /// Notifies the code that holds sockets open.
    pub fn notify(&self, ended: SessionEnded) {
        // Having no subscriber is not an error.
        let _ = self.ended.send(ended);
    }
}

/// As [`Staff::begin`], with a database client of the caller.
///
/// # Errors
/// `SessionOver` when the PIN was changed in the meantime.
pub async fn begin(client: &impl GenericClient, known: &CheckedPerson, now: Timestamp) -> Result<Begun, StaffError> {
    const BEGIN: &str = "
        WITH person AS (
            SELECT id_kunci FROM petugas WHERE id_kunci = $1 AND pin_hash = $7 FOR SHARE
        ), renewed AS (
            UPDATE perangkat b SET token_sampai = $6 FROM person WHERE b.id = $2 AND b.token_hash IS NOT NULL
        )
        INSERT INTO sesi_petugas (id_kunci, id_perangkat, hash, created_at, dipakai_at, sampai)
        SELECT id_kunci, $2, $3::BYTEA, $4::TIMESTAMPTZ, $4, $5::TIMESTAMPTZ FROM person RETURNING id";
    let (secret, hash) = key::generate();
    let (until, cookie_until) = (now.plus_ms(TTL_MS), now.plus_ms(browser::COOKIE_MAX_AGE_S * 1000));
    let stmt = client.prepare_cached(BEGIN).await?;
    let of = (&known.person.id, &known.browser.id, &known.pin_hash);
    let row = client.query_opt(&stmt, &[of.0, of.1, &hash, &now, &until, &cookie_until, of.2]).await?;
    let row = row.ok_or(StaffError::SessionOver)?;
    Ok(Begun { token: KeyKind::Session.text(row.get::<_, TillSessionId>(0), &secret), until })
}

/// Ends every session in a browser. After its commit, the caller must notify the sockets (`Staff::notify`).
///
/// # Errors
/// When the database does not answer.
pub async fn end_at(client: &impl GenericClient, browser: TillId, now: Timestamp) -> Result<(), StaffError> {
    const END: &str = "UPDATE sesi_petugas SET keluar_at = $2 WHERE id_perangkat = $1 AND keluar_at IS NULL";
    client.execute(END, &[&browser, &now]).await?;
    Ok(())
}
