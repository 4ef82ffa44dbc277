//! Staff of the outlets: operators' keys, and the people at the tills with their paired browsers, PINs, sessions and approvals
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
use nyala_core::domain::id::TillId;
use nyala_core::domain::timestamp::{Timestamp, seconds_up};
use nyala_core::rate_limit::{SlidingWindow, WindowLimits};
use nyala_store::db::Store;
use nyala_store::secrets::Keyring;
use tokio::sync::broadcast;

use crate::auth::Auth;
use ended::SessionEnded;
use error::StaffError;

/// Wrong pairing codes per address in a quarter of an hour; against 35 random bits in each code that is negligible.
const WRONG_CODES: usize = 20;
const WRONG_CODES_WINDOW_MS: i64 = 15 * 60 * 1000;
/// Numbers that one browser may look up in an hour, so that a till does not serve as a telephone directory.
const LOOKUPS: usize = 60;
const LOOKUPS_WINDOW_MS: i64 = 60 * 60 * 1000;
/// Entries of either kind that are remembered, over all addresses and browsers.
const MAX_RECENT: usize = 1 << 16;
/// Ended sessions that a slow subscriber may fall behind; beyond that it must check every session.
const ENDED_BACKLOG: usize = 1024;

/// One instance for the whole process.
pub struct Staff {
    pub store: Store,
    pub tickets: ticket::Tickets,
    auth: Arc<Auth>,
    keyring: Keyring,
    always_secure: bool,
    /// Part of the name of each browser's cookie.
    installation: String,
    wrong_codes: Mutex<SlidingWindow<Address, ()>>,
    lookups: Mutex<SlidingWindow<TillId, ()>>,
    ended: broadcast::Sender<SessionEnded>,
}

impl Staff {
    /// `always_secure`: the cookie is never sent without TLS.
    pub fn new(store: Store, auth: Arc<Auth>, keyring: Keyring, always_secure: bool) -> Self {
        Self {
            store,
            tickets: ticket::Tickets::new(keyring.clone()),
            auth,
            always_secure,
            installation: keyring.get().installation_name(),
            keyring,
            wrong_codes: Mutex::new(SlidingWindow::new(WindowLimits {
                window_ms: WRONG_CODES_WINDOW_MS,
                max_events: MAX_RECENT,
            })),
            lookups: Mutex::new(SlidingWindow::new(WindowLimits { window_ms: LOOKUPS_WINDOW_MS, max_events: MAX_RECENT })),
            ended: broadcast::channel(ENDED_BACKLOG).0,
        }
    }

    /// Receives each session that ends from now on; for code that holds sockets open.
    pub fn subscribe(&self) -> broadcast::Receiver<SessionEnded> {
        self.ended.subscribe()
    }

    /// Counts one more look-up of a number at a browser.
    ///
    /// # Errors
    /// `TooMany` beyond 60 an hour.
    pub fn look_up(&self, browser: TillId) -> Result<(), StaffError> {
        admit(&self.lookups, browser, LOOKUPS, self.store.now())
    }
}

/// Counts one more, unless there were already `limit` in the window.
fn admit<K: Clone + Eq + std::hash::Hash>(
    recent: &Mutex<SlidingWindow<K, ()>>,
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
    recent: &mut SlidingWindow<K, ()>,
    key: &K,
    limit: usize,
    now: Timestamp,
) -> Result<(), StaffError> {
    match recent.wait_ms(key, limit, now, |()| true) {
        0 => Ok(()),
        wait_ms => Err(StaffError::TooMany { retry_s: seconds_up(wait_ms) }),
    }
}
