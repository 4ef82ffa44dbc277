//! Checks of device keys, for many logins in one statement, and the keys that were revoked.

use std::collections::HashMap;

use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::domain::id::{DeviceKeyId, MachineId, OutletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::error::DbError;

use super::keys::{By, KeyError, end};

/// Claim of a device: its user name, and the hash of its password ([`super::keys::hash`]).
#[derive(Debug, Clone)]
pub struct Claim {
    pub idmesin: MachineId,
    pub hash: Vec<u8>,
}

/// A valid key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceKey {
    pub id: DeviceKeyId,
    pub idmesin: MachineId,
    pub idoutlet: OutletId,
    /// The key was never used: [`first_used`] must record its first use.
    pub first_use: bool,
}

/// Returns the key of each claim, in their order; `None` for a wrong secret, a revoked key and a key of another machine.
///
/// # Errors
/// When the database does not answer.
pub async fn check(client: &impl GenericClient, claims: &[Claim]) -> Result<Vec<Option<DeviceKey>>, DbError> {
    const COUNTING: &str = "
        SELECT k.hash, k.id, k.idmesin, m.idoutlet, k.first_used_at IS NULL FROM device_key k JOIN mesin m USING (idmesin)
        WHERE k.hash = ANY($1) AND k.revoked_at IS NULL AND m.driver = 'mqtt'";
    let hashes: Vec<&[u8]> = claims.iter().map(|claim| claim.hash.as_slice()).collect();
    let stmt = client.prepare_cached(COUNTING).await?;
    let rows = client.query(&stmt, &[&hashes]).await?;
    let found: HashMap<Vec<u8>, DeviceKey> = rows
        .iter()
        .map(|row| {
            let key = DeviceKey { id: row.get(1), idmesin: row.get(2), idoutlet: row.get(3), first_use: row.get(4) };
            (row.get(0), key)
        })
        .collect();
    Ok(claims.iter().map(|claim| found.get(&claim.hash).copied().filter(|key| key.idmesin == claim.idmesin)).collect())
}

/// Records the first login with these keys: every older key of their machines ends. Returns the keys for which that is written. The
/// machines of the others are locked by another transaction; a later login repeats the attempt.
///
/// # Errors
/// When the database does not answer.
pub async fn first_used(tx: &Transaction<'_>, keys: &[DeviceKeyId], now: Timestamp) -> Result<Vec<DeviceKeyId>, KeyError> {
    // Machines are locked in the same order everywhere, and before the keys are read.
    const LOCK: &str = "
        SELECT k.id FROM mesin m JOIN device_key k USING (idmesin)
        WHERE k.id = ANY($1) ORDER BY m.idmesin FOR NO KEY UPDATE OF m SKIP LOCKED";
    const USED: &str = "
        UPDATE device_key SET first_used_at = $2 WHERE id = ANY($1) AND first_used_at IS NULL AND revoked_at IS NULL";
    const BEFORE: &str = "
        SELECT k.id FROM device_key k JOIN device_key next ON next.idmesin = k.idmesin AND next.id > k.id
        WHERE next.id = ANY($1) AND next.first_used_at IS NOT NULL AND next.revoked_at IS NULL AND k.revoked_at IS NULL";
    let free: Vec<DeviceKeyId> = tx.query(LOCK, &[&keys]).await?.iter().map(|row| row.get(0)).collect();
    tx.execute(USED, &[&free, &now]).await?;
    let before: Vec<DeviceKeyId> = tx.query(BEFORE, &[&free]).await?.iter().map(|row| row.get(0)).collect();
    end(tx, &before, "kunci berikutnya sudah dipakai", By { principal: "sistem", now }).await?;
    Ok(free)
}

/// Transaction up to which revocations were read. A time is not suitable: another process revokes, by its own clock, and commits later than it
/// has read that clock.
#[derive(Debug, Clone)]
pub struct Revocations(String);

impl Revocations {
    /// Position from now on; taken before the first login is checked.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn begin(client: &impl GenericClient) -> Result<Self, DbError> {
        let row = client.query_one("SELECT pg_snapshot_xmin(pg_current_snapshot())::TEXT", &[]).await?;
        Ok(Self(row.get(0)))
    }

    /// Returns the keys that were revoked since the previous call. A key may be returned twice while an older transaction is open; none
    /// is left out. The caller must also compare sessions that begin later with the answer, because a login may have been checked before this
    /// call.
    ///
    /// # Errors
    /// When the database does not answer; the next call returns what this one did not.
    pub async fn next(&mut self, client: &impl GenericClient) -> Result<Vec<DeviceKeyId>, DbError> {
        // The upper bound excludes transaction ids that a dump has brought from a server whose counter was further ahead.
        const SINCE: &str = "
            SELECT pg_snapshot_xmin(pg_current_snapshot())::TEXT, ARRAY(
                SELECT id FROM device_key WHERE revoked_tx >= $1::TEXT::XID8 AND revoked_tx < pg_snapshot_xmax(pg_current_snapshot()))";
        let stmt = client.prepare_cached(SINCE).await?;
        let row = client.query_one(&stmt, &[&self.0]).await?;
        self.0 = row.get(0);
        Ok(row.get(1))
    }
}
