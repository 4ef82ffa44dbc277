//! Signal, boots and connections of devices by the hour (`perangkat_jam`), and what each reported last (`perangkat_kini`). The server that a
//! device is connected to writes them, at a change and once an hour, never for each message.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nyala_cluster::Ownership;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use tokio::time::Instant;

use super::message::{Ack, BootId, DeviceMessage, Heartbeat, Reset, Stamp, State};

const EVERY: Duration = Duration::from_millis(500);
/// How often one device is written at most: one that reconnects all the time is written with all its connections at once.
const WRITE_AGAIN: Duration = Duration::from_secs(3);
/// Devices per statement.
const BATCH: usize = 500;
/// A signal that differs by so many dBm from the stored one is stored before the hour is over.
const RSSI_STEP: i16 = 10;
const RSSI_AGAIN_MS: i64 = 5 * 60_000;
/// Gaps of a device that wait to be written; a device with more of them loses the seconds of the rest.
const MAX_GAPS: usize = 64;
pub const HOUR_MS: i64 = 3_600_000;

/// Seconds without a connection, added to their hours. $1 machines, $2 beginnings (NULL: as it is stored), $3 ends. A gap counts for a month.
const GAPS: &str = "
WITH gap AS (
    SELECT g.idmesin, greatest(COALESCE(g.dari, k.putus_sejak), g.sampai - INTERVAL '31 days') AS dari, g.sampai
    FROM unnest($1::BIGINT[], $2::TIMESTAMPTZ[], $3::TIMESTAMPTZ[]) AS g (idmesin, dari, sampai) LEFT JOIN perangkat_kini k USING (idmesin)
    WHERE COALESCE(g.dari, k.putus_sejak) < g.sampai
), jam AS (
    SELECT idmesin, jam, SUM(EXTRACT(EPOCH FROM least(sampai, jam + INTERVAL '1 hour') - greatest(dari, jam))) AS putus_s
    FROM gap, generate_series(date_bin('1 hour', dari, 'epoch'), sampai, INTERVAL '1 hour') AS jam GROUP BY idmesin, jam
)
INSERT INTO perangkat_jam AS j (idmesin, jam, putus_s) SELECT idmesin, jam, least(round(putus_s), 3600)::INT FROM jam JOIN mesin USING (idmesin)
ON CONFLICT (idmesin, jam) DO UPDATE SET putus_s = least(j.putus_s + EXCLUDED.putus_s, 3600)";

/// What devices reported. $1 machines, $2 signals, $3 boots (NULL: not known), $4 whether that was the first boot that this server knows, which
/// may be the stored one, $5 further boots, $6 connections, $7 and $8 versions, $9 last messages, $10 moments of the boots, $11 since when they are gone, $12 the
/// hour, $13 this server in a cluster: only the server that a device was last connected to says that it is gone. $14 what they can, as one text,
/// $15 why they booted, $16 lost messages.
const RECORD: &str = "
WITH r AS (
    SELECT r.*, k.boot AS boot_dulu, $13::BIGINT IS NULL OR m.link_node = $13 AS di_sini
    FROM unnest($1::BIGINT[], $2::SMALLINT[], $3::BIGINT[], $4::BOOLEAN[], $5::INT[], $6::INT[], $7::TEXT[], $8::TEXT[], $9::TIMESTAMPTZ[],
        $10::TIMESTAMPTZ[], $11::TIMESTAMPTZ[], $14::TEXT[], $15::TEXT[], $16::INT[])
        AS r (idmesin, rssi, boot, pertama, boots, sambung, fw, hw, terdengar_at, menyala_at, putus_sejak, bisa, reset, hilang)
    JOIN mesin m USING (idmesin) LEFT JOIN perangkat_kini k USING (idmesin)
), kini AS (
    INSERT INTO perangkat_kini AS k (idmesin, boot, rssi, fw, hw, terdengar_at, menyala_at, putus_sejak, bisa, bisa_sejak, reset)
    SELECT idmesin, boot, rssi, fw, hw, terdengar_at, menyala_at, CASE WHEN di_sini THEN putus_sejak END, string_to_array(bisa, ' '),
        CASE WHEN bisa IS NOT NULL THEN terdengar_at END, reset FROM r
    ON CONFLICT (idmesin) DO UPDATE SET boot = COALESCE(EXCLUDED.boot, k.boot), rssi = COALESCE(EXCLUDED.rssi, k.rssi),
        fw = COALESCE(EXCLUDED.fw, k.fw), hw = COALESCE(EXCLUDED.hw, k.hw), bisa = COALESCE(EXCLUDED.bisa, k.bisa),
        bisa_sejak = CASE WHEN EXCLUDED.bisa IS DISTINCT FROM k.bisa THEN COALESCE(EXCLUDED.bisa_sejak, k.bisa_sejak) ELSE k.bisa_sejak END,
        reset = CASE WHEN EXCLUDED.bisa IS NULL THEN k.reset ELSE EXCLUDED.reset END, terdengar_at = greatest(EXCLUDED.terdengar_at, k.terdengar_at),
        menyala_at = COALESCE(EXCLUDED.menyala_at, k.menyala_at), putus_sejak = EXCLUDED.putus_sejak
)
INSERT INTO perangkat_jam AS j (idmesin, jam, rssi, boot, sambung, hilang)
SELECT idmesin, $12, rssi, boots + (pertama AND boot IS DISTINCT FROM boot_dulu)::INT, sambung, hilang FROM r
ON CONFLICT (idmesin, jam) DO UPDATE
    SET rssi = COALESCE(EXCLUDED.rssi, j.rssi), boot = j.boot + EXCLUDED.boot, sambung = j.sambung + EXCLUDED.sambung,
        hilang = least(j.hilang::BIGINT + EXCLUDED.hilang, 2147483647)::INT";

/// What a device last reported to this server.
#[derive(Debug, Clone)]
pub struct SignalNow {
    pub heard_at: Timestamp,
    pub rssi: Option<i16>,
    pub fw: Option<String>,
    pub hw: Option<String>,
    /// What the newest state report says that it can.
    pub can: Option<Vec<String>>,
    pub booted_at: Option<Timestamp>,
}

/// All devices that have connected since the server started.
#[derive(Debug, Default)]
pub struct Signals {
    /// In boxes, so that a table with room for more is not twice as large.
    known: Mutex<HashMap<MachineId, Box<DeviceSignal>>>,
}

#[derive(Debug, Clone)]
struct DeviceSignal {
    now: SignalNow,
    boot: Option<i64>,
    /// Why it booted; known with what it can.
    reset: Option<Reset>,
    /// The connection of its last numbered message, and the number.
    numbered: Option<(u64, u64)>,
    /// Since when it is not connected.
    gone_since: Option<Timestamp>,
    pending: Pending,
    /// The hour that was written last, and its signal.
    stored: Option<(Timestamp, Option<i16>)>,
    stored_at: Timestamp,
    write_from: Option<Instant>,
}

/// What is not stored yet.
#[derive(Debug, Clone, Default)]
struct Pending {
    is_first_boot: bool,
    boots: i32,
    connections: i32,
    /// Messages whose numbers were left out.
    lost: i32,
    gaps: Vec<(Option<Timestamp>, Timestamp)>,
    changed: bool,
}

impl DeviceSignal {
    fn new(now: Timestamp) -> Self {
        Self {
            now: SignalNow { heard_at: now, rssi: None, fw: None, hw: None, can: None, booted_at: None },
            boot: None,
            reset: None,
            numbered: None,
            gone_since: None,
            pending: Pending::default(),
            stored: None,
            stored_at: now,
            write_from: None,
        }
    }

    fn on_stamp(&mut self, stamp: &Stamp, now: Timestamp) {
        let boot = stamp.boot_id.as_ref().map(BootId::key);
        if boot.is_some() && boot != self.boot {
            if self.boot.is_some() {
                self.pending.boots += 1;
            } else {
                self.pending.is_first_boot = true;
            }
            self.boot = boot;
            self.numbered = None;
            self.pending.changed = true;
        }
        self.count(stamp);
        self.now.booted_at = stamp.up_ms.map(|up_ms| now.plus_ms(-up_ms)).or(self.now.booted_at);
    }

    /// Counts the messages that are missing before this one, in its connection.
    fn count(&mut self, stamp: &Stamp) {
        let Some((conn, seq)) = stamp.conn.zip(stamp.seq) else { return };
        match self.numbered {
            Some((connection, last)) if connection == conn => {
                let lost = seq.saturating_sub(last.saturating_add(1));
                if lost > 0 {
                    self.pending.lost = self.pending.lost.saturating_add(i32::try_from(lost).unwrap_or(i32::MAX));
                    self.pending.changed = true;
                }
                self.numbered = Some((conn, seq.max(last)));
            }
            // A late message of an earlier connection.
            Some((connection, _)) if connection > conn => {}
            _ => self.numbered = Some((conn, seq)),
        }
    }

    fn is_due(&self, now: Timestamp) -> bool {
        let of_hour = || match self.stored {
            None => true,
            Some((hour, rssi)) => {
                hour != hour_of(now) && self.gone_since.is_none()
                    || rssi != self.now.rssi && rssi.is_none()
                    || self.stored_at.ms_until(now) >= RSSI_AGAIN_MS && differs(rssi, self.now.rssi)
            }
        };
        self.pending.changed || of_hour()
    }
}

fn differs(stored: Option<i16>, now: Option<i16>) -> bool {
    stored.zip(now).is_some_and(|(stored, now)| stored.abs_diff(now) >= RSSI_STEP.unsigned_abs())
}

/// The beginning of the hour.
pub const fn hour_of(at: Timestamp) -> Timestamp {
    Timestamp::from_ms(at.ms().div_euclid(HOUR_MS) * HOUR_MS)
}

impl Signals {
    fn lock(&self) -> MutexGuard<'_, HashMap<MachineId, Box<DeviceSignal>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the device reported last, when it is or was connected to this server since the start.
    pub fn of(&self, idmesin: MachineId) -> Option<SignalNow> {
        self.lock().get(&idmesin).map(|device| device.now.clone())
    }

    /// The device has subscribed to its commands on a new connection.
    pub fn connected(&self, idmesin: MachineId, now: Timestamp) {
        let mut known = self.lock();
        let pending = &mut known.entry(idmesin).or_insert_with(|| Box::new(DeviceSignal::new(now))).pending;
        pending.connections += 1;
        pending.changed = true;
    }

    /// The device is there, or gone.
    pub fn note_presence(&self, idmesin: MachineId, present: bool, now: Timestamp) {
        let mut known = self.lock();
        let device = known.entry(idmesin).or_insert_with(|| Box::new(DeviceSignal::new(now)));
        if present {
            let gone_since = device.gone_since.take();
            // The first connection at this server ends a gap that another one, or this one before its start, may have stored.
            if (gone_since.is_some() || device.stored.is_none()) && device.pending.gaps.len() < MAX_GAPS {
                device.pending.gaps.push((gone_since, now));
            }
        } else {
            device.gone_since.get_or_insert(now);
        }
        device.pending.changed = true;
    }

    /// A message of the device was accepted.
    pub fn on_message(&self, idmesin: MachineId, message: &DeviceMessage, now: Timestamp) {
        let mut known = self.lock();
        let device = known.entry(idmesin).or_insert_with(|| Box::new(DeviceSignal::new(now)));
        device.now.heard_at = now;
        match message {
            DeviceMessage::State(State { stamp, fw, hw, can, reset, .. }) => {
                device.on_stamp(stamp, now);
                for (known, reported) in [(&mut device.now.fw, fw), (&mut device.now.hw, hw)] {
                    if reported.is_some() && known != reported {
                        known.clone_from(reported);
                        device.pending.changed = true;
                    }
                }
                if device.now.can.as_ref() != Some(can) || device.reset != *reset {
                    (device.now.can, device.reset) = (Some(can.clone()), *reset);
                    device.pending.changed = true;
                }
            }
            DeviceMessage::Heartbeat(Heartbeat { stamp, rssi, .. }) => {
                device.on_stamp(stamp, now);
                device.now.rssi = rssi.and_then(|rssi| i16::try_from(rssi).ok()).or(device.now.rssi);
            }
            // An ack may be of an earlier boot.
            DeviceMessage::Ack(Ack { stamp, .. }) if stamp.boot_id.as_ref().map(BootId::key) == device.boot => {
                device.count(stamp)
            }
            DeviceMessage::Ack(_) | DeviceMessage::Gone(_) => {}
        }
    }

    /// Writes what has changed. Runs until the process ends.
    pub async fn record_loop(&self, store: Store, ownership: Ownership) {
        let mut every = tokio::time::interval(EVERY);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            if let Err(e) = self.record(&store, &ownership).await {
                tracing::warn!(error = %e, "signals of devices were not stored; it will be tried again");
            }
        }
    }

    async fn record(&self, store: &Store, ownership: &Ownership) -> Result<(), DbError> {
        loop {
            let now = store.now();
            let batch = self.take(now);
            if batch.is_empty() {
                return Ok(());
            }
            let written = async {
                let client = store.get().await?;
                write(&client, &batch, ownership, now).await
            };
            if let Err(e) = written.await {
                self.give_back(batch);
                return Err(e);
            }
        }
    }

    /// Devices that are due, which count as written from now on.
    fn take(&self, now: Timestamp) -> Vec<(MachineId, DeviceSignal)> {
        let mut known = self.lock();
        let at = Instant::now();
        let is_due = |device: &DeviceSignal| device.write_from.is_none_or(|from| from <= at) && device.is_due(now);
        let due = known.iter_mut().filter(|(_, device)| is_due(device)).take(BATCH);
        due.map(|(id, device)| {
            let taken = (*id, DeviceSignal::clone(device));
            device.pending = Pending::default();
            (device.stored, device.stored_at) = (Some((hour_of(now), device.now.rssi)), now);
            device.write_from = Some(at + WRITE_AGAIN);
            taken
        })
        .collect()
    }

    /// What could not be written is due again.
    fn give_back(&self, batch: Vec<(MachineId, DeviceSignal)>) {
        let mut known = self.lock();
        for (id, taken) in batch {
            let Some(device) = known.get_mut(&id) else { continue };
            let (pending, more) = (&mut device.pending, taken.pending);
            pending.is_first_boot |= more.is_first_boot;
            pending.boots += more.boots;
            pending.connections += more.connections;
            pending.lost = pending.lost.saturating_add(more.lost);
            pending.gaps.extend(more.gaps);
            pending.gaps.truncate(MAX_GAPS);
            pending.changed = true;
        }
    }
}

async fn write(
    client: &DbClient,
    batch: &[(MachineId, DeviceSignal)],
    ownership: &Ownership,
    now: Timestamp,
) -> Result<(), DbError> {
    let gaps = batch.iter().flat_map(|(id, device)| device.pending.gaps.iter().map(|(from, until)| (*id, *from, *until)));
    let (machines, (from, until)): (Vec<_>, (Vec<_>, Vec<_>)) = gaps.map(|(id, from, until)| (id, (from, until))).unzip();
    if !machines.is_empty() {
        let stmt = client.prepare_cached(GAPS).await?;
        client.execute(&stmt, &[&machines, &from, &until]).await?;
    }
    let of = |(id, _): &(MachineId, DeviceSignal)| *id;
    let stmt = client.prepare_cached(RECORD).await?;
    client
        .execute(
            &stmt,
            &[
                &batch.iter().map(of).collect::<Vec<_>>(),
                &column(batch, |device| device.now.rssi),
                &column(batch, |device| device.boot),
                &column(batch, |device| device.pending.is_first_boot),
                &column(batch, |device| device.pending.boots),
                &column(batch, |device| device.pending.connections),
                &column(batch, |device| device.now.fw.clone()),
                &column(batch, |device| device.now.hw.clone()),
                &column(batch, |device| device.now.heard_at),
                &column(batch, |device| device.now.booted_at),
                &column(batch, |device| device.gone_since),
                &hour_of(now),
                &ownership.node(),
                &column(batch, |device| device.now.can.as_ref().map(|can| can.join(" "))),
                &column(batch, |device| device.reset.map(Reset::as_str)),
                &column(batch, |device| device.pending.lost),
            ],
        )
        .await?;
    forget_levels(client, batch).await
}

/// A board without a sensor ends what an earlier board's sensor has seen: its reports of what it runs may be held back, and another server knows
/// of no change. Machines are read first, so that nothing waits for a machine that is locked and has no level.
async fn forget_levels(client: &DbClient, batch: &[(MachineId, DeviceSignal)]) -> Result<(), DbError> {
    const SEEN: &str = "SELECT idmesin FROM mesin WHERE idmesin = ANY($1) AND sense_sejak IS NOT NULL ORDER BY idmesin";
    const FORGET: &str = "UPDATE mesin SET sense_sejak = NULL WHERE idmesin = ANY($1)";
    let has_none = |can: &Vec<String>| !can.iter().any(|can| can == "sense");
    let without = batch.iter().filter(|(_, device)| device.now.can.as_ref().is_some_and(has_none));
    let without: Vec<MachineId> = without.map(|(id, _)| *id).collect();
    if without.is_empty() {
        return Ok(());
    }
    let stmt = client.prepare_cached(SEEN).await?;
    let seen = client.query(&stmt, &[&without]).await?;
    let seen: Vec<MachineId> = seen.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    if !seen.is_empty() {
        let stmt = client.prepare_cached(FORGET).await?;
        client.execute(&stmt, &[&seen]).await?;
    }
    Ok(())
}

fn column<T>(batch: &[(MachineId, DeviceSignal)], of: impl Fn(&DeviceSignal) -> T) -> Vec<T> {
    batch.iter().map(|(_, device)| of(device)).collect()
}
