//! Who works at the outlets: operators' keys, and the people at the tills with their paired browsers, PINs, sessions and approvals
//! (docs/till.md).

pub mod approval;
pub mod browser;
pub mod ended;
pub mod error;
pub mod key;
pub mod login;
pub mod operator;
pub mod people;
pub mod pin_hash;
pub mod session;
pub mod ticket;
mod wrong_pins;

use std::sync::{Arc, Mutex, PoisonError};

use nyala_core::domain::address::Address;
use nyala_core::domain::recent::Recent;
use nyala_core::domain::timestamp::{Timestamp, seconds_up};
use nyala_store::db::Store;
use nyala_store::secrets::{Key, Secrets};
use tokio::sync::broadcast;

use crate::auth::Auth;
use ended::SessionEnded;
use error::StaffError;

/// Wrong pairing codes of one address in a quarter of an hour; with 35 random bits in each that is nothing.
const WRONG_CODES: usize = 20;
const WRONG_CODES_WINDOW_MS: i64 = 15 * 60 * 1000;
/// Numbers that one browser may look up in an hour: a till is no telephone directory.
const LOOKUPS: usize = 60;
const LOOKUPS_WINDOW_MS: i64 = 60 * 60 * 1000;
/// Of either, remembered of all together.
const MOST: usize = 1 << 16;
/// Ends that a slow listener may fall behind; past that it asks again for every session.
const ENDED_BACKLOG: usize = 1024;

/// Cheap to clone; one for the whole process.
#[derive(Clone)]
pub struct Staff(Arc<StaffParts>);

pub struct StaffParts {
    pub store: Store,
    pub tickets: ticket::Tickets,
    auth: Auth,
    pin_key: Key,
    always_secure: bool,
    /// Part of the name of each browser's cookie.
    installation: String,
    wrong_codes: Mutex<Recent<Address, ()>>,
    lookups: Mutex<Recent<i64, ()>>,
    ended: broadcast::Sender<SessionEnded>,
}

impl std::ops::Deref for Staff {
    type Target = StaffParts;
    fn deref(&self) -> &StaffParts {
        &self.0
    }
}

impl Staff {
    /// `always_secure`: the cookie is never sent without TLS.
    pub fn new(store: Store, auth: Auth, secrets: &Secrets, always_secure: bool) -> Self {
        Self(Arc::new(StaffParts {
            store,
            tickets: ticket::Tickets::new(secrets),
            auth,
            pin_key: pin_hash::pin_key(secrets),
            always_secure,
            installation: secrets.installation(),
            wrong_codes: Mutex::new(Recent::new(WRONG_CODES_WINDOW_MS, MOST)),
            lookups: Mutex::new(Recent::new(LOOKUPS_WINDOW_MS, MOST)),
            ended: broadcast::channel(ENDED_BACKLOG).0,
        }))
    }

    /// The news of ended sessions from now on, for those who hold sockets open.
    pub fn subscribe(&self) -> broadcast::Receiver<SessionEnded> {
        self.ended.subscribe()
    }

    /// One more number is looked up at a browser.
    ///
    /// # Errors
    /// `TooMany` past 60 an hour.
    pub fn look_up(&self, browser: i64) -> Result<(), StaffError> {
        admit(&self.lookups, browser, LOOKUPS, self.store.now())
    }
}

/// Counts one more, unless there were `limit` in the window.
fn admit<K: Clone + Eq + std::hash::Hash>(
    recent: &Mutex<Recent<K, ()>>,
    key: K,
    limit: usize,
    now: Timestamp,
) -> Result<(), StaffError> {
    let mut recent = recent.lock().unwrap_or_else(PoisonError::into_inner);
    may_try(&mut recent, &key, limit, now)?;
    recent.add(key, (), now);
    Ok(())
}

/// Whether there were fewer than `limit` in the window.
fn may_try<K: Clone + Eq + std::hash::Hash>(
    recent: &mut Recent<K, ()>,
    key: &K,
    limit: usize,
    now: Timestamp,
) -> Result<(), StaffError> {
    match recent.wait_ms(key, limit, now, |()| true) {
        0 => Ok(()),
        wait_ms => Err(StaffError::TooMany { retry_s: seconds_up(wait_ms) }),
    }
}
