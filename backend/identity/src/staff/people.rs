//! Staff records: created with a first PIN, locked, unlocked, dismissed. Each person has an operator's key whose secret is unknown, so
//! that roles, scope, ledger and audit treat people like keys.

use deadpool_postgres::{GenericClient, Transaction};
use nyala_cluster::membership;
use nyala_core::domain::id::{OutletId, OwnerId, StaffId};
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::db::error::DbError;
use nyala_store::db::migrate;
use serde_json::Value;

use super::error::StaffError;
use super::key;
use super::pin_hash::PinHash;

/// The migration with which programs began to know technicians.
const TECHNICIANS_SINCE: i32 = 20_270_111;
/// Validity of a first PIN.
const FIRST_PIN_VALID_MS: i64 = 24 * 60 * 60 * 1000;

/// Workplace of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorksFor {
    Outlet(OutletId),
    Owner(OwnerId),
}

impl WorksFor {
    /// The outlet, or the owner.
    pub const fn ids(self) -> (Option<OutletId>, Option<OwnerId>) {
        match self {
            Self::Outlet(id) => (Some(id), None),
            Self::Owner(id) => (None, Some(id)),
        }
    }
}

/// The id of a person who is created later: their PIN is hashed with it.
///
/// # Errors
/// When the database does not answer.
pub async fn next_id(client: &impl GenericClient) -> Result<StaffId, StaffError> {
    Ok(client.query_one("SELECT nextval(pg_get_serial_sequence('kunci_operator', 'id'))", &[]).await?.get(0))
}

/// Comes before a person or a key with a role is stored. A program of the previous release knows no technicians and cannot list them, so the first
/// is made only while no server of it is alive, and from then on none starts (docs/decisions/0024-migrations-under-an-advisory-lock.md).
///
/// # Errors
/// `DbError::Busy` while such a server is alive.
pub async fn refuse_older(tx: &Transaction<'_>, role: Role) -> Result<(), StaffError> {
    if role != Role::Technician {
        return Ok(());
    }
    if !membership::all_can_read(&**tx, TECHNICIANS_SINCE).await.map_err(StaffError::broken)? {
        return Err(StaffError::Db(DbError::Busy));
    }
    Ok(migrate::refuse_older(&**tx, TECHNICIANS_SINCE).await?)
}

/// Creates a person with a PIN. Unless `is_own`, it has to be changed at the first login.
///
/// # Errors
/// Those of [`refuse_older`].
pub async fn hire(
    tx: &Transaction<'_>,
    (name, role, works_for): (&str, Role, WorksFor),
    (pin, is_own): (&PinHash, bool),
    now: Timestamp,
) -> Result<(), StaffError> {
    const KEY: &str = "
        INSERT INTO kunci_operator (id, role, idowner, idoutlet, nama, hash, created_at) OVERRIDING SYSTEM VALUE
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    const PERSON: &str = "
        INSERT INTO petugas (id_kunci, pin_hash, pin_awal_sampai, dihitung_sejak, created_at) VALUES ($1, $2, $3, $4, $4)";
    refuse_older(tx, role).await?;
    let (idoutlet, idowner) = works_for.ids();
    // The secret is dropped here, so no call can use it.
    let (_, hash) = key::generate();
    tx.execute(KEY, &[&pin.person, &role.as_str(), &idowner, &idoutlet, &name, &hash, &now]).await?;
    let first_until = (!is_own).then(|| now.plus_ms(FIRST_PIN_VALID_MS));
    tx.execute(PERSON, &[&pin.person, &pin.hash, &first_until, &now]).await?;
    Ok(())
}

/// Sets a new first PIN for a person, unlocks them, and ends all their sessions.
///
/// # Errors
/// `Unknown` when there is no such person.
pub async fn reset_pin(tx: &Transaction<'_>, pin: &PinHash, now: Timestamp) -> Result<(), StaffError> {
    const RESET: &str = "
        UPDATE petugas SET pin_hash = $2, pin_awal_sampai = $3, dikunci_at = NULL, dihitung_sejak = $4 WHERE id_kunci = $1";
    let until = now.plus_ms(FIRST_PIN_VALID_MS);
    if tx.execute(RESET, &[&pin.person, &pin.hash, &until, &now]).await? == 0 {
        return Err(StaffError::Unknown);
    }
    end_sessions(tx, pin.person, now).await
}

/// Unlocks a person who entered too many wrong PINs.
///
/// # Errors
/// `Unknown` when there is no such person.
pub async fn open_lock(tx: &Transaction<'_>, id: StaffId, now: Timestamp) -> Result<(), StaffError> {
    const OPEN: &str = "UPDATE petugas SET dikunci_at = NULL, dihitung_sejak = $2 WHERE id_kunci = $1";
    if tx.execute(OPEN, &[&id, &now]).await? == 0 { Err(StaffError::Unknown) } else { Ok(()) }
}

/// Ends every session of a person.
///
/// # Errors
/// When the database does not answer.
pub async fn end_sessions(client: &impl GenericClient, id: StaffId, now: Timestamp) -> Result<(), StaffError> {
    const END: &str = "UPDATE sesi_petugas SET keluar_at = $2 WHERE id_kunci = $1 AND keluar_at IS NULL";
    client.execute(END, &[&id, &now]).await?;
    Ok(())
}

/// Writes the audit log's entry about a person.
///
/// # Errors
/// When the database does not answer.
pub async fn record(
    tx: &Transaction<'_>,
    principal: &str,
    action: &'static str,
    id: StaffId,
    content: Value,
    now: Timestamp,
) -> Result<(), StaffError> {
    let entry = AuditEntry { principal, action, object: format!("petugas:{id}"), content };
    let works_at = tx.query_one("SELECT idoutlet FROM kunci_operator WHERE id = $1", &[&id]).await?.get(0);
    Ok(audit::write_at(tx, works_at, &entry, now).await?)
}
