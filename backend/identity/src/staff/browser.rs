//! Paired browsers: an outlet's tablet, or one person's phone. A pairing code is exchanged for a cookie; the cookie alone only lists
//! names.

use std::sync::PoisonError;

use actix_web::http::header::{COOKIE, HeaderMap, HeaderValue};
use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::domain::address::Address;
use nyala_core::domain::cookie::{self, Cookie};
use nyala_core::domain::id::{OutletId, StaffId, TillId};
use nyala_core::domain::machine_code::MachineCode;
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use tokio_postgres::Row;

use super::error::StaffError;
use super::operator::role;
use super::{Staff, WRONG_CODES, admit, key, may_try, wrong_pins};

/// First part of the cookie's name; the installation's name follows (`Staff::cookie`).
pub const COOKIE_NAME: &str = "nyala_till";
/// Browsers keep no cookie longer (RFC 6265bis §5.5); each login renews it.
pub(super) const COOKIE_MAX_AGE_S: i64 = 400 * 24 * 60 * 60;

/// Validity of a pairing code.
pub const CODE_TTL_MS: i64 = 10 * 60 * 1000;

/// Owner of a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrowserOf {
    Outlet(OutletId),
    Person(StaffId),
}

/// A paired browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Browser {
    pub id: TillId,
    pub name: String,
    pub outlet: Option<OutletName>,
    /// The person whose own browser it is.
    pub person: Option<StaffId>,
    cookie_hash: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutletName {
    pub idoutlet: OutletId,
    pub name: String,
    pub city: String,
}

/// A member of staff who may log in at a browser.
#[derive(Debug, Clone)]
pub struct Listed {
    pub id: StaffId,
    pub name: String,
    pub role: Role,
    /// Milliseconds until the next attempt; 0: it may be made now.
    pub wait_ms: i64,
    /// Locked until a supervisor unlocks it.
    pub locked: bool,
}

/// A code that pairs one browser, in its typed form, with its expiry.
#[derive(Debug)]
pub struct Pairing {
    pub id: TillId,
    pub code: String,
    pub until: Timestamp,
}

/// Creates a browser that can be paired within `life_ms`. Its code is returned only here.
///
/// # Errors
/// When the database does not answer.
pub async fn invite(
    tx: &Transaction<'_>,
    name: &str,
    of: BrowserOf,
    life_ms: i64,
    now: Timestamp,
) -> Result<Pairing, StaffError> {
    const INVITE: &str = "
        INSERT INTO perangkat (nama, idoutlet, id_kunci, kode_hash, kode_sampai, created_at) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";
    let (idoutlet, person) = match of {
        BrowserOf::Outlet(id) => (Some(id), None),
        BrowserOf::Person(id) => (None, Some(id)),
    };
    let (code, until) = (MachineCode::random(&mut rand::rng()), now.plus_ms(life_ms));
    let row = tx.query_one(INVITE, &[&name, &idoutlet, &person, &key::hash(code.as_str()), &until, &now]).await?;
    Ok(Pairing { id: row.get(0), code: code.as_str().to_owned(), until })
}

/// Creates a code for a browser that replaces `id`, which was lost or has lost its cookie. The till keeps its shift. `id` may have
/// ended; if not, it stays valid until the code is used. `None`: there is no such browser.
///
/// # Errors
/// When the database does not answer.
pub async fn invite_again(tx: &Transaction<'_>, id: TillId, now: Timestamp) -> Result<Option<Pairing>, StaffError> {
    const INVITE: &str = "UPDATE perangkat SET kode_hash = $2, kode_sampai = $3 WHERE id = $1";
    let (code, until) = (MachineCode::random(&mut rand::rng()), now.plus_ms(CODE_TTL_MS));
    let found = tx.execute(INVITE, &[&id, &key::hash(code.as_str()), &until]).await? == 1;
    Ok(found.then(|| Pairing { id, code: code.as_str().to_owned(), until }))
}

impl Staff {
    /// Exchanges a code for a cookie's value, once. The browser's former cookie becomes invalid.
    ///
    /// # Errors
    /// `CodeWrong`, also for a used or expired code; `TooMany` when an address has tried too many wrong ones.
    pub async fn pair(
        &self,
        tx: &Transaction<'_>,
        typed: &str,
        address: Address,
        now: Timestamp,
    ) -> Result<(TillId, String), StaffError> {
        const PAIR: &str = "
            WITH paired AS (
                UPDATE perangkat SET kode_hash = NULL, kode_sampai = NULL, token_hash = $2, token_sampai = $3, dipasang_at = $4,
                    dicabut_at = NULL
                WHERE kode_hash = $1 AND kode_sampai > $4 RETURNING id
            ), over AS (
                UPDATE sesi_petugas s SET keluar_at = $4 FROM paired p WHERE s.id_perangkat = p.id AND s.keluar_at IS NULL
            )
            SELECT id FROM paired";
        let (secret, hash) = key::generate();
        may_try(&mut self.wrong_codes.lock().unwrap_or_else(PoisonError::into_inner), &address, WRONG_CODES, now)?;
        if let Some(code) = MachineCode::parse(typed) {
            let until = now.plus_ms(COOKIE_MAX_AGE_S * 1000);
            if let Some(row) = tx.query_opt(PAIR, &[&key::hash(code.as_str()), &hash, &until, &now]).await? {
                return Ok((row.get(0), secret));
            }
        }
        admit(&self.wrong_codes, address, WRONG_CODES, now)?;
        Err(StaffError::CodeWrong)
    }

    /// The cookie with this value. Another installation on the same host uses another name.
    ///
    /// # Errors
    /// Never in practice: a secret is plain text.
    pub fn cookie(&self, secret: &str, over_tls: bool) -> Result<HeaderValue, StaffError> {
        self.set_cookie(&cookie::name_of(COOKIE_NAME, &self.installation), secret, COOKIE_MAX_AGE_S, over_tls)
    }

    /// The renewed cookie of the browser, when `headers` contain one; a cookie with an old name is replaced.
    ///
    /// # Errors
    /// As [`Staff::cookie`].
    pub fn renewed_cookies(
        &self,
        browser: &Browser,
        headers: &HeaderMap,
        over_tls: bool,
    ) -> Result<Vec<HeaderValue>, StaffError> {
        let own: Vec<_> =
            cookies(headers).filter(|cookie| browser.cookie_hash.as_ref() == Some(&key::hash(cookie.value))).collect();
        let mut set = Vec::new();
        if let Some(cookie) = own.first() {
            set.push(self.cookie(cookie.value, over_tls)?);
        }
        if own.iter().any(|cookie| cookie.is_old) {
            set.push(self.set_cookie(COOKIE_NAME, "", 0, over_tls)?);
        }
        Ok(set)
    }

    fn set_cookie(&self, name: &str, value: &str, life_s: i64, over_tls: bool) -> Result<HeaderValue, StaffError> {
        let secure = if self.always_secure || over_tls { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/ops/v1; Max-Age={life_s}; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::from_str(&text).map_err(StaffError::broken)
    }
}

/// The cookies of a request that may be a browser's. All that fit into its head are examined, because junk set by others must not hide
/// the right one.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = Cookie<'_>> {
    headers
        .get_all(COOKIE)
        .flat_map(|line| cookie::named(line.as_bytes(), COOKIE_NAME))
        .filter(|cookie| key::is_secret(cookie.value))
}

/// Stored form of the cookies of a request.
pub fn cookie_hashes(headers: &HeaderMap) -> Vec<Vec<u8>> {
    cookies(headers).map(|cookie| key::hash(cookie.value)).collect()
}

/// The browser that sent a request.
///
/// # Errors
/// `NotPaired` when the request has no cookie of a paired browser.
pub async fn of_headers(client: &impl GenericClient, headers: &HeaderMap, now: Timestamp) -> Result<Browser, StaffError> {
    let find = format!("{BROWSER} WHERE p.token_hash = ANY($1) AND p.token_sampai > $2 AND p.dicabut_at IS NULL LIMIT 1");
    let stmt = client.prepare_cached(&find).await?;
    let row = client.query_opt(&stmt, &[&cookie_hashes(headers), &now]).await?;
    row.as_ref().map(read).ok_or(StaffError::NotPaired)
}

/// A browser since a pairing: another browser that was paired in its place is not this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairedBrowser {
    pub id: TillId,
    pub at: Timestamp,
}

/// Those of these browsers that are paired now.
///
/// # Errors
/// When the database does not answer.
pub async fn paired(client: &impl GenericClient, ids: &[TillId], now: Timestamp) -> Result<Vec<PairedBrowser>, StaffError> {
    const FIND: &str = "
        SELECT id, dipasang_at FROM perangkat
        WHERE id = ANY($1) AND token_hash IS NOT NULL AND token_sampai > $2 AND dicabut_at IS NULL AND dipasang_at IS NOT NULL";
    let stmt = client.prepare_cached(FIND).await?;
    let rows = client.query(&stmt, &[&ids, &now]).await?;
    Ok(rows.iter().map(|row| PairedBrowser { id: row.get(0), at: row.get(1) }).collect())
}

/// The paired browser with this id.
///
/// # Errors
/// When the database does not answer.
pub async fn by_id(client: &impl GenericClient, id: TillId) -> Result<Browser, StaffError> {
    let stmt = client.prepare_cached(&format!("{BROWSER} WHERE p.id = $1")).await?;
    Ok(read(&client.query_one(&stmt, &[&id]).await?))
}

const BROWSER: &str = "SELECT p.id, p.nama, p.id_kunci, o.idoutlet, o.nama, o.kota, p.token_hash FROM perangkat p LEFT JOIN outlet o USING (idoutlet)";

fn read(row: &Row) -> Browser {
    let outlet = row.get::<_, Option<OutletId>>(3).map(|idoutlet| OutletName { idoutlet, name: row.get(4), city: row.get(5) });
    Browser { id: row.get(0), name: row.get(1), person: row.get(2), outlet, cookie_hash: row.get(6) }
}

/// Staff who may log in at a browser, each with their newest wrong PINs. At an outlet's browser: those who work there and its owners. At
/// a person's own: that person. $1 browser, $2 time after which wrong PINs count, $3 one person, or all.
const LISTED: &str = "
    SELECT k.id, k.nama, k.role, w.dikunci_at IS NOT NULL, ARRAY(
        SELECT f.created_at FROM pin_gagal f WHERE f.id_kunci = k.id AND f.created_at > $2 AND f.created_at >= w.dihitung_sejak
        ORDER BY f.created_at DESC, f.id DESC LIMIT 10)
    FROM perangkat p
    JOIN petugas w ON p.id_kunci IS NULL OR p.id_kunci = w.id_kunci
    JOIN kunci_operator k ON k.id = w.id_kunci AND k.revoked_at IS NULL
    LEFT JOIN outlet o ON o.idoutlet = p.idoutlet
    WHERE p.id = $1 AND (p.id_kunci IS NOT NULL OR k.idoutlet = p.idoutlet OR k.idowner = o.idowner) AND ($3::BIGINT IS NULL OR k.id = $3)
    ORDER BY k.role <> 'kasir', k.nama, k.id LIMIT 1000";

async fn list(
    client: &impl GenericClient,
    browser: &Browser,
    person: Option<StaffId>,
    now: Timestamp,
) -> Result<Vec<Listed>, StaffError> {
    let stmt = client.prepare_cached(LISTED).await?;
    let rows = client.query(&stmt, &[&browser.id, &wrong_pins::counts_since(now), &person]).await?;
    let one = |row: &Row| {
        let wait_ms = wrong_pins::wait_after(&row.get::<_, Vec<Timestamp>>(4), now);
        Ok(Listed { id: row.get(0), name: row.get(1), role: role(row.get(2))?, locked: row.get(3), wait_ms })
    };
    rows.iter().map(one).collect()
}

/// # Errors
/// When the database does not answer.
pub async fn listed(client: &impl GenericClient, browser: &Browser, now: Timestamp) -> Result<Vec<Listed>, StaffError> {
    list(client, browser, None, now).await
}

/// One of the listed people.
///
/// # Errors
/// `Unknown` for any other person.
pub async fn find_listed(
    client: &impl GenericClient,
    browser: &Browser,
    id: StaffId,
    now: Timestamp,
) -> Result<Listed, StaffError> {
    list(client, browser, Some(id), now).await?.pop().ok_or(StaffError::Unknown)
}
