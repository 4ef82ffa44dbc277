//! The keys in `<data>/secrets.toml`: tokens, codes and stickers live and die with them (design: money, security).

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as B64;
use hmac::{Hmac, Mac};
use rand::RngCore;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

const FILE: &str = "secrets.toml";

/// Bytes of a key, base64 in the file, hidden from `Debug`.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    fn random() -> Self {
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

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secrets {
    /// The id that tokens and QRs made with these keys carry.
    pub kid: String,
    pub token: Key,
    pub otp: Key,
    pub qr_mesin: Key,
    pub qr_pelanggan: Key,
}

#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    #[error(
        "{path} is gone but the database has rows: every printed sticker and every token was made with its keys. Restore the file from a backup; none was made"
    )]
    Gone { path: String },
    #[error("{path} cannot be read: {why}")]
    Unreadable { path: String, why: String },
}

impl Secrets {
    /// Reads the file, or makes it (0600, synced) when this is the first start.
    pub fn load_or_create(data_dir: &Path, database_has_rows: bool) -> Result<Self, SecretsError> {
        let path = data_dir.join(FILE);
        let unreadable = |why: String| SecretsError::Unreadable { path: path.display().to_string(), why };
        match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|e| unreadable(e.message().to_owned())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && database_has_rows => {
                Err(SecretsError::Gone { path: path.display().to_string() })
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                let made = Self::random();
                made.write(data_dir, &path).map_err(unreadable)?;
                Ok(made)
            }
            Err(e) => Err(unreadable(e.to_string())),
        }
    }

    pub fn random() -> Self {
        Self {
            kid: "1".to_owned(),
            token: Key::random(),
            otp: Key::random(),
            qr_mesin: Key::random(),
            qr_pelanggan: Key::random(),
        }
    }

    /// Written beside and renamed, so that a crash leaves a whole file or none.
    fn write(&self, dir: &Path, path: &Path) -> Result<(), String> {
        let text = toml::to_string(self).map_err(|e| e.to_string())?;
        let beside = path.with_extension("toml.new");
        let io = || -> std::io::Result<()> {
            std::fs::create_dir_all(dir)?;
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&beside, path)?;
            File::open(dir)?.sync_all()
        };
        io().map_err(|e| e.to_string())
    }
}
