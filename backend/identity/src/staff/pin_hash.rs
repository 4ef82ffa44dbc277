//! PINs as they are stored: mixed with a key of the server's and hashed like passwords (docs/till.md).

use nyala_core::domain::pin::Pin;
use nyala_store::secrets::{Key, Secrets};

use super::error::StaffError;
use crate::auth::argon;

/// What PINs are mixed with before they are hashed: a million of them are nothing to whoever has the database alone.
pub fn pin_key(secrets: &Secrets) -> Key {
    secrets.otp.derive("pin")
}

/// What is hashed of a PIN: nothing that a table of a million PINs finds without the server's key.
pub(super) fn mixed(key: &Key, person: i64, pin: &Pin) -> String {
    let mac = key.mac(format!("{person}:{}", pin.as_str()).as_bytes());
    mac.iter().map(|b| format!("{b:02x}")).collect()
}

/// Somebody's PIN as it is stored.
#[derive(Debug)]
pub struct PinHash {
    pub person: i64,
    pub hash: String,
}

impl PinHash {
    /// For a program without a server: works on the calling thread.
    ///
    /// # Errors
    /// None that a PIN causes.
    pub fn here(secrets: &Secrets, person: i64, pin: &Pin) -> Result<Self, StaffError> {
        let hash = argon::hash_here(&mixed(&pin_key(secrets), person, pin)).map_err(|e| StaffError::broken(e.to_string()))?;
        Ok(Self { person, hash })
    }
}
