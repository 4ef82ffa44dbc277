//! One-time codes: asking for one, and using it (contract §1, below the table).
//!
//! Only an HMAC over purpose, number and code is kept, so a code is good for what it was sent for and nothing else. The
//! newest code that WhatsApp took is the one that counts. Using one takes two steps: `take_try` claims one of its five tries
//! before anything is compared, and `consume` marks it used in the transaction of what it allows; whatever is refused between
//! the two leaves it unused with one try less.

use tokio_postgres::Transaction;

use crate::app::AppState;
use crate::domain::otp::Otp;
use crate::domain::telp::Telp;
use crate::domain::waktu::Waktu;
use crate::http::error::AppError;
use crate::whatsapp::Pesan;

const LIFE_MS: i64 = 5 * 60 * 1000;
const MAX_TRIES: i16 = 5;
const COOLDOWN_MS: i64 = 60 * 1000;
const HOUR_MS: i64 = 60 * 60 * 1000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// How long a code that is neither taken nor refused counts as if it were sent: past the sender's own limit it never will be.
const UNDECIDED_MS: i64 = 10 * 1000;
/// Serialises "how many were sent" with "one more", over every process.
const LIMIT_LOCK: i64 = 0x4e59_414c_4f01;

/// What a code allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tujuan {
    Register,
    ForgotPassword,
    UpdatePassword,
}

impl Tujuan {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::ForgotPassword => "forgot_password",
            Self::UpdatePassword => "update_password",
        }
    }
}

/// Sends a new code to `telp`; `ip` is the address it counts against. 429 within the cooldown or over a limit, 503 when it
/// could not be sent, which counts against nothing.
pub async fn send(state: &AppState, tujuan: Tujuan, telp: Telp, ip: String) -> Result<(), AppError> {
    let pesan = Pesan { telp, code: Otp::random(), at: state.jam.now() };
    let id = reserve(state, tujuan, &pesan, &ip).await?;
    let state = state.clone();
    // On its own, because a caller who goes away must not leave a code that was sent and not counted.
    let sent = actix_web::rt::spawn(async move {
        let sent = state.whatsapp.send(&pesan).await;
        state.metrics.code(sent.is_ok());
        settle(&state, id, sent.is_ok()).await?;
        sent.map_err(|e| {
            tracing::warn!(error = %e, purpose = tujuan.as_str(), "code not sent");
            AppError::CodeNotSent
        })
    });
    sent.await.map_err(AppError::internal)?
}

/// Writes the code down as undecided, when no limit forbids it.
async fn reserve(state: &AppState, tujuan: Tujuan, pesan: &Pesan, ip: &str) -> Result<i64, AppError> {
    let (now, telp, tujuan_text) = (pesan.at, pesan.telp.as_str(), tujuan.as_str());
    let mut client = state.db.get().await?;
    let tx = client.transaction().await?;
    tx.query_one("SELECT pg_advisory_xact_lock($1)", &[&LIMIT_LOCK]).await?;
    if let Some(retry_s) = wait_s(state, &tx, tujuan, pesan, ip).await? {
        return Err(AppError::TooMany { retry_s });
    }
    // Older codes of this number and purpose are of no more use: the new one is the newest, and past a day none is counted.
    let insert = tx
        .prepare_cached(
            "WITH lama AS (DELETE FROM kode_otp WHERE telp = $1 AND tujuan = $2 AND created_at <= $7)
             INSERT INTO kode_otp (tujuan, telp, hmac, ip, created_at, expires_at) VALUES ($2, $1, $3, $4, $5, $6) RETURNING id",
        )
        .await?;
    let hmac = hmac(state, tujuan, &pesan.telp, pesan.code.as_str());
    let row = tx
        .query_one(
            &insert,
            &[&telp, &tujuan_text, &hmac.as_slice(), &ip, &now, &now.plus_ms(LIFE_MS), &now.plus_ms(-DAY_MS - HOUR_MS)],
        )
        .await?;
    let id = row.try_get(0)?;
    tx.commit().await?;
    Ok(id)
}

/// Seconds until the next code may be sent, when that is not now: the longest of the cooldown and the limits that are full.
async fn wait_s(
    state: &AppState,
    tx: &deadpool_postgres::Transaction<'_>,
    tujuan: Tujuan,
    pesan: &Pesan,
    ip: &str,
) -> Result<Option<u32>, AppError> {
    let now = pesan.at;
    let limits = &state.config.auth;
    // Each column is when the last code was sent that must have left its window before the next one may go.
    let stmt = tx
        .prepare_cached(
            "WITH terhitung AS NOT MATERIALIZED (
                 SELECT id, telp, tujuan, ip, created_at, COALESCE(sent_at, created_at) AS at
                 FROM kode_otp WHERE sent_at IS NOT NULL OR created_at > $4)
             SELECT (SELECT at FROM terhitung WHERE telp = $1 AND tujuan = $2 ORDER BY id DESC LIMIT 1),
                    (SELECT at FROM terhitung WHERE telp = $1 AND tujuan = $2 AND created_at > $5 ORDER BY id DESC OFFSET $7 LIMIT 1),
                    (SELECT at FROM terhitung WHERE ip = $3 AND created_at > $6 ORDER BY created_at DESC, id DESC OFFSET $8 LIMIT 1),
                    (SELECT at FROM terhitung WHERE created_at > $6 ORDER BY created_at DESC, id DESC OFFSET $9 LIMIT 1)",
        )
        .await?;
    let row = tx
        .query_one(
            &stmt,
            &[
                &pesan.telp.as_str(),
                &tujuan.as_str(),
                &ip,
                &now.plus_ms(-UNDECIDED_MS),
                &now.plus_ms(-DAY_MS - UNDECIDED_MS),
                &now.plus_ms(-HOUR_MS - UNDECIDED_MS),
                &(limits.otp_per_telp_day - 1),
                &(limits.otp_per_ip_hour - 1),
                &(limits.otp_per_hour - 1),
            ],
        )
        .await?;
    let mut wait_ms = 0;
    for (i, window_ms) in [COOLDOWN_MS, DAY_MS, HOUR_MS, HOUR_MS].into_iter().enumerate() {
        if let Some(at) = row.try_get::<_, Option<Waktu>>(i)? {
            wait_ms = wait_ms.max(now.ms_until(at.plus_ms(window_ms)));
        }
    }
    Ok((wait_ms > 0).then(|| seconds_up(wait_ms)))
}

/// Whole seconds, rounded up, so that waiting them is enough.
pub fn seconds_up(ms: i64) -> u32 {
    u32::try_from(ms.saturating_add(999) / 1000).unwrap_or(u32::MAX)
}

/// A code that was sent starts to count; one that was not is forgotten.
async fn settle(state: &AppState, id: i64, sent: bool) -> Result<(), AppError> {
    let client = state.db.get().await?;
    if sent {
        let stmt = client.prepare_cached("UPDATE kode_otp SET sent_at = $2 WHERE id = $1").await?;
        client.execute(&stmt, &[&id, &state.jam.now()]).await?;
    } else {
        let stmt = client.prepare_cached("DELETE FROM kode_otp WHERE id = $1").await?;
        client.execute(&stmt, &[&id]).await?;
    }
    Ok(())
}

/// The right code, not used yet.
#[derive(Debug)]
pub struct RightCode {
    id: i64,
}

/// Claims one try of the newest code of `tujuan` and `telp`, then compares. 422 `your otp is invalid` for a wrong, used or
/// expired code and past five tries; `Ok(None)` when none was ever sent.
pub async fn take_try(state: &AppState, tujuan: Tujuan, telp: &Telp, code: &str) -> Result<Option<RightCode>, AppError> {
    let client = state.db.get().await?;
    let stmt = client
        .prepare_cached(
            "WITH terbaru AS (
                 SELECT id FROM kode_otp WHERE telp = $1 AND tujuan = $2 AND sent_at IS NOT NULL ORDER BY id DESC LIMIT 1),
             coba AS (
                 UPDATE kode_otp k SET tries = tries + 1 FROM terbaru
                 WHERE k.id = terbaru.id AND k.used_at IS NULL AND k.expires_at > $3 AND k.tries < $4 RETURNING k.id, k.hmac)
             SELECT coba.id, coba.hmac FROM terbaru LEFT JOIN coba ON TRUE",
        )
        .await?;
    let Some(row) = client.query_opt(&stmt, &[&telp.as_str(), &tujuan.as_str(), &state.jam.now(), &MAX_TRIES]).await? else {
        return Ok(None);
    };
    match row.try_get::<_, Option<i64>>(0)?.zip(row.try_get::<_, Option<Vec<u8>>>(1)?) {
        Some((id, stored)) if state.secrets.otp.verifies(&message(tujuan, telp, code), &stored) => Ok(Some(RightCode { id })),
        _ => Err(AppError::OtpInvalid),
    }
}

/// Marks the code used in the transaction of what it allows; 422 when another request was first.
pub async fn consume(tx: &Transaction<'_>, code: &RightCode, now: Waktu) -> Result<(), AppError> {
    let used = tx.execute("UPDATE kode_otp SET used_at = $2 WHERE id = $1 AND used_at IS NULL", &[&code.id, &now]).await?;
    if used == 1 { Ok(()) } else { Err(AppError::OtpInvalid) }
}

fn hmac(state: &AppState, tujuan: Tujuan, telp: &Telp, code: &str) -> [u8; 32] {
    state.secrets.otp.mac(&message(tujuan, telp, code))
}

/// A number has digits only, so the last separator is unambiguous whatever was typed as the code.
fn message(tujuan: Tujuan, telp: &Telp, code: &str) -> Vec<u8> {
    format!("{}:{telp}:{code}", tujuan.as_str()).into_bytes()
}
