//! The keys in `<data>/secrets.toml`: tokens, codes and stickers live and die with them
//! (docs/decisions/0020-keys-lie-beside-the-data.md).

use std::fs::{File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as B64;
use hmac::{Hmac, Mac};
use p256::SecretKey;
use rand::RngCore;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

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

    /// Derives a separate key for `purpose`: what is signed with one key is invalid for the other.
    pub fn derive(&self, purpose: &str) -> Self {
        Self(self.mac(purpose.as_bytes()))
    }

    /// Derives a separate P-256 key for `purpose`.
    pub fn p256(&self, purpose: &str) -> SecretKey {
        let mut key = self.derive(purpose);
        loop {
            // All but one in 2^32 keys are a number below the curve's order; the next one derived is.
            match SecretKey::from_slice(key.bytes()) {
                Ok(secret) => return secret,
                Err(_) => key = key.derive(purpose),
            }
        }
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
        "others on this machine can read {path}, and that cannot be mended ({why}); close it with `chmod 600 {path}` as its owner"
    )]
    Open { path: String, why: String },
    #[error("{path} cannot be read: {why}")]
    Unreadable { path: String, why: String },
    #[error("{path} cannot be written: {why}")]
    Unwritten { path: String, why: String },
}

impl Secrets {
    /// Reads the file; `None` when it is missing. A file that other users can read, such as a restored copy, is closed to them.
    pub fn load(data_dir: &Path) -> Result<Option<Self>, SecretsError> {
        let path = Self::file(data_dir);
        let unreadable = |why: String| SecretsError::Unreadable { path: path.display().to_string(), why };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(unreadable(e.to_string())),
        };
        close_to_others(&file, &path).map_err(|e| SecretsError::Open { path: path.display().to_string(), why: e.to_string() })?;
        let text = std::io::read_to_string(file).map_err(|e| unreadable(e.to_string()))?;
        toml::from_str(&text).map(Some).map_err(|e| unreadable(e.message().to_owned()))
    }

    pub fn file(data_dir: &Path) -> PathBuf {
        data_dir.join(FILE)
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

    /// Identifies these keys without revealing them.
    pub fn fingerprint(&self) -> [u8; 32] {
        let Self { kid, token, otp, qr_mesin, qr_pelanggan } = self;
        let keys = [token, otp, qr_mesin, qr_pelanggan];
        let sha = keys.iter().fold(Sha256::new_with_prefix("nyala secrets.toml"), |sha, key| sha.chain_update(key.bytes()));
        sha.chain_update(kid).finalize().into()
    }

    /// Names the installation in its cookies: all servers of a database have it, and a restored one keeps it, because it is the beginning of the
    /// fingerprint that is stored there.
    pub fn installation(&self) -> String {
        self.fingerprint()[..4].iter().map(|b| format!("{b:02x}")).collect()
    }

    /// Makes the file, 0600 and synced. Written beside and renamed, so that a crash leaves a whole file or none.
    pub fn write(&self, dir: &Path) -> Result<(), SecretsError> {
        let path = Self::file(dir);
        let unwritten = |why: String| SecretsError::Unwritten { path: path.display().to_string(), why };
        let text = toml::to_string(self).map_err(|e| unwritten(e.to_string()))?;
        let beside = path.with_extension("toml.new");
        let io = || -> std::io::Result<()> {
            std::fs::create_dir_all(dir)?;
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&beside, &path)?;
            File::open(dir)?.sync_all()
        };
        io().map_err(|e| unwritten(e.to_string()))
    }
}

/// Corrects the mode instead of refusing as ssh does: closing the file loses nothing, and refusing would keep outlets shut over a restored
/// copy. Only the operator can know whether it was read before, so it is logged.
fn close_to_others(file: &File, path: &Path) -> std::io::Result<()> {
    let open = |file: &File| Ok::<_, std::io::Error>(file.metadata()?.permissions().mode() & 0o077);
    let before = open(file)?;
    if before == 0 {
        return Ok(());
    }
    file.set_permissions(Permissions::from_mode(0o600))?;
    if open(file)? != 0 {
        return Err(std::io::Error::other("its file system keeps no permissions"));
    }
    tracing::warn!(
        "others on this machine could read {} (its mode had {before:03o} for group and others); it is closed now. If one of them is not trusted, \
         the keys in it are known",
        path.display()
    );
    Ok(())
}
