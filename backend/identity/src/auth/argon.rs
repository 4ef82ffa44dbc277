//! Argon2id (RFC 9106) that reuses its memory from one password to the next.

use argon2::password_hash::{Error, Output, PasswordHash, Salt, SaltString};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use rand::RngCore;

const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// The hash of `password` as a PHC string, for a program without a server. It is computed on the calling thread.
///
/// # Errors
/// An error of the library; no password causes one.
pub fn hash_here(password: &str) -> Result<String, Error> {
    Argon::default().hash(password)
}

/// Hashes one password at a time.
#[derive(Default)]
pub struct Argon {
    memory: Vec<Block>,
}

impl Argon {
    pub fn hash(&mut self, password: &str) -> Result<String, Error> {
        let mut bytes = [0; 16];
        rand::rng().fill_bytes(&mut bytes);
        let salt = SaltString::encode_b64(&bytes)?;
        let params = Params::new(MEMORY_KIB, PASSES, LANES, None)?;
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone());
        let output = self.output(&argon, password, salt.as_salt(), Params::DEFAULT_OUTPUT_LEN)?;
        let made = PasswordHash {
            algorithm: Algorithm::Argon2id.ident(),
            version: Some(Version::V0x13.into()),
            params: (&params).try_into()?,
            salt: Some(salt.as_salt()),
            hash: Some(output),
        };
        Ok(made.to_string())
    }

    /// Uses the parameters that the hash itself names, and compares in constant time.
    pub fn verify(&mut self, password: &str, hash: &str) -> Result<bool, Error> {
        let stored = PasswordHash::new(hash)?;
        let (Some(salt), Some(expected)) = (stored.salt, stored.hash) else {
            return Err(Error::PhcStringField);
        };
        let argon = Argon2::new(Algorithm::try_from(stored.algorithm)?, Version::V0x13, Params::try_from(&stored)?);
        Ok(self.output(&argon, password, salt, expected.len())? == expected)
    }

    fn output(&mut self, argon: &Argon2<'_>, password: &str, salt: Salt<'_>, len: usize) -> Result<Output, Error> {
        self.memory.resize(argon.params().block_count(), Block::default());
        let mut salt_bytes = [0; Salt::MAX_LENGTH];
        let salt = salt.decode_b64(&mut salt_bytes)?;
        Output::init_with(len, |out| {
            Ok(argon.hash_password_into_with_memory(password.as_bytes(), salt, out, &mut self.memory)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use argon2::{PasswordHasher, PasswordVerifier};

    use super::*;

    #[test]
    fn hashes_are_argon2id_with_the_designed_cost() {
        let hash = hash_here("Rahasia123").unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        let parsed = PasswordHash::new(&hash).unwrap();
        assert!(Argon2::default().verify_password(b"Rahasia123", &parsed).is_ok(), "the library reads what is made here");
        assert_ne!(hash, hash_here("Rahasia123").unwrap(), "the salt is new each time");
    }

    #[test]
    fn memory_of_one_password_does_not_leak_into_the_next() {
        let mut argon = Argon::default();
        let first = argon.hash("Rahasia123").unwrap();
        assert!(!argon.verify("rahasia123", &first).unwrap());
        assert!(argon.verify("Rahasia123", &first).unwrap());
        let small = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
        let cheap = small.hash_password(b"lain", Salt::from_b64("dWppdWppdWppdWpp").unwrap()).unwrap().to_string();
        assert!(argon.verify("lain", &cheap).unwrap());
        assert!(argon.verify("Rahasia123", &first).unwrap());
    }
}
