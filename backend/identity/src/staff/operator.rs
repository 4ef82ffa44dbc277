//! Who calls the operators' side, and what that caller may do and see (docs/contract.md §4).

use deadpool_postgres::GenericClient;
use nyala_core::domain::role::Role;

use super::error::StaffError;
use super::key::KeyKind;

/// Who calls, with the limits of what it sees; `None` is no limit.
#[derive(Debug, Clone, Copy)]
pub struct Operator {
    /// The key's; a person at a till has one, too.
    pub id: i64,
    pub role: Role,
    pub idowner: Option<i64>,
    pub idoutlet: Option<i64>,
    /// Somebody who logged in with a PIN, and where.
    pub at: Option<AtTill>,
}

/// A session in a paired browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtTill {
    pub session: i64,
    pub browser: i64,
    /// The browser's outlet; `None` when it is a person's own.
    pub idoutlet: Option<i64>,
}

impl Operator {
    /// How the ledger and the audit log name this key.
    pub fn principal(&self) -> String {
        principal(self.id)
    }
}

/// How the ledger and the audit log name a key.
pub fn principal(id: i64) -> String {
    format!("operator:{id}")
}

/// Whose API key it is.
///
/// # Errors
/// `KeyUnauthorized` when it is none, a wrong one or a revoked one.
pub async fn by_key(client: &impl GenericClient, text: &str) -> Result<Operator, StaffError> {
    const FIND: &str = "SELECT role, idowner, idoutlet FROM kunci_operator WHERE id = $1 AND hash = $2 AND revoked_at IS NULL";
    let (id, hash) = KeyKind::Api.read(text).ok_or(StaffError::KeyUnauthorized)?;
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_opt(&stmt, &[&id, &hash]).await?.ok_or(StaffError::KeyUnauthorized)?;
    Ok(Operator { id, role: role(row.get(0))?, idowner: row.get(1), idoutlet: row.get(2), at: None })
}

pub(super) fn role(stored: &str) -> Result<Role, StaffError> {
    stored.parse().map_err(|e: String| StaffError::broken(e))
}
