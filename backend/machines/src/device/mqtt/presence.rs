//! Presence of devices and the highest epoch that each has received, and their storage. Several changes in a row are written once.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nyala_cluster::Ownership;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::db::error::DbError;
use serde_json::json;
use tokio::time::Instant;

use super::conversation::Trouble;
use super::metrics::DeviceMetrics;
use super::trouble::{PRINCIPAL, Troubles};
use crate::machines::Location;

const EVERY: Duration = Duration::from_millis(200);
/// Time after the server's start in which devices reconnect. Until then the stored presence counts.
const GRACE_MS: i64 = 15_000;
/// Rows per statement.
const BATCH: usize = 500;
/// How often a server of a cluster checks whether the stored presence of its devices is still right.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// A shorter absence of a device is not recorded.
const BACK_WITHIN_MS: i64 = 5_000;

/// Parameters: $1 machines, $2 whether their devices can be reached, $3 this server in a cluster, or null. $4 epochs that the devices have
/// received, or null, $5 how far such an epoch may be ahead. A machine whose row is locked is written later. Only the server that a device was
/// last connected to records that the device is offline.
const RECORD: &str = "
WITH reported AS (SELECT * FROM unnest($1::BIGINT[], $2::BOOLEAN[], $4::BIGINT[]) AS t (idmesin, online, epoch)),
free AS (
    SELECT m.idmesin, m.idoutlet, m.driver, m.epoch FROM mesin m WHERE m.idmesin = ANY($1) ORDER BY m.idmesin FOR NO KEY UPDATE SKIP LOCKED
), changed AS (
    UPDATE mesin m SET online = reported.online, link_node = CASE WHEN reported.online THEN $3 ELSE m.link_node END,
        epoch = CASE WHEN reported.epoch - m.epoch BETWEEN 1 AND $5 THEN reported.epoch ELSE m.epoch END
    FROM reported JOIN free USING (idmesin)
    WHERE m.idmesin = reported.idmesin AND m.driver = 'mqtt' AND (reported.epoch - m.epoch BETWEEN 1 AND $5 OR CASE WHEN reported.online
        THEN NOT m.online OR m.link_node <> $3 OR m.link_node IS NULL AND $3 IS NOT NULL
        ELSE m.online AND ($3 IS NULL OR m.link_node = $3) END)
)
SELECT free.idmesin, free.idoutlet, free.epoch, reported.epoch FROM free JOIN reported USING (idmesin)";

/// How far a device's epoch may be ahead of a restored database: one for each purchase of its machine that the restore has lost.
const MAX_AHEAD: i64 = 1_000_000;
const RAISED: &str = "mesin.epoch_naik";

/// Parameter: $1 devices that can be reached.
const AWAY: &str = "UPDATE mesin SET online = FALSE WHERE driver = 'mqtt' AND online AND idmesin <> ALL($1)";

/// Devices that are stored as unreachable, by any server.
const UNREACHED: &str = "SELECT idmesin FROM mesin WHERE driver = 'mqtt' AND NOT online";

/// All devices that have connected since the server started.
#[derive(Debug)]
pub struct Presence {
    began: Timestamp,
    metrics: DeviceMetrics,
    ownership: Ownership,
    known: Mutex<PresenceTable>,
}

#[derive(Debug, Default)]
struct PresenceTable {
    devices: HashMap<MachineId, DevicePresence>,
    /// Devices whose record may have to change.
    due: HashSet<MachineId>,
    /// Devices that have connected and were not yet returned by `arrived`; only in a cluster.
    arrived: HashSet<MachineId>,
}

#[derive(Debug, Clone, Copy)]
struct DevicePresence {
    present: bool,
    since: Timestamp,
    /// Presence that was stored last; `None`: not known.
    stored: Option<bool>,
    /// A reported epoch that has not been compared with the stored one.
    epoch: Option<i64>,
}

impl DevicePresence {
    const fn new(now: Timestamp) -> Self {
        Self { present: false, since: now, stored: None, epoch: None }
    }

    fn is_due(&self) -> bool {
        self.stored != Some(self.present) || self.epoch.is_some()
    }
}

impl Presence {
    pub fn new(metrics: DeviceMetrics, ownership: Ownership, now: Timestamp) -> Self {
        Self { began: now, metrics, ownership, known: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, PresenceTable> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a device is present or absent.
    pub fn note(&self, idmesin: MachineId, present: bool, now: Timestamp) {
        let mut known = self.lock();
        let known = &mut *known;
        let device = known.devices.entry(idmesin).or_insert(DevicePresence::new(now));
        if device.present != present {
            (device.present, device.since) = (present, now);
            if present && !self.ownership.is_alone() {
                // Another server may have stored the presence since.
                device.stored = None;
                known.arrived.insert(idmesin);
            }
            self.metrics.online.inc_by(if present { 1 } else { -1 });
        }
        if device.is_due() {
            known.due.insert(idmesin)
        } else {
            known.due.remove(&idmesin)
        };
    }

    /// Records an epoch that a device has reported; it may be ahead of the stored one.
    pub fn note_epoch(&self, idmesin: MachineId, epoch: i64, now: Timestamp) {
        let mut known = self.lock();
        known.devices.entry(idmesin).or_insert(DevicePresence::new(now)).epoch = Some(epoch);
        known.due.insert(idmesin);
    }

    /// Whether a reported epoch of the device is not compared yet. A hold before that may use an epoch that the device refuses.
    pub fn has_new_epoch(&self, idmesin: MachineId) -> bool {
        self.lock().devices.get(&idmesin).is_some_and(|device| device.epoch.is_some())
    }

    /// Devices that have connected since the previous call.
    pub fn arrived(&self) -> Vec<MachineId> {
        self.lock().arrived.drain().collect()
    }

    /// Whether the device is connected to this server.
    pub fn is_present(&self, idmesin: MachineId) -> bool {
        self.lock().devices.get(&idmesin).is_some_and(|device| device.present)
    }

    /// Whether the stored presence counts for a device that is not connected here, because it may still reconnect or be at another server.
    pub fn is_awaited(&self, idmesin: MachineId, now: Timestamp) -> bool {
        if !self.ownership.is_alone() {
            return !self.is_present(idmesin);
        }
        self.began.ms_until(now) < GRACE_MS && !self.lock().devices.contains_key(&idmesin)
    }

    /// Writes the record. Runs until the process ends.
    pub async fn record_loop(&self, store: Store, troubles: Troubles) {
        let mut every = tokio::time::interval(EVERY);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // In a cluster, the server that notices a dead one also records its devices as absent (`cluster::membership`).
        let mut is_rest_recorded = !self.ownership.is_alone();
        let mut look_at = Instant::now() + LOOK_EVERY;
        loop {
            every.tick().await;
            let now = store.now();
            let recorded = async {
                if !self.ownership.is_alone() && Instant::now() >= look_at {
                    self.look_again(&store).await?;
                    look_at = Instant::now() + LOOK_EVERY;
                }
                if !is_rest_recorded && self.began.ms_until(now) >= GRACE_MS {
                    self.record_rest(&store).await?;
                    is_rest_recorded = true;
                }
                while self.record(&store, &troubles, now).await? == BATCH {}
                Ok::<_, DbError>(())
            };
            if let Err(e) = recorded.await {
                tracing::warn!(error = %e, "which devices can be reached is not on record; it will be tried again");
            }
        }
    }

    /// Reads the stored presence of present devices again. While this server stalled, others may have recorded its devices as absent. A
    /// device's former server may also notice its absence later than this server recorded its presence.
    async fn look_again(&self, store: &Store) -> Result<(), DbError> {
        let client = store.get().await?;
        let statement = client.prepare_cached(UNREACHED).await?;
        let unreached = client.query(&statement, &[]).await?;
        let mut known = self.lock();
        let PresenceTable { devices, due, .. } = &mut *known;
        for idmesin in unreached.iter().map(|row| row.get(0)) {
            if let Some(device) = devices.get_mut(&idmesin).filter(|device| device.present) {
                device.stored = None;
                due.insert(idmesin);
            }
        }
        Ok(())
    }

    /// Records devices as absent that were online before the server started and have not come back.
    async fn record_rest(&self, store: &Store) -> Result<(), DbError> {
        let here: Vec<MachineId> = self.lock().devices.keys().copied().collect();
        let client = store.get().await?;
        client.execute(AWAY, &[&here]).await?;
        Ok(())
    }

    /// Writes a batch and returns how many rows were due.
    async fn record(&self, store: &Store, troubles: &Troubles, now: Timestamp) -> Result<usize, DbError> {
        let batch: Vec<(MachineId, DevicePresence)> = {
            let known = self.lock();
            let due = known.due.iter().filter_map(|id| known.devices.get(id).map(|device| (*id, *device)));
            let is_over = |device: &DevicePresence| {
                device.present || device.epoch.is_some() || device.since.ms_until(now) >= BACK_WITHIN_MS
            };
            due.filter(|(_, device)| is_over(device)).take(BATCH).collect()
        };
        if batch.is_empty() {
            return Ok(0);
        }
        let stored = self.write(store, troubles, &batch, now).await?;
        let mut known = self.lock();
        for (idmesin, written) in batch.iter().filter(|(id, _)| stored.contains(id)) {
            let Some(device) = known.devices.get_mut(idmesin) else { continue };
            device.stored = Some(written.present);
            if device.epoch == written.epoch {
                device.epoch = None;
            }
            // The device may have gone or come back during the write.
            if device.is_due() {
                known.due.insert(*idmesin);
            } else {
                known.due.remove(idmesin);
            }
        }
        // Locked rows are no reason to query again at once.
        Ok(stored.len())
    }

    /// Stores a batch. Returns the machines whose rows were not locked.
    async fn write(
        &self,
        store: &Store,
        troubles: &Troubles,
        batch: &[(MachineId, DevicePresence)],
        now: Timestamp,
    ) -> Result<HashSet<MachineId>, DbError> {
        let machines: Vec<MachineId> = batch.iter().map(|(id, _)| *id).collect();
        let online: Vec<bool> = batch.iter().map(|(_, device)| device.present).collect();
        let epochs: Vec<Option<i64>> = batch.iter().map(|(_, device)| device.epoch).collect();
        let mut client = store.get().await?;
        let tx = client.transaction().await?;
        let stmt = tx.prepare_cached(RECORD).await?;
        let mut stored = HashSet::new();
        for row in tx.query(&stmt, &[&machines, &online, &self.ownership.node(), &epochs, &MAX_AHEAD]).await? {
            let (idmesin, idoutlet, before): (MachineId, OutletId, i64) = (row.get(0), row.get(1), row.get(2));
            stored.insert(idmesin);
            let Some(now_known) = row.get::<_, Option<i64>>(3).filter(|epoch| *epoch > before) else { continue };
            if now_known - before > MAX_AHEAD {
                let location = Location { idmesin, idoutlet, driver: DriverKind::Mqtt };
                troubles.report(location, Trouble::StrangeEpoch { before, now: now_known });
                continue;
            }
            let content = json!({ "dulu": before, "sekarang": now_known, "selisih": now_known - before });
            let entry = AuditEntry { principal: PRINCIPAL, action: RAISED, object: format!("mesin:{idmesin}"), content };
            audit::write_at(&tx, Some(idoutlet), &entry, now).await?;
        }
        tx.commit().await?;
        Ok(stored)
    }
}
