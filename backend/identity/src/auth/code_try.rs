//! Using a one-time code takes two steps: `take_try` claims one of its attempts before anything is compared. `consume` marks it used in
//! the transaction that it allows. A refusal between the two leaves it unused, with one attempt less.

use nyala_core::domain::code::characters;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use tokio_postgres::Transaction;

use super::Auth;
use super::code::message;
use super::code_purpose::CodePurpose;
use super::error::AuthError;
use super::known_phone::KnownPhone;
use super::requester::Requester;

const MAX_TRIES: i16 = 5;
/// Characters of a typed code that are examined: one more than a code has.
const MAX_CODE_CHARS: usize = 7;
/// Attempts per code while reset codes are guessed.
const TRIES_IN_ALARM: i16 = 1;

/// The right code, not used yet.
#[derive(Debug)]
pub struct RightCode {
    id: i64,
}

/// The result of an attempt.
enum Tried {
    /// No code was ever sent.
    NoCode,
    /// Used, expired or without attempts left: nothing was compared.
    Dead,
    Wrong,
    Right(RightCode),
}

/// Claims one attempt at the newest code of `purpose` and `telp`, then compares. `Ok(None)`: no code was ever sent.
///
/// # Errors
/// `OtpInvalid` for a wrong, used or expired code and one without attempts left. `TooMany` when too many attempts failed at the
/// requester's address; this limit does not apply to a phone that is `known_as` the number's customer.
pub async fn take_try(
    auth: &Auth,
    requester: &Requester,
    known_as: Option<KnownPhone>,
    purpose: CodePurpose,
    telp: &Telp,
    code: &str,
) -> Result<Option<RightCode>, AuthError> {
    let code: &str = &characters(code).take(MAX_CODE_CHARS).collect::<String>();
    let tried = if known_as.is_some() {
        look(auth, purpose, telp, code, None).await?
    } else {
        strangers_try(auth, requester, purpose, telp, code).await?
    };
    match tried {
        Tried::NoCode => Ok(None),
        Tried::Dead | Tried::Wrong => Err(AuthError::OtpInvalid),
        Tried::Right(code) => Ok(Some(code)),
    }
}

/// An attempt that counts against the address and, for a reset, against the limit of all strangers.
async fn strangers_try(
    auth: &Auth,
    requester: &Requester,
    purpose: CodePurpose,
    telp: &Telp,
    code: &str,
) -> Result<Tried, AuthError> {
    let now = auth.store.now();
    let reset = (purpose == CodePurpose::ForgotPassword).then(|| auth.reset_alarm.begin(now)).transpose()?;
    let attempt = auth.code_limits.reserve(requester.address, now)?;
    let tried = look(auth, purpose, telp, code, reset.as_ref().and_then(|reset| reset.alarm_since)).await;
    if let (Ok(Tried::Wrong), Some(reset)) = (&tried, reset) {
        reset.wrong(auth.store.now());
    }
    if matches!(tried, Ok(Tried::Right(_)) | Err(_)) {
        auth.code_limits.refund(&attempt);
    }
    tried
}

/// `alarm_since`: codes from before it are refused, and later ones allow one attempt.
async fn look(
    auth: &Auth,
    purpose: CodePurpose,
    telp: &Telp,
    code: &str,
    alarm_since: Option<Timestamp>,
) -> Result<Tried, AuthError> {
    let client = auth.store.get().await?;
    let stmt = client
        .prepare_cached(
            "WITH newest AS (
                 SELECT id FROM kode_otp WHERE telp = $1 AND tujuan = $2 AND sent_at IS NOT NULL ORDER BY id DESC LIMIT 1),
             attempt AS (
                 UPDATE kode_otp k SET tries = tries + 1 FROM newest
                 WHERE k.id = newest.id AND k.used_at IS NULL AND k.expires_at > $3 AND k.tries < $4
                   AND ($5::TIMESTAMPTZ IS NULL OR k.created_at > $5) RETURNING k.id, k.hmac)
             SELECT attempt.id, attempt.hmac FROM newest LEFT JOIN attempt ON TRUE",
        )
        .await?;
    let tries = if alarm_since.is_some() { TRIES_IN_ALARM } else { MAX_TRIES };
    let row = client.query_opt(&stmt, &[&telp.as_str(), &purpose.as_str(), &auth.store.now(), &tries, &alarm_since]).await?;
    let Some(row) = row else { return Ok(Tried::NoCode) };
    Ok(match row.try_get::<_, Option<i64>>(0)?.zip(row.try_get::<_, Option<&[u8]>>(1)?) {
        None => Tried::Dead,
        Some((id, stored)) if is_right(auth, &message(purpose, telp, code), stored) => Tried::Right(RightCode { id }),
        Some(_) => Tried::Wrong,
    })
}

fn is_right(auth: &Auth, message: &[u8], stored: &[u8]) -> bool {
    auth.keyring.get().tokens_at(auth.store.now()).any(|good| good.key.otp.verifies(message, stored))
}

/// Marks the code used, in the transaction that it allows.
///
/// # Errors
/// `OtpInvalid` when another request used it first.
pub async fn consume(tx: &Transaction<'_>, code: &RightCode, now: Timestamp) -> Result<(), AuthError> {
    let used = tx.execute("UPDATE kode_otp SET used_at = $2 WHERE id = $1 AND used_at IS NULL", &[&code.id, &now]).await?;
    if used == 1 { Ok(()) } else { Err(AuthError::OtpInvalid) }
}
