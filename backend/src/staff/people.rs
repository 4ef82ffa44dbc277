//! The people themselves: made with a first PIN, locked, opened, sent away. Each is an operator's key whose secret nobody has, so that
//! roles, scope, ledger and audit know them as they know a key.

use deadpool_postgres::{GenericClient, Transaction};
use serde::Serialize;

use super::error::StaffError;
use super::{key, login};
use crate::domain::pin::Pin;
use crate::domain::role::Role;
use crate::domain::timestamp::Timestamp;
use crate::secrets::Secrets;

/// Where somebody works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorksFor {
    Outlet(i64),
    Owner(i64),
}

/// A person who was made, and the first PIN, told once.
#[derive(Debug, Serialize)]
pub struct Hired {
    pub id: i64,
    pub pin_awal: String,
}

/// Makes a person with `pin`, which has to be changed at the first login unless `is_own`.
///
/// # Errors
/// When the database does not answer.
pub async fn hire(
    tx: &Transaction<'_>,
    secrets: &Secrets,
    (name, role, works_for): (&str, Role, WorksFor),
    (pin, is_own): (&Pin, bool),
    now: Timestamp,
) -> Result<i64, StaffError> {
    const KEY: &str = "
        INSERT INTO kunci_operator (role, idowner, idoutlet, nama, hash, created_at) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";
    const PERSON: &str = "
        INSERT INTO petugas (id_kunci, pin_hash, pin_awal_sampai, dihitung_sejak, created_at) VALUES ($1, $2, $3, $4, $4)";
    let (idowner, idoutlet) = match works_for {
        WorksFor::Owner(id) => (Some(id), None),
        WorksFor::Outlet(id) => (None, Some(id)),
    };
    // Its secret is forgotten here: nobody calls with it.
    let (_, hash) = key::generate();
    let id: i64 = tx.query_one(KEY, &[&role.as_str(), &idowner, &idoutlet, &name, &hash, &now]).await?.get(0);
    let first_until = (!is_own).then(|| now.plus_ms(login::FIRST_PIN_LIFE_MS));
    tx.execute(PERSON, &[&id, &login::hash_here(secrets, id, pin)?, &first_until, &now]).await?;
    Ok(id)
}

/// Gives a person a first PIN anew, opens the lock, and ends every session.
///
/// # Errors
/// `Unknown` when there is no such person.
pub async fn reset_pin(tx: &Transaction<'_>, secrets: &Secrets, id: i64, now: Timestamp) -> Result<Hired, StaffError> {
    const RESET: &str = "
        UPDATE petugas SET pin_hash = $2, pin_awal_sampai = $3, dikunci_at = NULL, dihitung_sejak = $4 WHERE id_kunci = $1";
    let pin = Pin::random();
    let until = now.plus_ms(login::FIRST_PIN_LIFE_MS);
    if tx.execute(RESET, &[&id, &login::hash_here(secrets, id, &pin)?, &until, &now]).await? == 0 {
        return Err(StaffError::Unknown);
    }
    end_sessions(tx, id, now).await?;
    Ok(Hired { id, pin_awal: pin.as_str().to_owned() })
}

/// Lets a person try again whose PIN was wrong too often.
///
/// # Errors
/// `Unknown` when there is no such person.
pub async fn open_lock(tx: &Transaction<'_>, id: i64, now: Timestamp) -> Result<(), StaffError> {
    const OPEN: &str = "UPDATE petugas SET dikunci_at = NULL, dihitung_sejak = $2 WHERE id_kunci = $1";
    if tx.execute(OPEN, &[&id, &now]).await? == 0 { Err(StaffError::Unknown) } else { Ok(()) }
}

/// Ends every session of a person.
///
/// # Errors
/// When the database does not answer.
pub async fn end_sessions(client: &impl GenericClient, id: i64, now: Timestamp) -> Result<(), StaffError> {
    const END: &str = "UPDATE sesi_petugas SET keluar_at = $2 WHERE id_kunci = $1 AND keluar_at IS NULL";
    client.execute(END, &[&id, &now]).await?;
    Ok(())
}
