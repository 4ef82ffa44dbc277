//! PINs, entered at a browser and counted before they are compared (docs/till.md). Five wrong PINs in a quarter of an hour cause a wait
//! of the same length; ten in a day lock the person until a supervisor unlocks. Twenty at one browser in a quarter of an hour make that
//! browser wait.

use actix_web::http::header::HeaderMap;
use nyala_core::domain::address::Address;
use nyala_core::domain::id::{StaffId, TillId};
use nyala_core::domain::pin::Pin;
use nyala_core::domain::timestamp::{Timestamp, seconds_up};
use nyala_store::db::pool::DbClient;
use serde_json::json;

use super::browser::{self, Browser, Listed};
use super::ended::SessionEnded;
use super::error::StaffError;
use super::operator::principal;
use super::pin_hash::{self, PinHash, mixed};
use super::wrong_pins::{PER_WINDOW, WINDOW_MS, counts_since, wait_after};
use super::{Staff, people};
use crate::auth::lane::Lane;
use crate::auth::password::{self, QueuePlace};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const PER_DAY: i64 = 10;
const PER_BROWSER: i64 = 20;

/// A member of staff whose PIN was right.
#[derive(Debug)]
pub struct CheckedPerson {
    pub browser: Browser,
    pub person: Listed,
    /// Hash of the PIN that was right, or that was set just now. No session begins if the stored one differs by then.
    pub(super) pin_hash: String,
}

impl Staff {
    /// Returns the person, when the PIN is right and their own. `new_pin`, if given, then replaces the PIN.
    ///
    /// # Errors
    /// Any [`StaffError`]: an unpaired browser, an unknown person, a wrong PIN, a lock, a first PIN without a new one, a new one that is
    /// too easy.
    pub async fn check_pin(
        &self,
        headers: &HeaderMap,
        address: Address,
        person: StaffId,
        pin: &Pin,
        new_pin: Option<&Pin>,
    ) -> Result<CheckedPerson, StaffError> {
        const READ: &str = "SELECT pin_hash, pin_awal_sampai FROM petugas WHERE id_kunci = $1";
        let mut client = self.store.get().await?;
        let browser = browser::of_headers(&*client, headers, self.store.now()).await?;
        let listed = browser::find_listed(&*client, &browser, person, self.store.now()).await?;
        // Checked before an attempt is counted, so that choosing a new PIN again costs nothing.
        if new_pin.is_some_and(Pin::is_too_easy) {
            return Err(StaffError::PinTooEasy);
        }
        if new_pin == Some(pin) {
            return Err(StaffError::SamePin);
        }
        let place = password::reserve(&self.auth, Lane::Address(address))?;
        let attempt = self.count(&mut client, browser.id, person).await?;
        let row = client.query_one(READ, &[&person]).await?;
        let (hash, first_until): (String, Option<Timestamp>) = (row.get(0), row.get(1));
        drop(client); // a hash takes long
        let right = self.verify_pin(&place, (person, pin), &hash).await;
        if !matches!(right, Ok(false)) {
            self.take_back(attempt.id).await?;
        }
        if !right? {
            if attempt.locks {
                self.record_lock(browser.id, person).await?;
            }
            return Err(attempt.wrong());
        }
        match (first_until, new_pin) {
            (Some(until), _) if until <= self.store.now() => Err(StaffError::FirstPinOver),
            (Some(_), None) => Err(StaffError::MakePin),
            (_, Some(new)) => {
                let new = self.hash_at(&place, (person, new)).await?;
                self.change_pin(person, &hash, &new).await?;
                Ok(CheckedPerson { browser, person: listed, pin_hash: new })
            }
            (None, None) => {
                let hash = self.renew_hash(&place, (person, pin), hash).await?;
                Ok(CheckedPerson { browser, person: listed, pin_hash: hash })
            }
        }
    }

    /// A PIN in its stored form. It is hashed on the password threads, so that neither ticks nor other requests wait for it.
    ///
    /// # Errors
    /// `TooMany` when too many requests wait there.
    pub async fn hash_pin(&self, address: Address, person: StaffId, pin: &Pin) -> Result<PinHash, StaffError> {
        let place = password::reserve(&self.auth, Lane::Address(address))?;
        Ok(PinHash { person, hash: self.hash_at(&place, (person, pin)).await? })
    }

    /// The stored form of a PIN, mixed with the key in use.
    async fn hash_at(&self, place: &QueuePlace, (person, pin): (StaffId, &Pin)) -> Result<String, StaffError> {
        let secrets = self.keyring.get();
        let good = secrets.pins.in_use();
        let phc = place.hash(&mixed(&good.key, person, pin)).await?;
        Ok(pin_hash::stored(good.kid, &phc))
    }

    /// Whether the PIN is the one of a stored hash.
    async fn verify_pin(&self, place: &QueuePlace, (person, pin): (StaffId, &Pin), hash: &str) -> Result<bool, StaffError> {
        let (kid, phc) = pin_hash::parse(hash).ok_or_else(|| StaffError::broken("a PIN's hash is unreadable"))?;
        let secrets = self.keyring.get();
        // A PIN whose key was retired cannot be checked.
        let good = secrets.pins.get(kid).ok_or(StaffError::FirstPinOver)?;
        Ok(place.verify(&mixed(&good.key, person, pin), phc).await?)
    }

    /// Hashes a right PIN again that was mixed with an older key, and returns the hash that is stored then.
    async fn renew_hash(&self, place: &QueuePlace, of: (StaffId, &Pin), hash: String) -> Result<String, StaffError> {
        const RENEW: &str = "
            UPDATE petugas SET pin_hash = CASE WHEN pin_hash = $2 THEN $3 ELSE pin_hash END WHERE id_kunci = $1 RETURNING pin_hash";
        let in_use = self.keyring.get().pins.in_use().kid;
        if pin_hash::parse(&hash).is_none_or(|(kid, _)| kid >= in_use) {
            return Ok(hash);
        }
        let new = self.hash_at(place, of).await?;
        let stored: String = self.store.get().await?.query_one(RENEW, &[&of.0, &hash, &new]).await?.get(0);
        // Another login may have hashed the same PIN again at the same time; a changed PIN begins no session.
        let is_same = stored == new || self.verify_pin(place, of, &stored).await?;
        Ok(if is_same { stored } else { hash })
    }

    /// Counts an attempt as wrong, unless there were too many.
    async fn count(&self, client: &mut DbClient, browser: TillId, person: StaffId) -> Result<PinAttempt, StaffError> {
        const LOCK: &str = "SELECT dikunci_at IS NOT NULL, dihitung_sejak FROM petugas WHERE id_kunci = $1 FOR NO KEY UPDATE";
        const LOCK_BROWSER: &str = "SELECT FROM perangkat WHERE id = $1 FOR NO KEY UPDATE";
        const NEWEST: &str = "
            SELECT created_at FROM pin_gagal WHERE id_kunci = $1 AND created_at > $2 AND created_at >= $3
            ORDER BY created_at DESC, id DESC LIMIT 10";
        const AT_BROWSER: &str = "
            SELECT count(*), min(created_at) FROM pin_gagal WHERE id_perangkat = $1 AND created_at > $2";
        const COUNT: &str = "
            SELECT count(*) FILTER (WHERE created_at > $2), count(*) FROM pin_gagal
            WHERE id_kunci = $1 AND created_at > $3 AND created_at >= $4";
        const ADD: &str = "INSERT INTO pin_gagal (id_kunci, id_perangkat, created_at) VALUES ($1, $2, $3) RETURNING id";
        const KEEP_OUT: &str = "UPDATE petugas SET dikunci_at = $2 WHERE id_kunci = $1";
        let tx = client.transaction().await?;
        let row = tx.query_one(LOCK, &[&person]).await?;
        if row.get(0) {
            return Err(StaffError::Locked);
        }
        // Attempts of other people at this browser wait for this lock, too: otherwise parallel attempts would exceed the limit of
        // twenty.
        tx.query(LOCK_BROWSER, &[&browser]).await?;
        let (since, now): (Timestamp, _) = (row.get(1), self.store.now());
        let newest = tx.query(NEWEST, &[&person, &counts_since(now), &since]).await?;
        let wait_ms = wait_after(&newest.iter().map(|row| row.get(0)).collect::<Vec<_>>(), now);
        if wait_ms > 0 {
            return Err(StaffError::TooMany { retry_s: seconds_up(wait_ms) });
        }
        let row = tx.query_one(AT_BROWSER, &[&browser, &now.plus_ms(-WINDOW_MS)]).await?;
        if row.get::<_, i64>(0) >= PER_BROWSER {
            let oldest: Option<Timestamp> = row.get(1);
            let wait_ms = oldest.map_or(WINDOW_MS, |at| now.ms_until(at.plus_ms(WINDOW_MS)).min(WINDOW_MS));
            return Err(StaffError::TooMany { retry_s: seconds_up(wait_ms) });
        }
        let id: i64 = tx.query_one(ADD, &[&person, &browser, &now]).await?.get(0);
        let row = tx.query_one(COUNT, &[&person, &now.plus_ms(-WINDOW_MS), &now.plus_ms(-DAY_MS), &since]).await?;
        let (in_window, in_day): (i64, i64) = (row.get(0), row.get(1));
        if in_day >= PER_DAY {
            // Removed together with the attempt, if the PIN is right.
            tx.execute(KEEP_OUT, &[&person, &now]).await?;
        }
        tx.commit().await?;
        Ok(PinAttempt { id, in_window, locks: in_day >= PER_DAY })
    }

    async fn take_back(&self, attempt: i64) -> Result<(), StaffError> {
        const TAKE_BACK: &str = "
            WITH tried AS (DELETE FROM pin_gagal WHERE id = $1 RETURNING id_kunci, created_at)
            UPDATE petugas p SET dikunci_at = NULL FROM tried t WHERE p.id_kunci = t.id_kunci AND p.dikunci_at = t.created_at";
        self.store.get().await?.execute(TAKE_BACK, &[&attempt]).await?;
        Ok(())
    }

    /// Stores the new PIN, unless the PIN was changed in the meantime, and ends the sessions that began with the old one.
    async fn change_pin(&self, person: StaffId, before: &str, new: &str) -> Result<(), StaffError> {
        const CHANGE: &str = "UPDATE petugas SET pin_hash = $3, pin_awal_sampai = NULL WHERE id_kunci = $1 AND pin_hash = $2";
        let now = self.store.now();
        let mut client = self.store.get().await?;
        let tx = client.transaction().await?;
        if tx.execute(CHANGE, &[&person, &before, &new]).await? == 0 {
            return Err(StaffError::PinWrong { left: 0 });
        }
        people::end_sessions(&tx, person, now).await?;
        people::record(&tx, &principal(person), "petugas.ganti_pin", person, json!({}), now).await?;
        tx.commit().await?;
        self.notify(SessionEnded::Person(person));
        Ok(())
    }

    /// Records a person's tenth wrong PIN of a day in the audit log.
    async fn record_lock(&self, browser: TillId, person: StaffId) -> Result<(), StaffError> {
        let mut client = self.store.get().await?;
        let tx = client.transaction().await?;
        people::record(&tx, &format!("perangkat:{browser}"), "petugas.kunci", person, json!({}), self.store.now()).await?;
        Ok(tx.commit().await?)
    }
}

/// An attempt that counts as wrong until it is taken back.
struct PinAttempt {
    id: i64,
    /// Wrong PINs in the last quarter of an hour, this one included.
    in_window: i64,
    locks: bool,
}

impl PinAttempt {
    fn wrong(&self) -> StaffError {
        match PER_WINDOW - self.in_window {
            _ if self.locks => StaffError::Locked,
            left @ 1.. => StaffError::PinWrong { left: u32::try_from(left).unwrap_or(0) },
            _ => StaffError::TooMany { retry_s: seconds_up(WINDOW_MS) },
        }
    }
}
