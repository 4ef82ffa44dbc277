//! Browsers of staff that receive alerts: a person's own, one subscription for each, until it is paired again.

use nyala_core::domain::id::{StaffId, TillId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use nyala_store::secrets::Kid;

use super::endpoint::Endpoint;
use super::subscription::Subscription;

/// A person in their own browser.
#[derive(Debug, Clone, Copy)]
pub struct StaffBrowser {
    pub person: StaffId,
    pub browser: TillId,
}

/// A browser that was paired again has another id and may keep its endpoint.
const MOVED: &str = "DELETE FROM langganan_petugas WHERE endpoint = $2 AND id_perangkat <> $1";
const ADD: &str = "
INSERT INTO langganan_petugas AS l (id_perangkat, endpoint, id_kunci, token_hash, p256dh, auth, kid, subscribed_at)
SELECT $1::BIGINT, $2, $3::BIGINT, token_hash, $4::BYTEA, $5::BYTEA, $6::INT, $7::TIMESTAMPTZ FROM perangkat WHERE id = $1 AND token_hash IS NOT NULL
ON CONFLICT (id_perangkat) DO UPDATE SET endpoint = EXCLUDED.endpoint, id_kunci = EXCLUDED.id_kunci, token_hash = EXCLUDED.token_hash,
    p256dh = EXCLUDED.p256dh, auth = EXCLUDED.auth, subscribed_at = EXCLUDED.subscribed_at,
    kid = CASE WHEN (l.p256dh, l.auth) = (EXCLUDED.p256dh, EXCLUDED.auth) THEN l.kid ELSE EXCLUDED.kid END";

/// Subscribes a browser, which has the server's key of this number. Sent again, it keeps the key that it was made with.
///
/// # Errors
/// When the database does not answer.
pub async fn add(
    client: &mut DbClient,
    of: StaffBrowser,
    (new, kid): (&Subscription, Kid),
    now: Timestamp,
) -> Result<(), DbError> {
    let (endpoint, key, auth) = (new.endpoint.as_str(), new.p256dh.as_slice(), new.auth.as_slice());
    let tx = client.transaction().await?;
    tx.execute(&tx.prepare_cached(MOVED).await?, &[&of.browser, &endpoint]).await?;
    let stmt = tx.prepare_cached(ADD).await?;
    tx.execute(&stmt, &[&of.browser, &endpoint, &of.person, &key, &auth, &kid.get(), &now]).await?;
    tx.commit().await?;
    Ok(())
}

/// Ends a browser's subscription. A missing one changes nothing.
///
/// # Errors
/// When the database does not answer.
pub async fn remove(client: &DbClient, of: StaffBrowser, endpoint: &Endpoint) -> Result<(), DbError> {
    let stmt = client.prepare_cached("DELETE FROM langganan_petugas WHERE id_perangkat = $1 AND endpoint = $2").await?;
    client.execute(&stmt, &[&of.browser, &endpoint.as_str()]).await?;
    Ok(())
}
