//! Stored form of PINs: mixed with a key of the server and hashed like passwords (docs/till.md). Without the key, an attacker with only the
//! database could try all million PINs.

use nyala_core::domain::id::StaffId;
use nyala_core::domain::pin::Pin;
use nyala_store::secrets::{Key, Kid, Secrets};

use super::error::StaffError;
use crate::auth::argon;

/// The input of a PIN's hash. A table of all million PINs does not help without the server's key.
pub fn mixed(key: &Key, person: StaffId, pin: &Pin) -> String {
    let mac = key.mac(format!("{person}:{}", pin.as_str()).as_bytes());
    mac.iter().map(|b| format!("{b:02x}")).collect()
}

/// The stored form of a hash (a PHC string) of a PIN that was mixed with the key `kid`. The number is in front of it; a hash without a
/// number is of the first key.
pub(super) fn stored(kid: Kid, phc: &str) -> String {
    if kid == Kid::FIRST { phc.to_owned() } else { format!("{kid}{phc}") }
}

/// The key's number and the hash of a stored form.
pub(super) fn parse(stored: &str) -> Option<(Kid, &str)> {
    let (kid, phc) = stored.split_at(stored.find('$')?);
    Some((if kid.is_empty() { Kid::FIRST } else { kid.parse().ok()? }, phc))
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
        let good = secrets.pins.in_use();
        let phc = argon::hash_here(&mixed(&good.key, person, pin)).map_err(|e| StaffError::broken(e.to_string()))?;
        Ok(Self { person, hash: stored(good.kid, &phc) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_hash_names_its_key() {
        let second = "2".parse().unwrap();
        for (kid, text) in [(Kid::FIRST, "$argon2id$v=19$x"), (second, "2$argon2id$v=19$x")] {
            assert_eq!(stored(kid, "$argon2id$v=19$x"), text);
            assert_eq!(parse(text), Some((kid, "$argon2id$v=19$x")));
        }
        assert_eq!((parse("none"), parse("x$argon2id")), (None, None));
    }
}
