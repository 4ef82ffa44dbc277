//! Secrets with a number in front, `nyk_<id>_<random>`: of an operator's key, a session or an approval. Only their SHA-256 is stored.

use std::fmt::Display;

use rand::RngCore;
use sha2::{Digest, Sha256};

const SECRET_BYTES: usize = 32;

/// What a secret is for; its text begins with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// An API key.
    Api,
    /// A till session.
    Session,
    /// An approval.
    Approval,
}

impl KeyKind {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Api => "nyk_",
            Self::Session => "nys_",
            Self::Approval => "nyi_",
        }
    }

    /// The whole key, as its holder sends it.
    pub fn text(self, id: impl Display, secret: &str) -> String {
        format!("{}{id}_{secret}", self.prefix())
    }

    /// The number, and the hash of the secret, of a key of this kind.
    pub fn read(self, text: &str) -> Option<(i64, Vec<u8>)> {
        let (id, secret) = text.strip_prefix(self.prefix())?.split_once('_')?;
        id.parse().ok().filter(|_| is_secret(secret)).map(|id| (id, hash(secret)))
    }
}

/// Whether the text looks like the random part of a key.
pub fn is_secret(text: &str) -> bool {
    text.len() == SECRET_BYTES * 2 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The stored form of a secret.
pub fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
}

/// The random part of a new key and its stored form.
pub fn generate() -> (String, Vec<u8>) {
    let mut bytes = [0; SECRET_BYTES];
    rand::rng().fill_bytes(&mut bytes);
    let secret: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let stored = hash(&secret);
    (secret, stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_shape() {
        let (secret, stored) = generate();
        assert_eq!(KeyKind::Api.read(&KeyKind::Api.text(12, &secret)), Some((12, stored)));
        assert_eq!(KeyKind::Session.read(&KeyKind::Api.text(12, &secret)), None, "of another kind");
        let long = "f".repeat(65);
        for bad in [
            "",
            "nyk_",
            "nyk_1_",
            "nyk_1_abc",
            &format!("nyx_1_{secret}"),
            &format!("nyk_x_{secret}"),
            &format!("nyk_1_{long}"),
            &secret,
        ] {
            assert_eq!(KeyKind::Api.read(bad), None, "{bad}");
        }
    }
}
