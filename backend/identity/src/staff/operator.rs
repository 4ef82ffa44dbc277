//! Caller of the operators' API, with its rights and its scope (docs/contract.md §4).

use deadpool_postgres::GenericClient;
use nyala_core::domain::role::Role;

use super::error::StaffError;
use super::key::KeyKind;

/// The caller, with its scope; `None` is unlimited.
#[derive(Debug, Clone, Copy)]
pub struct Operator {
    /// Id of the key; a person at a till has one, too.
    pub id: i64,
    pub role: Role,
    pub idowner: Option<i64>,
    pub idoutlet: Option<i64>,
    /// The till session, for a person who logged in with a PIN.
    pub at: Option<AtTill>,
}

/// A till session in a paired browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtTill {
    pub session: i64,
    pub browser: i64,
    /// The browser's outlet; `None` for a person's own browser.
    pub idoutlet: Option<i64>,
}

impl Operator {
    /// Name of this key in the ledger and the audit log.
    pub fn principal(&self) -> String {
        principal(self.id)
    }
}

/// Name of a key in the ledger and the audit log.
pub fn principal(id: i64) -> String {
    format!("operator:{id}")
}

/// The operator of an API key.
///
/// # Errors
/// `KeyUnauthorized` when the text is not a key, or the key is wrong or revoked.
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
