//! The keys in `<data>/secrets.toml`: tokens, codes and stickers live and die with them
//! (docs/decisions/0020-keys-lie-beside-the-data.md). Each purpose has a ring of good keys: the newest one signs, and what older ones
//! have signed is accepted until they are retired.

mod file;
mod key;
pub mod keyring;
pub mod ring;

use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nyala_core::domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use file::FirstKeys;
pub use key::Key;
pub use keyring::Keyring;
pub use ring::{GoodKey, Kid, Ring, What};
use ring::{KeyRing, Material};

use crate::files::write_whole;

const FILE: &str = "secrets.toml";
/// How long tokens of a replaced key are accepted, also where auth.token_days is more.
const TOKENS_GOOD_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// Identifies keys without revealing them; 64 hexadecimal digits in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    fn of<'a>(purpose: &str, keys: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self(keys.into_iter().fold(Sha256::new_with_prefix(purpose), |sha, key| sha.chain_update(key)).finalize().into())
    }

    pub const fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let digit = |at: usize| text.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
        let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(digit).collect();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok()).map(Self);
        bytes.ok_or_else(|| serde::de::Error::custom("`installation` must be 64 hexadecimal digits"))
    }
}

/// What signs for customers.
#[derive(Debug, Clone)]
pub struct CustomerKeys {
    /// Their tokens. Derived from it: cookies of known phones, tickets of the tills' sockets, tags of pushes.
    pub token: Key,
    /// Codes that WhatsApp sends.
    pub otp: Key,
    /// Their QR codes.
    pub qr_pelanggan: Key,
}

impl CustomerKeys {
    fn random() -> Self {
        Self { token: Key::random(), otp: Key::random(), qr_pelanggan: Key::random() }
    }
}

impl Material for CustomerKeys {
    fn material(&self) -> Vec<&[u8]> {
        vec![self.token.bytes(), self.otp.bytes(), self.qr_pelanggan.bytes()]
    }
}

impl Material for Key {
    fn material(&self) -> Vec<&[u8]> {
        vec![self.bytes()]
    }
}

/// The good keys of each purpose.
pub type GoodKids = BTreeMap<What, Vec<Kid>>;

#[derive(Debug, Clone)]
pub struct Secrets {
    /// Fingerprint of the first keys. It stays when they rotate, and names the installation.
    installation: Fingerprint,
    pub tokens: Ring<CustomerKeys>,
    pub stickers: Ring<Key>,
    /// Private keys on P-256.
    pub devices: Ring<Key>,
    /// Private keys on P-256.
    pub pushes: Ring<Key>,
    pub pins: Ring<Key>,
    /// The file's content until the first rotation.
    first: Option<FirstKeys>,
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

/// Why a key cannot be retired.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetireError {
    #[error("{} has no good key {kid}; good are: {}", what.as_str(), list(good))]
    Unknown { what: What, kid: String, good: Vec<Kid> },
    #[error(
        "key {kid} of {0} is the newest, and something must sign: `nyala secrets rotate {0}` makes its successor first; good are: {1}",
        what.as_str(), list(good)
    )]
    Newest { what: What, kid: Kid, good: Vec<Kid> },
}

fn list(kids: &[Kid]) -> String {
    kids.iter().map(Kid::to_string).collect::<Vec<_>>().join(", ")
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
        Self::parse(&text).map(Some).map_err(unreadable)
    }

    /// # Errors
    /// What is wrong with the text of a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        file::read(text)
    }

    pub fn file(data_dir: &Path) -> PathBuf {
        data_dir.join(FILE)
    }

    pub fn random() -> Self {
        Self::first(FirstKeys {
            kid: Kid::FIRST,
            token: Key::random(),
            otp: Key::random(),
            qr_mesin: Key::random(),
            qr_pelanggan: Key::random(),
        })
    }

    /// The first keys. Their purposes are the same in every release: nothing that they have signed may become invalid.
    fn first(first: FirstKeys) -> Self {
        let FirstKeys { kid, token, otp, qr_mesin, qr_pelanggan } = first.clone();
        let keys = [token.bytes(), otp.bytes(), qr_mesin.bytes(), qr_pelanggan.bytes(), &kid.to_string().into_bytes()];
        Self {
            installation: Fingerprint::of("nyala secrets.toml", keys),
            devices: Ring::first(kid, otp.derive_p256("device authority")),
            pushes: Ring::first(kid, token.derive_p256("web push")),
            pins: Ring::first(kid, otp.derive("pin")),
            stickers: Ring::first(kid, qr_mesin),
            tokens: Ring::first(kid, CustomerKeys { token, otp, qr_pelanggan }),
            first: Some(first),
        }
    }

    /// Identifies the installation by its first keys, also after rotations.
    pub const fn installation(&self) -> Fingerprint {
        self.installation
    }

    /// Names the installation in its cookies: all servers of a database have it, and a restored one keeps it, because it is the beginning of the
    /// fingerprint that is stored there.
    pub fn installation_name(&self) -> String {
        self.installation.to_string()[..8].to_owned()
    }

    /// Identifies all that is in the file.
    pub fn fingerprint(&self) -> Fingerprint {
        let keys = What::ALL.into_iter().flat_map(|what| self.kids(what).into_iter().map(move |kid| (what, kid)));
        let keys: Vec<Fingerprint> = keys.filter_map(|(what, kid)| self.fingerprint_of(what, kid)).collect();
        Fingerprint::of("nyala keys", std::iter::once(self.installation.bytes()).chain(keys.iter().map(Fingerprint::bytes)))
    }

    /// Identifies one good key.
    pub fn fingerprint_of(&self, what: What, kid: Kid) -> Option<Fingerprint> {
        let name = format!("{} {kid}", what.as_str());
        let keys = self.ring(what).material(kid)?;
        Some(Fingerprint::of("nyala key ", std::iter::once(name.as_bytes()).chain(keys)))
    }

    fn ring(&self, what: What) -> &dyn KeyRing {
        match what {
            What::Tokens => &self.tokens,
            What::Stickers => &self.stickers,
            What::Devices => &self.devices,
            What::Pushes => &self.pushes,
            What::Pins => &self.pins,
        }
    }

    fn ring_mut(&mut self, what: What) -> &mut dyn KeyRing {
        match what {
            What::Tokens => &mut self.tokens,
            What::Stickers => &mut self.stickers,
            What::Devices => &mut self.devices,
            What::Pushes => &mut self.pushes,
            What::Pins => &mut self.pins,
        }
    }

    /// Numbers of the good keys of a purpose, the oldest first.
    pub fn kids(&self, what: What) -> Vec<Kid> {
        self.ring(what).kids()
    }

    pub fn newest(&self, what: What) -> Kid {
        self.ring(what).newest()
    }

    /// Whether some key was rotated since `other` was copied.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        What::ALL.into_iter().any(|what| self.newest(what) > other.newest(what))
    }

    /// When a good key was made, if the file contains it.
    pub fn since(&self, what: What, kid: Kid) -> Option<Timestamp> {
        self.ring(what).since(kid)
    }

    pub fn good_kids(&self) -> GoodKids {
        What::ALL.into_iter().map(|what| (what, self.kids(what))).collect()
    }

    fn kids_in_use(&self) -> [Kid; What::ALL.len()] {
        What::ALL.map(|what| self.ring(what).kid_in_use())
    }

    /// The keys whose tokens are accepted at `now`, the newest first.
    pub fn tokens_at(&self, now: Timestamp) -> impl Iterator<Item = &GoodKey<CustomerKeys>> {
        self.tokens.iter().filter(move |good| !self.has_ended(What::Tokens, good.kid, now))
    }

    /// Whether a key of customers' tokens was replaced so long ago that none of its tokens is valid.
    pub fn has_ended(&self, what: What, kid: Kid, now: Timestamp) -> bool {
        let replaced_at = self.tokens.successor(kid).and_then(|next| next.since);
        what == What::Tokens && replaced_at.is_some_and(|at| at.plus_ms(TOKENS_GOOD_MS) <= now)
    }

    /// Adds a new key for a purpose and returns the numbers of the one before and of the new one. At the first rotation the derived
    /// keys become separate ones, and all first keys are dated `first_at`.
    pub fn rotate(&mut self, what: What, now: Timestamp, first_at: Timestamp) -> (Kid, Kid) {
        if self.first.take().is_some() {
            What::ALL.into_iter().for_each(|what| self.ring_mut(what).date(first_at));
        }
        let ended = self.kids(what).into_iter().filter(|kid| self.has_ended(what, *kid, now));
        ended.collect::<Vec<_>>().into_iter().for_each(|kid| self.forget(what, kid));
        match what {
            What::Tokens => self.tokens.push(CustomerKeys::random(), now),
            What::Stickers => self.stickers.push(Key::random(), now),
            What::Devices => self.devices.push(Key::random_p256(), now),
            What::Pushes => self.pushes.push(Key::random_p256(), now),
            What::Pins => self.pins.push(Key::random(), now),
        }
    }

    /// Drops a good key that is not the newest.
    ///
    /// # Errors
    /// When there is no such key, or it is the newest.
    pub fn retire(&mut self, what: What, kid: &str, now: Timestamp) -> Result<Kid, RetireError> {
        let good: Vec<Kid> = self.kids(what).into_iter().filter(|kid| !self.has_ended(what, *kid, now)).collect();
        let found = kid.parse().ok().filter(|kid| good.contains(kid));
        let Some(kid) = found else { return Err(RetireError::Unknown { what, kid: kid.to_owned(), good }) };
        if kid == self.newest(what) {
            return Err(RetireError::Newest { what, kid, good });
        }
        self.forget(what, kid);
        Ok(kid)
    }

    /// Drops a key, unless it is the newest.
    pub fn forget(&mut self, what: What, kid: Kid) {
        self.ring_mut(what).remove(kid);
    }

    /// The same keys, of which those are in use that all `servers` have; with no others, the newest ones.
    #[must_use]
    pub fn used_by(mut self, servers: &[GoodKids]) -> Self {
        for what in What::ALL {
            let is_known = |kid| servers.iter().all(|good| good.get(&what).is_some_and(|kids| kids.contains(&kid)));
            self.ring_mut(what).use_newest(&is_known);
        }
        self
    }

    /// Makes the file, 0600 and synced; a crash leaves a whole file or none.
    pub fn write(&self, dir: &Path) -> Result<(), SecretsError> {
        let path = Self::file(dir);
        let unwritten = |why: String| SecretsError::Unwritten { path: path.display().to_string(), why };
        let text = file::write(self).map_err(|e| unwritten(e.to_string()))?;
        let io = || {
            std::fs::create_dir_all(dir)?;
            write_whole(&path, text.as_bytes())
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
