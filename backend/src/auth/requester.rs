//! Who asks, as far as limits care.

use super::Auth;
use super::account::registered;
use super::error::AuthError;
use super::known_phone::KnownPhone;
use super::line::Line;
use crate::domain::address::Address;
use crate::domain::telp::Telp;

/// Where a request came from.
#[derive(Debug, Clone, Copy)]
pub struct Requester {
    pub address: Address,
    /// The phone is known by its cookie; of which customer's present password is for `known_as` to say.
    pub phone: Option<KnownPhone>,
}

impl Requester {
    /// The phone, when customer `id` has logged in on it since the token version is `version`.
    pub fn known_as(&self, id: i64, version: i32) -> Option<KnownPhone> {
        self.phone.filter(|phone| phone.customer == id && phone.version == version)
    }

    /// As [`Requester::known_as`], of the account that `telp` has, if any.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn known_by_number(&self, auth: &Auth, telp: &Telp) -> Result<Option<KnownPhone>, AuthError> {
        if self.phone.is_none() {
            return Ok(None);
        }
        let account = registered(auth, telp).await?;
        Ok(account.and_then(|(id, version)| self.known_as(id, version)))
    }

    /// The line in which the requester's passwords wait: neighbours behind one address do not keep a known phone waiting. `known_as`
    /// is what [`Requester::known_as`] said; a cookie alone may be of any account, or of a phone that the customer wants out.
    pub fn line(&self, known_as: Option<KnownPhone>) -> Line {
        known_as.map_or(Line::Address(self.address), |phone| Line::Customer(phone.customer, self.address))
    }
}
