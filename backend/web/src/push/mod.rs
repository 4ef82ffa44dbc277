//! Web Push: notifications to a customer's browsers while the app is closed (docs/contract.md §8,
//! docs/decisions/0035-a-push-is-a-row-of-the-end-it-tells.md). Statements that end something queue a push (`queue`), and `sender` sends
//! it to the browsers' push services.

pub mod error;
pub mod message;
pub mod metrics;
pub mod sender;
mod vapid;

use nyala_store::config::PushSettings;
use nyala_store::db::Store;
use nyala_store::secrets::Secrets;

use self::error::PushError;
use self::message::Tags;
use self::metrics::PushMetrics;
use self::vapid::Vapid;

/// One instance for the whole process.
pub struct Push {
    store: Store,
    vapid: Vapid,
    tags: Tags,
    /// Hosts of push services beside the known ones (development).
    hosts: Vec<String>,
    pub metrics: PushMetrics,
}

impl Push {
    /// # Errors
    /// When the libraries refuse the key that belongs to `secrets`, which should never happen.
    pub fn new(secrets: &Secrets, config: &PushSettings, store: Store) -> Result<Self, PushError> {
        let (vapid, tags) = (Vapid::of(secrets, &config.contact)?, Tags::of(secrets));
        Ok(Self { store, vapid, tags, hosts: config.hosts.clone(), metrics: PushMetrics::default() })
    }

    /// The public key that browsers subscribe with: an uncompressed point, base64url.
    pub fn key(&self) -> &str {
        self.vapid.public()
    }

    /// Hosts of push services that are accepted beside the known ones.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }
}
