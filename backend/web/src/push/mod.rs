//! Web Push: notifications to browsers of customers and of staff while no page is open (docs/contract.md §8,
//! docs/decisions/0035-a-push-is-a-row-of-the-end-it-tells.md, docs/board.md). Statements that end something queue a push, and `sender`
//! sends it to the browsers' push services.

pub mod error;
pub mod message;
pub mod metrics;
pub mod sender;
mod taken;
mod vapid;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use nyala_store::config::PushSettings;
use nyala_store::db::Store;
use nyala_store::secrets::{Keyring, Kid};

use self::error::PushError;
use self::metrics::PushMetrics;
use self::vapid::Vapid;

/// One instance for the whole process.
pub struct Push {
    store: Store,
    keyring: Keyring,
    /// Contact for push services.
    contact: String,
    /// One for each key that was used.
    identities: Mutex<HashMap<Kid, Arc<Vapid>>>,
    /// Hosts of push services beside the known ones (development).
    hosts: Vec<String>,
    pub metrics: PushMetrics,
}

impl Push {
    pub fn new(keyring: Keyring, config: &PushSettings, store: Store) -> Self {
        let (contact, hosts) = (config.contact.clone(), config.hosts.clone());
        Self { store, keyring, contact, identities: Mutex::default(), hosts, metrics: PushMetrics::default() }
    }

    /// The number of the key that browsers subscribe with, and its public part: an uncompressed point, base64url.
    ///
    /// # Errors
    /// When the libraries refuse the key, which should never happen.
    pub fn key(&self) -> Result<(Kid, String), PushError> {
        let kid = self.keyring.get().pushes.in_use().kid;
        let identity = self.identity(kid)?.ok_or(PushError::Key)?;
        Ok((kid, identity.public().to_owned()))
    }

    /// The sender's identity with the key of this number; `None` when that is retired.
    fn identity(&self, kid: Kid) -> Result<Option<Arc<Vapid>>, PushError> {
        let secrets = self.keyring.get();
        let Some(good) = secrets.pushes.get(kid) else { return Ok(None) };
        let mut identities = self.identities.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = identities.get(&kid) {
            return Ok(Some(known.clone()));
        }
        let made = Arc::new(Vapid::of(&good.key, &self.contact)?);
        identities.insert(kid, made.clone());
        Ok(Some(made))
    }

    /// Hosts of push services that are accepted beside the known ones.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }
}
