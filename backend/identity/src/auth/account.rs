//! Who has an account.

use nyala_core::domain::address::Address;
use nyala_core::domain::telp::Telp;

use super::Auth;
use super::error::AuthError;

/// Whether `telp` has an account, asked by `address`: an answer that `reveals` it costs a try, which is taken before the number is looked
/// up, so that many at once learn no more than one after the other.
///
/// # Errors
/// `TooMany` when the address has no try left; when the database does not answer.
pub async fn registered(auth: &Auth, telp: &Telp, address: Address, reveals: bool) -> Result<bool, AuthError> {
    let limits = &auth.login_limits;
    limits.take(address, auth.store.now())?;
    let found = is_registered(auth, telp).await;
    if !matches!(found, Ok(found) if found == reveals) {
        limits.give_back_try(address);
    }
    found
}

async fn is_registered(auth: &Auth, telp: &Telp) -> Result<bool, AuthError> {
    let client = auth.store.get().await?;
    let stmt = client.prepare_cached("SELECT FROM customer_global WHERE telp = $1").await?;
    Ok(client.query_opt(&stmt, &[&telp.as_str()]).await?.is_some())
}
