//! One-time codes: requesting one (docs/contract.md §1, below the table; docs/limits.md). Using one is in `code_try`.
//!
//! Only an HMAC over purpose, number and code is stored, so a code is valid only for the purpose it was sent for. The newest code that
//! WhatsApp accepted is the valid one.

use std::sync::Arc;

use deadpool_postgres::GenericClient;
use nyala_core::domain::otp::Otp;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use super::Auth;
use super::code_purpose::{Asker, CodePurpose};
use super::error::AuthError;
use super::sent_codes::{self, DAY_MS, HOUR_MS, Remembered, SentLimit};
use crate::whatsapp::{Content, OutgoingMessage};

const VALID_MS: i64 = 5 * 60 * 1000;
const COOLDOWN_MS: i64 = 60 * 1000;
/// How long an undecided code (neither accepted nor refused) counts for its number as if it were sent. After the sender's own limit it
/// is never sent. In the pots it counts until its window is over.
const UNDECIDED_MS: i64 = 10 * 1000;
/// Serialises "how many were sent" and "one more", across all processes.
const LIMIT_LOCK: i64 = 0x4e59_414c_4f01;

/// Codes passed to WhatsApp.
pub type Codes = Family<ResultLabel, Counter>;

/// Whether WhatsApp accepted the code.
#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct ResultLabel {
    result: &'static str,
}

/// A request for a code.
#[derive(Debug, Clone, Copy)]
pub struct CodeRequest {
    pub purpose: CodePurpose,
    pub by: Asker,
    /// Since when reset codes are guessed; `None` for requesters that the alarm does not affect.
    pub alarm_since: Option<Timestamp>,
}

/// Checks whether any code may be sent to an address. It runs before the lookup of the number, so the answer is the same for every
/// number.
///
/// # Errors
/// `TooMany` over a limit of addresses or of all strangers together.
pub async fn admit(auth: &Auth, request: CodeRequest) -> Result<(), AuthError> {
    let now = auth.store.now();
    let CodeRequest { purpose, by, alarm_since } = request;
    if let Asker::Address(address) = by {
        auth.sent_codes.admit(address, now)?;
    }
    let client = auth.store.get().await?;
    sent_codes::refuse(sent_codes::wait_ms(&*client, &auth.sent_codes.limits(purpose, by, alarm_since, now), now).await?)
}

/// Sends a new code.
///
/// # Errors
/// `TooMany` within the cooldown or over a limit; `CodeNotSent` when it could not be sent, which counts against no limit.
pub async fn send(auth: &Arc<Auth>, request: CodeRequest, telp: Telp) -> Result<(), AuthError> {
    let (code, at) = (Otp::random(&mut rand::rng()), auth.store.now());
    let counted = reserve(auth, request, (&telp, &code), at).await?;
    let message = OutgoingMessage { telp, content: Content::Code(code), at };
    let auth = auth.clone();
    // A separate task: a caller that disconnects must not leave a code that was sent and not counted.
    let sent = actix_web::rt::spawn(async move {
        let sent = auth.whatsapp.send(&message).await;
        auth.codes.get_or_create(&ResultLabel { result: if sent.is_ok() { "sent" } else { "failed" } }).inc();
        settle(&auth, counted, sent.is_ok()).await?;
        sent.map_err(|e| {
            tracing::warn!(error = %e, purpose = request.purpose.as_str(), "code not sent");
            AuthError::CodeNotSent
        })
    });
    sent.await.map_err(AuthError::broken)?
}

/// A code that is counted and not sent yet.
struct Counted {
    id: i64,
    limits: Vec<SentLimit>,
    remembered: Remembered,
}

/// Stores the code as undecided and counts it, unless a limit forbids it.
async fn reserve(auth: &Auth, request: CodeRequest, (telp, code): (&Telp, &Otp), at: Timestamp) -> Result<Counted, AuthError> {
    let CodeRequest { purpose, by, alarm_since } = request;
    if let Asker::Address(address) = by {
        auth.sent_codes.admit(address, at)?;
    }
    // Requests that will be refused are checked without the lock, so that they delay no other request.
    refuse_full(auth, &*auth.store.get().await?, request, telp, at).await?;
    let _place = auth.sent_codes.place_in_lock().await?;
    let mut client = auth.store.get().await?;
    let tx = client.transaction().await?;
    tx.query_one("SELECT pg_advisory_xact_lock($1)", &[&LIMIT_LOCK]).await?;
    let now = auth.store.now();
    refuse_full(auth, &tx, request, telp, now).await?;
    let limits = auth.sent_codes.limits(purpose, by, alarm_since, now);
    sent_codes::count(&tx, &limits, now).await?;
    // Older codes of this number and purpose are useless now: the new one is the newest, and no limit looks back further than a day.
    let insert = tx
        .prepare_cached(
            "WITH old AS (DELETE FROM kode_otp WHERE telp = $1 AND tujuan = $2 AND created_at <= $7)
             INSERT INTO kode_otp (tujuan, telp, hmac, ip, created_at, expires_at) VALUES ($2, $1, $3, $4, $5, $6) RETURNING id",
        )
        .await?;
    let hmac = hmac(auth, purpose, telp, code.as_str());
    let (expires_at, forgotten_before) = (now.plus_ms(VALID_MS), now.plus_ms(-DAY_MS - HOUR_MS));
    let row = tx
        .query_one(
            &insert,
            &[&telp.as_str(), &purpose.as_str(), &hmac.as_slice(), &by.to_string(), &now, &expires_at, &forgotten_before],
        )
        .await?;
    let id = row.try_get(0)?;
    tx.commit().await?;
    Ok(Counted { id, limits, remembered: auth.sent_codes.remember(by, now) })
}

/// # Errors
/// `TooMany` with the seconds until the next code may be sent: the longest of the cooldown and the limits that are full.
async fn refuse_full(
    auth: &Auth,
    client: &impl GenericClient,
    request: CodeRequest,
    telp: &Telp,
    now: Timestamp,
) -> Result<(), AuthError> {
    let CodeRequest { purpose, by, alarm_since } = request;
    let of_number = number_wait_ms(auth, client, request, telp, now).await?;
    let limits = auth.sent_codes.limits(purpose, by, alarm_since, now);
    sent_codes::refuse(of_number.max(sent_codes::wait_ms(client, &limits, now).await?))
}

/// Milliseconds until the next code for this purpose may be sent to the number. For a known phone, only the codes that it requested
/// itself count.
async fn number_wait_ms(
    auth: &Auth,
    client: &impl GenericClient,
    request: CodeRequest,
    telp: &Telp,
    now: Timestamp,
) -> Result<i64, AuthError> {
    // Each column: when the code was sent that must leave its window before the next one may be sent.
    let stmt = client
        .prepare_cached(
            "WITH terhitung AS NOT MATERIALIZED (
                 SELECT id, created_at, COALESCE(sent_at, created_at) AS at
                 FROM kode_otp WHERE telp = $1 AND tujuan = $2 AND (NOT $3::BOOLEAN OR ip = $4)
                   AND (sent_at IS NOT NULL OR created_at > $5))
             SELECT (SELECT at FROM terhitung ORDER BY id DESC LIMIT 1),
                    (SELECT at FROM terhitung WHERE created_at > $6 ORDER BY id DESC OFFSET $7 LIMIT 1)",
        )
        .await?;
    let own = matches!(request.by, Asker::Customer(_));
    let (undecided, day) = (now.plus_ms(-UNDECIDED_MS), now.plus_ms(-DAY_MS - UNDECIDED_MS));
    let limit = auth.settings.otp_per_telp_day - 1;
    let of = (telp.as_str(), request.purpose.as_str(), request.by.to_string());
    let row = client.query_one(&stmt, &[&of.0, &of.1, &own, &of.2, &undecided, &day, &limit]).await?;
    let mut wait_ms = 0;
    for (i, window_ms) in [COOLDOWN_MS, DAY_MS].into_iter().enumerate() {
        if let Some(at) = row.try_get::<_, Option<Timestamp>>(i)? {
            // At most the window, even if the clock was ahead when that code was sent.
            wait_ms = wait_ms.max(now.ms_until(at.plus_ms(window_ms)).min(window_ms));
        }
    }
    Ok(wait_ms)
}

/// A code that was sent becomes the number's newest. One that was not sent is deleted and no longer counts.
async fn settle(auth: &Auth, counted: Counted, sent: bool) -> Result<(), AuthError> {
    if sent {
        let client = auth.store.get().await?;
        let stmt = client.prepare_cached("UPDATE kode_otp SET sent_at = $2 WHERE id = $1").await?;
        client.execute(&stmt, &[&counted.id, &auth.store.now()]).await?;
        return Ok(());
    }
    auth.sent_codes.forget(&counted.remembered);
    let _place = auth.sent_codes.place_to_settle().await?;
    let mut client = auth.store.get().await?;
    let tx = client.transaction().await?;
    tx.query_one("SELECT pg_advisory_xact_lock($1)", &[&LIMIT_LOCK]).await?;
    sent_codes::uncount(&tx, &counted.limits).await?;
    tx.execute("DELETE FROM kode_otp WHERE id = $1", &[&counted.id]).await?;
    tx.commit().await?;
    Ok(())
}

fn hmac(auth: &Auth, purpose: CodePurpose, telp: &Telp, code: &str) -> [u8; 32] {
    auth.keyring.get().tokens.in_use().key.otp.mac(&message(purpose, telp, code))
}

/// The input of the HMAC. A number has digits only, so the last separator is unambiguous for any text typed as the code.
pub fn message(purpose: CodePurpose, telp: &Telp, code: &str) -> Vec<u8> {
    format!("{}:{telp}:{code}", purpose.as_str()).into_bytes()
}
