//! Argon2id on one thread of its own, so that hashing never holds a worker up and a flood of it is refused, not queued
//! (design: money, security; RFC 9106).

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use argon2::password_hash::{Error as HashError, Output, PasswordHash, Salt, SaltString};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use prometheus_client::metrics::gauge::Gauge;
use rand::RngCore;
use tokio::sync::oneshot;

use crate::app::AppState;
use crate::http::error::AppError;
use crate::http::input::Secret;

const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// Passwords that wait while one is worked on; the next one is told to come back.
const QUEUE: usize = 32;
/// A full queue is worked off in about this time.
const RETRY_S: u32 = 2;

/// Nobody's password: verified for unknown numbers, so that they take as long as known ones.
const DUMMY: &str = "$argon2id$v=19$m=19456,t=2,p=1$YnVrYW4gc2lhcGFzaWFwYQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// The hash of `password` as a PHC string. 429 when too many wait.
pub async fn hash(state: &AppState, password: &str) -> Result<String, AppError> {
    state.auth.sandi.ask(|reply| Job::Hash { password: Secret::new(password), reply }).await
}

/// Whether `hash` is of `password`. 429 when too many wait.
pub async fn verify(state: &AppState, password: &str, hash: &str) -> Result<bool, AppError> {
    state.auth.sandi.ask(|reply| Job::Verify { password: Secret::new(password), hash: hash.to_owned(), reply }).await
}

/// Takes as long as `verify` of a known number and finds nothing.
pub async fn verify_nobody(state: &AppState, password: &str) -> Result<(), AppError> {
    verify(state, password, DUMMY).await.map(|_| ())
}

/// `hash` for a program without a server: works on the calling thread.
pub fn hash_here(password: &str) -> Result<String, HashError> {
    Argon::default().hash(password)
}

type Reply<T> = oneshot::Sender<Result<T, HashError>>;

enum Job {
    Hash { password: Secret, reply: Reply<String> },
    Verify { password: Secret, hash: String, reply: Reply<bool> },
}

/// The queue to the thread, which ends with the last handle.
pub struct Worker {
    jobs: SyncSender<Job>,
    waiting: Gauge,
}

impl Worker {
    pub fn start() -> std::io::Result<Self> {
        let (jobs, queue) = sync_channel(QUEUE);
        let waiting = Gauge::default();
        let left = waiting.clone();
        std::thread::Builder::new().name("argon2".to_owned()).spawn(move || work(&queue, &left))?;
        Ok(Self { jobs, waiting })
    }

    /// How many passwords wait, for the metrics.
    pub fn waiting(&self) -> &Gauge {
        &self.waiting
    }

    async fn ask<T>(&self, job: impl FnOnce(Reply<T>) -> Job) -> Result<T, AppError> {
        let (reply, answer) = oneshot::channel();
        // Before it is sent, so that the thread never counts it down first.
        self.waiting.inc();
        self.jobs.try_send(job(reply)).map_err(|e| {
            self.waiting.dec();
            match e {
                TrySendError::Full(_) => AppError::TooMany { retry_s: RETRY_S },
                TrySendError::Disconnected(_) => AppError::internal("the password thread is gone"),
            }
        })?;
        answer.await.map_err(AppError::internal)?.map_err(|e| AppError::internal(e.to_string()))
    }
}

fn work(queue: &Receiver<Job>, waiting: &Gauge) {
    let mut argon = Argon::default();
    for job in queue {
        waiting.dec();
        // A caller who has gone needs no answer; nor does one who goes while it is made.
        match job {
            Job::Hash { password, reply } if !reply.is_closed() => drop(reply.send(argon.hash(&password))),
            Job::Verify { password, hash, reply } if !reply.is_closed() => drop(reply.send(argon.verify(&password, &hash))),
            Job::Hash { .. } | Job::Verify { .. } => {}
        }
    }
}

/// Argon2id that keeps its memory from one password to the next.
#[derive(Default)]
struct Argon {
    memory: Vec<Block>,
}

impl Argon {
    fn hash(&mut self, password: &str) -> Result<String, HashError> {
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

    /// With the parameters that the hash itself names; compares in constant time.
    fn verify(&mut self, password: &str, hash: &str) -> Result<bool, HashError> {
        let stored = PasswordHash::new(hash)?;
        let (Some(salt), Some(expected)) = (stored.salt, stored.hash) else {
            return Err(HashError::PhcStringField);
        };
        let argon = Argon2::new(Algorithm::try_from(stored.algorithm)?, Version::V0x13, Params::try_from(&stored)?);
        Ok(self.output(&argon, password, salt, expected.len())? == expected)
    }

    fn output(&mut self, argon: &Argon2<'_>, password: &str, salt: Salt<'_>, len: usize) -> Result<Output, HashError> {
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

    #[test]
    fn nobody_has_the_dummy_password_and_it_costs_the_same() {
        assert!(!Argon::default().verify("", DUMMY).unwrap());
        let params = Params::try_from(&PasswordHash::new(DUMMY).unwrap()).unwrap();
        assert_eq!((params.m_cost(), params.t_cost(), params.p_cost()), (MEMORY_KIB, PASSES, LANES));
    }
}
