//! Using a one-time code takes two steps: `take_try` claims one of its tries before anything is compared, and `consume` marks it used
//! in the transaction of what it allows; whatever is refused between the two leaves it unused with one try less.

use tokio_postgres::Transaction;

use super::caller::Caller;
use super::known_phone::KnownPhone;
use super::kode::{Tujuan, message};
use crate::app::AppState;
use crate::domain::telp::Telp;
use crate::domain::waktu::Waktu;
use crate::http::error::AppError;

const MAX_TRIES: i16 = 5;
/// While reset codes are guessed.
const TRIES_IN_ALARM: i16 = 1;

/// The right code, not used yet.
#[derive(Debug)]
pub struct RightCode {
    id: i64,
}

/// What came of a try.
enum Tried {
    /// No code was ever sent.
    NoCode,
    /// Used, expired or without tries: nothing was compared.
    Dead,
    Wrong,
    Right(RightCode),
}

/// Claims one try of the newest code of `tujuan` and `telp`, then compares. 422 `your otp is invalid` for a wrong, used or
/// expired code and past its tries; 429 when too many failed at the caller's address, of whom who is `known_as` the number's customer
/// is none; `Ok(None)` when none was ever sent.
pub async fn take_try(
    state: &AppState,
    caller: &Caller,
    known_as: Option<KnownPhone>,
    tujuan: Tujuan,
    telp: &Telp,
    code: &str,
) -> Result<Option<RightCode>, AppError> {
    let tried = if known_as.is_some() {
        look(state, tujuan, telp, code, None).await?
    } else {
        strangers_try(state, caller, tujuan, telp, code).await?
    };
    match tried {
        Tried::NoCode => Ok(None),
        Tried::Dead | Tried::Wrong => Err(AppError::OtpInvalid),
        Tried::Right(code) => Ok(Some(code)),
    }
}

/// A try that counts against the address, and of a reset over all.
async fn strangers_try(state: &AppState, caller: &Caller, tujuan: Tujuan, telp: &Telp, code: &str) -> Result<Tried, AppError> {
    let now = state.jam.now();
    let auth = &state.auth;
    let reset = (tujuan == Tujuan::ForgotPassword).then(|| auth.reset_alarm.begin(now)).transpose()?;
    let attempt = auth.code_limits.reserve(caller.address, now)?;
    let tried = look(state, tujuan, telp, code, reset.as_ref().and_then(|reset| reset.alarm_since)).await;
    if let (Ok(Tried::Wrong), Some(reset)) = (&tried, reset) {
        reset.wrong(state.jam.now());
    }
    if matches!(tried, Ok(Tried::Right(_)) | Err(_)) {
        auth.code_limits.give_back(&attempt);
    }
    tried
}

/// `alarm_since`: codes from before are worth nothing, and later ones one try.
async fn look(state: &AppState, tujuan: Tujuan, telp: &Telp, code: &str, alarm_since: Option<Waktu>) -> Result<Tried, AppError> {
    let client = state.db.get().await?;
    let stmt = client
        .prepare_cached(
            "WITH terbaru AS (
                 SELECT id FROM kode_otp WHERE telp = $1 AND tujuan = $2 AND sent_at IS NOT NULL ORDER BY id DESC LIMIT 1),
             coba AS (
                 UPDATE kode_otp k SET tries = tries + 1 FROM terbaru
                 WHERE k.id = terbaru.id AND k.used_at IS NULL AND k.expires_at > $3 AND k.tries < $4
                   AND ($5::TIMESTAMPTZ IS NULL OR k.created_at > $5) RETURNING k.id, k.hmac)
             SELECT coba.id, coba.hmac FROM terbaru LEFT JOIN coba ON TRUE",
        )
        .await?;
    let tries = if alarm_since.is_some() { TRIES_IN_ALARM } else { MAX_TRIES };
    let row = client.query_opt(&stmt, &[&telp.as_str(), &tujuan.as_str(), &state.jam.now(), &tries, &alarm_since]).await?;
    let Some(row) = row else { return Ok(Tried::NoCode) };
    Ok(match row.try_get::<_, Option<i64>>(0)?.zip(row.try_get::<_, Option<&[u8]>>(1)?) {
        None => Tried::Dead,
        Some((id, stored)) if state.secrets.otp.verifies(&message(tujuan, telp, code), stored) => Tried::Right(RightCode { id }),
        Some(_) => Tried::Wrong,
    })
}

/// Marks the code used in the transaction of what it allows; 422 when another request was first.
pub async fn consume(tx: &Transaction<'_>, code: &RightCode, now: Waktu) -> Result<(), AppError> {
    let used = tx.execute("UPDATE kode_otp SET used_at = $2 WHERE id = $1 AND used_at IS NULL", &[&code.id, &now]).await?;
    if used == 1 { Ok(()) } else { Err(AppError::OtpInvalid) }
}
