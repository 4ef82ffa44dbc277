//! Requester of a call, as the limits see it.

use nyala_core::domain::address::Address;
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::telp::Telp;

use super::Auth;
use super::error::AuthError;
use super::known_phone::KnownPhone;
use super::lane::Lane;

/// Where a request came from.
#[derive(Debug, Clone, Copy)]
pub struct Requester {
    pub address: Address,
    /// The phone, known by its cookie. `known_as` checks whether the cookie matches the current password.
    pub phone: Option<KnownPhone>,
}

impl Requester {
    /// The phone, when customer `id` has logged in on it since the token version is `version`.
    pub fn known_as(&self, id: CustomerId, version: i32) -> Option<KnownPhone> {
        self.phone.filter(|phone| phone.customer == id && phone.version == version)
    }

    /// As [`Requester::known_as`], for the account of `telp`, if it has one. Looks up the phone's customer and never the number, so that
    /// it does not reveal whether another number has an account.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn known_by_number(&self, auth: &Auth, telp: &Telp) -> Result<Option<KnownPhone>, AuthError> {
        let Some(phone) = self.phone else { return Ok(None) };
        let client = auth.store.get().await?;
        let stmt = client.prepare_cached("SELECT telp, token_version FROM customer_global WHERE id = $1").await?;
        let Some(row) = client.query_opt(&stmt, &[&phone.customer]).await? else { return Ok(None) };
        let own = row.try_get::<_, &str>(0)? == telp.as_str();
        Ok(self.known_as(phone.customer, row.try_get(1)?).filter(|_| own))
    }

    /// The lane in which the requester's passwords wait: neighbours behind one address do not delay a known phone. `known_as` is the
    /// result of [`Requester::known_as`]. A cookie alone may be of any account, or of a phone that the customer wants to exclude.
    pub fn lane(&self, known_as: Option<KnownPhone>) -> Lane {
        known_as.map_or(Lane::Address(self.address), |phone| Lane::Customer(phone.customer, self.address))
    }
}
