//! Bytes of a key, and what is made with them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as B64;
use hmac::{Hmac, Mac};
use p256::SecretKey;
use rand::RngCore;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// Bytes of a key, base64 in the file, hidden from `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl Key {
    pub(super) fn random() -> Self {
        let mut bytes = [0; 32];
        rand::rng().fill_bytes(&mut bytes);
        Self(bytes)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// HMAC-SHA256 of `message`.
    pub fn mac(&self, message: &[u8]) -> [u8; 32] {
        self.hmac(message).finalize().into_bytes().into()
    }

    /// Derives a separate key for `purpose`: what is signed with one key is invalid for the other.
    pub fn derive(&self, purpose: &str) -> Self {
        Self(self.mac(purpose.as_bytes()))
    }

    /// Derives a separate private key on P-256 for `purpose`.
    pub(super) fn derive_p256(&self, purpose: &str) -> Self {
        let mut key = self.derive(purpose);
        // All but one in 2^32 keys are a number below the curve's order; the next one derived is.
        while key.p256().is_none() {
            key = key.derive(purpose);
        }
        key
    }

    /// A new private key on P-256.
    pub(super) fn random_p256() -> Self {
        Self::random().derive_p256("")
    }

    /// These bytes as a private key on P-256; `None` when they are not a valid one.
    pub fn p256(&self) -> Option<SecretKey> {
        SecretKey::from_slice(&self.0).ok()
    }

    /// Compares in constant time; `tag` may be the left part of the MAC.
    pub fn verifies(&self, message: &[u8], tag: &[u8]) -> bool {
        tag.len() >= 16 && self.hmac(message).verify_truncated_left(tag).is_ok()
    }

    fn hmac(&self, message: &[u8]) -> Hmac<Sha256> {
        // HMAC takes a key of any length, so the zero-length fallback is never used.
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).unwrap_or_else(|_| Hmac::new(&hmac::digest::Key::<Hmac<Sha256>>::default()));
        mac.update(message);
        mac
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

impl Serialize for Key {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&B64.encode(self.0))
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let bytes = B64.decode(text).map_err(|_| serde::de::Error::custom("a key must be base64"))?;
        bytes.try_into().map(Self).map_err(|_| serde::de::Error::custom("a key must have 32 bytes"))
    }
}
