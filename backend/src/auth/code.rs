//! One-time codes: asking for one (docs/contract.md §1, below the table; docs/limits.md). Using it is in `code_try`.
//!
//! Only an HMAC over purpose, number and code is kept, so a code is good for what it was sent for and nothing else. The
//! newest code that WhatsApp took is the one that counts.

use std::fmt;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use super::Auth;
use super::error::AuthError;
use crate::domain::address::Address;
use crate::domain::otp::Otp;
use crate::domain::telp::Telp;
use crate::domain::timestamp::{Timestamp, seconds_up};
use crate::whatsapp::CodeMessage;

const LIFE_MS: i64 = 5 * 60 * 1000;
const COOLDOWN_MS: i64 = 60 * 1000;
const HOUR_MS: i64 = 60 * 60 * 1000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// How long a code that is neither taken nor refused counts as if it were sent: past the sender's own limit it never will be.
const UNDECIDED_MS: i64 = 10 * 1000;
/// Serialises "how many were sent" with "one more", over every process.
const LIMIT_LOCK: i64 = 0x4e59_414c_4f01;

/// What a code allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodePurpose {
    Register,
    ForgotPassword,
    UpdatePassword,
}

impl CodePurpose {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::ForgotPassword => "forgot_password",
            Self::UpdatePassword => "update_password",
        }
    }
}

/// Who asks for a code. It is written down with the code, so that each has a share of its own.
#[derive(Debug, Clone, Copy)]
pub enum Asker {
    Address(Address),
    /// A phone that is known as this customer's (`id_customer_global`), for the customer's own number: what strangers have asked for
    /// does not count for it.
    Customer(i64),
}

/// `192.0.2.1`, `2001:db8:1:2::/64` or `customer 7`.
impl fmt::Display for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Customer(id) => write!(f, "customer {id}"),
        }
    }
}

/// Codes given to WhatsApp.
pub type Codes = Family<ResultLabel, Counter>;

/// Whether WhatsApp took it.
#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct ResultLabel {
    result: &'static str,
}

/// Where a code goes, and what it counts against.
#[derive(Debug)]
pub struct Recipient {
    pub telp: Telp,
    pub by: Asker,
    /// Since when reset codes are guessed; `None` for whom that is no matter.
    pub alarm_since: Option<Timestamp>,
}

/// Sends a new code.
///
/// # Errors
/// `TooMany` within the cooldown or over a limit, `CodeNotSent` when it could not be sent, which counts against nothing.
pub async fn send(auth: &Auth, purpose: CodePurpose, to: Recipient) -> Result<(), AuthError> {
    let Recipient { telp, by, alarm_since } = to;
    let message = CodeMessage { telp, code: Otp::random(), at: auth.store.now() };
    let id =
        reserve(auth, purpose, &message, &Counted { by: by.to_string(), own: matches!(by, Asker::Customer(_)), alarm_since })
            .await?;
    let auth = auth.clone();
    // On its own, because a caller who goes away must not leave a code that was sent and not counted.
    let sent = actix_web::rt::spawn(async move {
        let sent = auth.whatsapp.send(&message).await;
        auth.codes.get_or_create(&ResultLabel { result: if sent.is_ok() { "sent" } else { "failed" } }).inc();
        settle(&auth, id, sent.is_ok()).await?;
        sent.map_err(|e| {
            tracing::warn!(error = %e, purpose = purpose.as_str(), "code not sent");
            AuthError::CodeNotSent
        })
    });
    sent.await.map_err(AuthError::broken)?
}

struct Counted {
    by: String,
    /// Of the number's codes only those that `by` asked for count.
    own: bool,
    alarm_since: Option<Timestamp>,
}

/// Writes the code down as undecided, when no limit forbids it.
async fn reserve(auth: &Auth, purpose: CodePurpose, message: &CodeMessage, counted: &Counted) -> Result<i64, AuthError> {
    let (now, telp, purpose_text) = (message.at, message.telp.as_str(), purpose.as_str());
    let mut client = auth.store.get().await?;
    let tx = client.transaction().await?;
    tx.query_one("SELECT pg_advisory_xact_lock($1)", &[&LIMIT_LOCK]).await?;
    if let Some(retry_s) = wait_s(auth, &tx, purpose, message, counted).await? {
        return Err(AuthError::TooMany { retry_s });
    }
    // Older codes of this number and purpose are of no more use: the new one is the newest, and past a day none is counted.
    let insert = tx
        .prepare_cached(
            "WITH old AS (DELETE FROM kode_otp WHERE telp = $1 AND tujuan = $2 AND created_at <= $7)
             INSERT INTO kode_otp (tujuan, telp, hmac, ip, created_at, expires_at) VALUES ($2, $1, $3, $4, $5, $6) RETURNING id",
        )
        .await?;
    let hmac = hmac(auth, purpose, &message.telp, message.code.as_str());
    let row = tx
        .query_one(
            &insert,
            &[&telp, &purpose_text, &hmac.as_slice(), &counted.by, &now, &now.plus_ms(LIFE_MS), &now.plus_ms(-DAY_MS - HOUR_MS)],
        )
        .await?;
    let id = row.try_get(0)?;
    tx.commit().await?;
    Ok(id)
}

/// Seconds until the next code may be sent, when that is not now: the longest of the cooldown and the limits that are full.
async fn wait_s(
    auth: &Auth,
    tx: &deadpool_postgres::Transaction<'_>,
    purpose: CodePurpose,
    message: &CodeMessage,
    counted: &Counted,
) -> Result<Option<u32>, AuthError> {
    let now = message.at;
    let limits = &auth.settings;
    // Without an alarm its limit has nothing to count; what was sent before it is worth nothing to anybody.
    let in_alarm = counted.alarm_since.map_or(now, |since| since.max(now.plus_ms(-HOUR_MS - UNDECIDED_MS)));
    // Each column is when the last code was sent that must have left its window before the next one may go.
    let stmt = tx
        .prepare_cached(
            "WITH terhitung AS NOT MATERIALIZED (
                 SELECT id, telp, tujuan, ip, created_at, COALESCE(sent_at, created_at) AS at
                 FROM kode_otp WHERE sent_at IS NOT NULL OR created_at > $4)
             SELECT (SELECT at FROM terhitung WHERE telp = $1 AND tujuan = $2 AND (NOT $12::BOOLEAN OR ip = $3)
                     ORDER BY id DESC LIMIT 1),
                    (SELECT at FROM terhitung WHERE telp = $1 AND tujuan = $2 AND (NOT $12::BOOLEAN OR ip = $3) AND created_at > $5
                     ORDER BY id DESC OFFSET $7 LIMIT 1),
                    (SELECT at FROM terhitung WHERE ip = $3 AND created_at > $6 ORDER BY created_at DESC, id DESC OFFSET $8 LIMIT 1),
                    (SELECT at FROM terhitung WHERE created_at > $6 ORDER BY created_at DESC, id DESC OFFSET $9 LIMIT 1),
                    (SELECT at FROM terhitung WHERE tujuan = 'forgot_password' AND created_at > $10
                     ORDER BY created_at DESC, id DESC OFFSET $11 LIMIT 1)",
        )
        .await?;
    let row = tx
        .query_one(
            &stmt,
            &[
                &message.telp.as_str(),
                &purpose.as_str(),
                &counted.by,
                &now.plus_ms(-UNDECIDED_MS),
                &now.plus_ms(-DAY_MS - UNDECIDED_MS),
                &now.plus_ms(-HOUR_MS - UNDECIDED_MS),
                &(limits.otp_per_telp_day - 1),
                &(limits.otp_per_ip_hour - 1),
                &(limits.otp_per_hour - 1),
                &in_alarm,
                &(limits.reset_alarm_codes_per_hour - 1),
                &counted.own,
            ],
        )
        .await?;
    let mut wait_ms = 0;
    for (i, window_ms) in [COOLDOWN_MS, DAY_MS, HOUR_MS, HOUR_MS, HOUR_MS].into_iter().enumerate() {
        if let Some(at) = row.try_get::<_, Option<Timestamp>>(i)? {
            wait_ms = wait_ms.max(now.ms_until(at.plus_ms(window_ms)));
        }
    }
    Ok((wait_ms > 0).then(|| seconds_up(wait_ms)))
}

/// A code that was sent starts to count; one that was not is forgotten.
async fn settle(auth: &Auth, id: i64, sent: bool) -> Result<(), AuthError> {
    let client = auth.store.get().await?;
    if sent {
        let stmt = client.prepare_cached("UPDATE kode_otp SET sent_at = $2 WHERE id = $1").await?;
        client.execute(&stmt, &[&id, &auth.store.now()]).await?;
    } else {
        let stmt = client.prepare_cached("DELETE FROM kode_otp WHERE id = $1").await?;
        client.execute(&stmt, &[&id]).await?;
    }
    Ok(())
}

fn hmac(auth: &Auth, purpose: CodePurpose, telp: &Telp, code: &str) -> [u8; 32] {
    auth.otp_key.mac(&message(purpose, telp, code))
}

/// What the HMAC is over. A number has digits only, so the last separator is unambiguous whatever was typed as the code.
pub fn message(purpose: CodePurpose, telp: &Telp, code: &str) -> Vec<u8> {
    format!("{}:{telp}:{code}", purpose.as_str()).into_bytes()
}
