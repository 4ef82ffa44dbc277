//! Browsers that receive pushes: owner and expiry.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use nyala_store::secrets::Kid;
use p256::PublicKey;
use web_push_native::Auth;

use super::endpoint::Endpoint;

/// Browsers per customer; one more replaces the one with the oldest subscription.
pub const MAX_PER_CUSTOMER: i64 = 10;
/// An uncompressed point of P-256, and the secret that a browser shares with servers that push to it (RFC 8291 §3).
const KEY_BYTES: usize = 65;
const AUTH_BYTES: usize = 16;

/// Reason for refusing a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    Endpoint,
    /// Not 65 bytes in base64url that begin as a point does.
    Key,
    /// 65 such bytes that are not a point of the curve.
    Point,
    Auth,
}

/// A browser's description of itself.
pub struct Subscription {
    pub(super) endpoint: Endpoint,
    pub(super) p256dh: [u8; KEY_BYTES],
    pub(super) auth: [u8; AUTH_BYTES],
}

impl Subscription {
    /// # Errors
    /// The first fault found; `more` as in [`Endpoint::parse`].
    pub fn parse(endpoint: &str, p256dh: &str, auth: &str, more: &[String]) -> Result<Self, Wrong> {
        let endpoint = Endpoint::parse(endpoint, more).ok_or(Wrong::Endpoint)?;
        let (p256dh, auth) = (key(p256dh).ok_or(Wrong::Key)?, secret(auth).ok_or(Wrong::Auth)?);
        PublicKey::from_sec1_bytes(&p256dh).map_err(|_| Wrong::Point)?;
        Ok(Self { endpoint, p256dh, auth })
    }

    /// A stored subscription; `None` when it would no longer be accepted.
    pub fn stored(endpoint: &str, p256dh: &[u8], auth: &[u8], more: &[String]) -> Option<(Endpoint, PublicKey, Auth)> {
        let auth: [u8; AUTH_BYTES] = auth.try_into().ok()?;
        Some((Endpoint::parse(endpoint, more)?, PublicKey::from_sec1_bytes(p256dh).ok()?, auth.into()))
    }
}

/// A browser's public key, as JavaScript writes it.
pub fn key(text: &str) -> Option<[u8; KEY_BYTES]> {
    let bytes: [u8; KEY_BYTES] = B64.decode(text).ok()?.try_into().ok()?;
    (bytes[0] == 4).then_some(bytes)
}

/// A browser's shared secret, as JavaScript writes it.
pub fn secret(text: &str) -> Option<[u8; AUTH_BYTES]> {
    B64.decode(text).ok()?.try_into().ok()
}

/// The subscriber: a customer, by one login.
#[derive(Debug, Clone, Copy)]
pub struct Subscriber {
    pub id_customer_global: CustomerId,
    pub token_version: i32,
    /// Identifies the token, as in `ended_token`, and its expiry.
    pub token: [u8; 16],
    pub expires_at: Timestamp,
}

/// A concurrent logout or password change waits for this lock, or its result is seen. Purchases do not wait: they lock only the row's
/// key.
const LOCK: &str = "SELECT FROM customer_global WHERE id = $1 FOR NO KEY UPDATE";
const IS_IN: &str = "
SELECT FROM customer_global WHERE id = $1 AND token_version = $2
    AND NOT EXISTS (SELECT FROM ended_token WHERE id_customer_global = $1 AND token = $3)";
/// The row may have belonged to another customer. What is queued for that one is then not sent to this browser (`queue::CLAIM`). A subscription
/// that the app sends again keeps the number of the key that it was made with.
const ADD: &str = "
INSERT INTO langganan_push (id_customer_global, endpoint, p256dh, auth, token, expires_at, subscribed_at, kid) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (endpoint) DO UPDATE SET id_customer_global = EXCLUDED.id_customer_global, p256dh = EXCLUDED.p256dh, auth = EXCLUDED.auth,
    token = EXCLUDED.token, expires_at = EXCLUDED.expires_at, subscribed_at = EXCLUDED.subscribed_at,
    kid = CASE WHEN (langganan_push.p256dh, langganan_push.auth) = (EXCLUDED.p256dh, EXCLUDED.auth) THEN langganan_push.kid ELSE EXCLUDED.kid END";
const TRIM: &str = "
DELETE FROM langganan_push WHERE id IN (
    SELECT id FROM langganan_push WHERE id_customer_global = $1 ORDER BY subscribed_at DESC, id DESC OFFSET $2)";

/// Subscribes a browser, which has the server's key of this number, also when it had another owner. `false` when the login has ended.
///
/// # Errors
/// When the database does not answer.
pub async fn add(
    client: &mut DbClient,
    by: Subscriber,
    (new, kid): (&Subscription, Kid),
    now: Timestamp,
) -> Result<bool, DbError> {
    let tx = client.transaction().await?;
    let (id, token) = (by.id_customer_global, by.token.as_slice());
    tx.execute(&tx.prepare_cached(LOCK).await?, &[&id]).await?;
    let is_in = tx.query_opt(&tx.prepare_cached(IS_IN).await?, &[&id, &by.token_version, &token]).await?;
    if is_in.is_none() {
        return Ok(false);
    }
    let (endpoint, key, auth) = (new.endpoint.as_str(), new.p256dh.as_slice(), new.auth.as_slice());
    tx.execute(&tx.prepare_cached(ADD).await?, &[&id, &endpoint, &key, &auth, &token, &by.expires_at, &now, &kid.get()]).await?;
    tx.execute(&tx.prepare_cached(TRIM).await?, &[&id, &MAX_PER_CUSTOMER]).await?;
    tx.commit().await?;
    Ok(true)
}

/// Ends a customer's own subscription. Another customer's subscription, or a missing one, changes nothing.
///
/// # Errors
/// When the database does not answer.
pub async fn remove(client: &DbClient, id_customer_global: CustomerId, endpoint: &Endpoint) -> Result<(), DbError> {
    let stmt = client.prepare_cached("DELETE FROM langganan_push WHERE id_customer_global = $1 AND endpoint = $2").await?;
    client.execute(&stmt, &[&id_customer_global, &endpoint.as_str()]).await?;
    Ok(())
}

/// Ends the subscriptions of one login, in the transaction that ends the login.
///
/// # Errors
/// When the database does not answer.
pub async fn end_login(tx: &Transaction<'_>, id_customer_global: CustomerId, token: &[u8]) -> Result<(), DbError> {
    tx.execute(&tx.prepare_cached(LOCK).await?, &[&id_customer_global]).await?;
    let stmt = tx.prepare_cached("DELETE FROM langganan_push WHERE id_customer_global = $1 AND token = $2").await?;
    tx.execute(&stmt, &[&id_customer_global, &token]).await?;
    Ok(())
}

/// Ends all of a customer's subscriptions, in a transaction that has raised the version of the customer's tokens.
///
/// # Errors
/// When the database does not answer.
pub async fn end_all(tx: &Transaction<'_>, id_customer_global: CustomerId) -> Result<(), DbError> {
    let stmt = tx.prepare_cached("DELETE FROM langganan_push WHERE id_customer_global = $1").await?;
    tx.execute(&stmt, &[&id_customer_global]).await?;
    Ok(())
}
