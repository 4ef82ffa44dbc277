//! Who has an account.

use super::Auth;
use super::error::AuthError;
use crate::domain::telp::Telp;

/// The id and the token version of `telp`'s account, when it has one.
///
/// # Errors
/// When the database does not answer.
pub async fn registered(auth: &Auth, telp: &Telp) -> Result<Option<(i64, i32)>, AuthError> {
    let client = auth.store.get().await?;
    let stmt = client.prepare_cached("SELECT id, token_version FROM customer_global WHERE telp = $1").await?;
    let row = client.query_opt(&stmt, &[&telp.as_str()]).await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
}
