//! Caller of the operators' API, with its rights and its scope (docs/contract.md §4).

use deadpool_postgres::GenericClient;
use nyala_core::domain::id::{OutletId, StaffId, TillId, TillSessionId};
use nyala_core::domain::role::Role;
use nyala_core::domain::scope::Scope;

use super::error::StaffError;
use super::key::KeyKind;

/// The caller.
#[derive(Debug, Clone, Copy)]
pub struct Operator {
    pub id: StaffId,
    pub role: Role,
    pub scope: Scope,
    /// The till session, for a person who logged in with a PIN.
    pub at: Option<AtTill>,
}

/// A till session in a paired browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtTill {
    pub session: TillSessionId,
    pub browser: TillId,
    /// The browser's outlet; `None` for a person's own browser.
    pub idoutlet: Option<OutletId>,
}

impl Operator {
    /// Name of this key in the ledger and the audit log.
    pub fn principal(&self) -> String {
        principal(self.id)
    }
}

/// Name of a key in the ledger and the audit log.
pub fn principal(id: StaffId) -> String {
    format!("operator:{id}")
}

/// The key of a name in the ledger and the audit log; `None` for the server and for commands.
pub fn of_principal(name: &str) -> Option<StaffId> {
    name.strip_prefix("operator:").and_then(StaffId::parse)
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
    let scope = Scope { owner: row.get(1), outlet: row.get(2) };
    Ok(Operator { id: StaffId::new(id), role: role(row.get(0))?, scope, at: None })
}

/// The operator of a person's browser, by the person's id.
///
/// # Errors
/// `KeyUnauthorized` when the person does not work here any more.
pub async fn by_id(client: &impl GenericClient, id: StaffId) -> Result<Operator, StaffError> {
    const FIND: &str = "SELECT role, idowner, idoutlet FROM kunci_operator WHERE id = $1 AND revoked_at IS NULL";
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_opt(&stmt, &[&id]).await?.ok_or(StaffError::KeyUnauthorized)?;
    let scope = Scope { owner: row.get(1), outlet: row.get(2) };
    Ok(Operator { id, role: role(row.get(0))?, scope, at: None })
}

pub(super) fn role(stored: &str) -> Result<Role, StaffError> {
    stored.parse().map_err(|e: String| StaffError::broken(e))
}
