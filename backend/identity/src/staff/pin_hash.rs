//! Stored form of PINs: mixed with a key of the server and hashed like passwords (docs/till.md).

use nyala_core::domain::id::StaffId;
use nyala_core::domain::pin::Pin;
use nyala_store::secrets::{Key, Secrets};

use super::error::StaffError;
use crate::auth::argon;

/// The key that PINs are mixed with before they are hashed. Without it, an attacker with only the database could try all million PINs.
pub fn pin_key(secrets: &Secrets) -> Key {
    secrets.otp.derive("pin")
}

/// The input of a PIN's hash. A table of all million PINs does not help without the server's key.
pub(super) fn mixed(key: &Key, person: StaffId, pin: &Pin) -> String {
    let mac = key.mac(format!("{person}:{}", pin.as_str()).as_bytes());
    mac.iter().map(|b| format!("{b:02x}")).collect()
}

/// A person's PIN in its stored form.
#[derive(Debug)]
pub struct PinHash {
    pub person: StaffId,
    pub hash: String,
}

impl PinHash {
    /// For a program without a server: works on the calling thread.
    ///
    /// # Errors
    /// Never because of a PIN.
    pub fn here(secrets: &Secrets, person: StaffId, pin: &Pin) -> Result<Self, StaffError> {
        let hash = argon::hash_here(&mixed(&pin_key(secrets), person, pin)).map_err(|e| StaffError::broken(e.to_string()))?;
        Ok(Self { person, hash })
    }
}
