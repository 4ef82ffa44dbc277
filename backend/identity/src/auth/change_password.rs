//! Password change; it ends every older token (docs/contract.md §1).

use std::sync::Arc;

use nyala_core::domain::id::CustomerId;
use nyala_core::domain::telp::Telp;

use super::Auth;
use super::code_try::{self, RightCode};
use super::error::AuthError;
use crate::push::subscription;

/// A password change that a code allows.
pub struct PasswordChange {
    pub code: RightCode,
    pub telp: Telp,
    /// The new password's hash.
    pub hash: String,
    /// The hash that must still be the current one, when the old password was asked for.
    pub old_hash: Option<String>,
}

/// Uses up the code and stores the new password, both or neither. Returns the customer's id and new token version. `Ok(None)`: the
/// number does not exist, or the old password is no longer the current one; nothing was changed.
///
/// Runs to its end even when the caller disconnects, so that open sessions are always notified of a committed change.
///
/// # Errors
/// `OtpInvalid` when another request used the code first.
pub async fn change_password(auth: &Arc<Auth>, change: PasswordChange) -> Result<Option<(CustomerId, i32)>, AuthError> {
    let auth = auth.clone();
    actix_web::rt::spawn(async move { commit(&auth, &change).await }).await.map_err(AuthError::broken)?
}

async fn commit(auth: &Auth, change: &PasswordChange) -> Result<Option<(CustomerId, i32)>, AuthError> {
    let now = auth.store.now();
    let mut client = auth.store.get().await?;
    let tx = client.transaction().await?;
    code_try::consume(&tx, &change.code, now).await?;
    let stmt = tx
        .prepare_cached(
            "UPDATE customer_global SET password_hash = $2, token_version = token_version + 1, updated_at = $3
             WHERE telp = $1 AND ($4::TEXT IS NULL OR password_hash = $4) RETURNING id, token_version",
        )
        .await?;
    let Some(row) = tx.query_opt(&stmt, &[&change.telp.as_str(), &change.hash, &now, &change.old_hash]).await? else {
        return Ok(None);
    };
    let (id, version) = (row.try_get(0)?, row.try_get(1)?);
    subscription::end_all(&tx, id).await?;
    tx.commit().await?;
    auth.versions.changed(id, version, now);
    auth.login_limits.forget(&change.telp);
    Ok(Some((id, version)))
}
