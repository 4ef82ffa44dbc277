//! The keys that a running server works with. They are replaced when the file has changed, without a restart.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::{GoodKids, Secrets};

/// Cheap to clone; all clones have the same keys.
#[derive(Debug, Clone)]
pub struct Keyring(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    now: watch::Sender<Arc<Secrets>>,
    /// The good keys of each server of the cluster, as last read; empty for a server that is alone.
    servers: Mutex<Vec<GoodKids>>,
}

impl From<Secrets> for Keyring {
    fn from(secrets: Secrets) -> Self {
        Self(Arc::new(Inner { now: watch::Sender::new(Arc::new(secrets)), servers: Mutex::default() }))
    }
}

impl Keyring {
    pub fn get(&self) -> Arc<Secrets> {
        self.0.now.borrow().clone()
    }

    /// Notified of each change from now on.
    pub fn changes(&self) -> watch::Receiver<Arc<Secrets>> {
        self.0.now.subscribe()
    }

    /// Takes what the file has now.
    pub fn replace(&self, secrets: Secrets) {
        let servers = self.0.servers.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.now.send_replace(Arc::new(secrets.used_by(&servers)));
    }

    /// Uses the newest keys that all these servers of the cluster have: what one signs, each of them must be able to check.
    pub fn agree(&self, servers: Vec<GoodKids>) {
        let mut known = self.0.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == servers {
            return;
        }
        known.clone_from(&servers);
        self.0.now.send_if_modified(|now| {
            let then = now.as_ref().clone().used_by(&servers);
            let is_other = then.kids_in_use() != now.kids_in_use();
            if is_other {
                *now = Arc::new(then);
            }
            is_other
        });
    }
}
