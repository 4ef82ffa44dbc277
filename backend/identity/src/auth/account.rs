//! Which numbers have an account.

use nyala_core::domain::address::Address;
use nyala_core::domain::telp::Telp;

use super::Auth;
use super::error::AuthError;

/// Returns whether `telp` has an account. An answer that `reveals` it costs `address` one attempt. The attempt is taken before the
/// lookup, so that parallel requests learn no more than sequential ones.
///
/// # Errors
/// `TooMany` when the address has no attempt left; an error when the database does not answer.
pub async fn registered(auth: &Auth, telp: &Telp, address: Address, reveals: bool) -> Result<bool, AuthError> {
    let limits = &auth.login_limits;
    limits.take(address, auth.store.now())?;
    let found = is_registered(auth, telp).await;
    if !matches!(found, Ok(found) if found == reveals) {
        limits.refund_take(address);
    }
    found
}

async fn is_registered(auth: &Auth, telp: &Telp) -> Result<bool, AuthError> {
    let client = auth.store.get().await?;
    let stmt = client.prepare_cached("SELECT FROM customer_global WHERE telp = $1").await?;
    Ok(client.query_opt(&stmt, &[&telp.as_str()]).await?.is_some())
}
