//! Troubles that staff must look at: the machine waits for staff or is closed, and an entry is written to the audit log.

use std::collections::HashMap;
use std::time::Duration;

use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::rate_limit::{SlidingWindow, WindowLimits};
use nyala_ledger::closing::record_closing;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::db::error::DbError;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::conversation::Trouble;
use super::metrics::DeviceMetrics;
use crate::machines::Location;

/// How the audit log names a device.
pub const PRINCIPAL: &str = "perangkat";
/// Troubles that may wait to be written.
const MAX_WAITING: usize = 1_024;
/// Interval in which the same trouble of a machine is audited once: two devices with one key cause it many times a minute.
const ONCE_MS: i64 = 60 * 60_000;
const MAX_REMEMBERED: usize = 16_384;
/// Interval in which a trouble flags or closes its machine at most once, however often it is reported.
const AGAIN_MS: i64 = 5_000;
/// How often troubles of that interval are checked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const MAX_ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);

/// Sender for troubles. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Troubles {
    to: mpsc::Sender<(Location, Trouble)>,
    metrics: DeviceMetrics,
}

pub fn channel(metrics: DeviceMetrics) -> (Troubles, mpsc::Receiver<(Location, Trouble)>) {
    let (to, received) = mpsc::channel(MAX_WAITING);
    (Troubles { to, metrics }, received)
}

impl Troubles {
    /// Reports a trouble. Never blocks; one for a full queue only reaches the metrics and the log.
    pub fn report(&self, location: Location, trouble: Trouble) {
        let (kind, action) = names(trouble);
        self.metrics.trouble(kind);
        // A device can cause any number of troubles: equal ones of a machine are logged once a minute.
        let error = format_args!("{action} of machine {}", location.idmesin);
        tracing::warn!(%error, idmesin = location.idmesin.get(), trouble = ?trouble, "a machine needs staff");
        let _ = self.to.try_send((location, trouble));
    }
}

/// Names of a trouble in the metrics and in the audit log.
const fn names(trouble: Trouble) -> (&'static str, &'static str) {
    match trouble {
        Trouble::MemoryLost { .. } => ("memory_lost", "mesin.perangkat_lupa"),
        Trouble::StrangeEpoch { .. } => ("strange_epoch", "mesin.epoch_aneh"),
        Trouble::Clone => ("clone", "mesin.perangkat_ganda"),
        Trouble::EndedEarly { .. } => ("ended_early", "mesin.berhenti_lebih_awal"),
    }
}

/// Writes the reported troubles, until all senders are dropped.
pub async fn write_loop(store: Store, mut received: mpsc::Receiver<(Location, Trouble)>) {
    let mut writer = Writer {
        store,
        on_record: SlidingWindow::new(WindowLimits { window_ms: ONCE_MS, max_events: MAX_REMEMBERED }),
        lately: HashMap::new(),
    };
    let mut look = interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            one = received.recv() => match one {
                Some((location, trouble)) => writer.record(location, trouble).await,
                None => return,
            },
            _ = look.tick(), if !writer.lately.is_empty() => writer.catch_up().await,
        }
    }
}

/// Machine, and kind of its trouble.
type TroubleKey = (MachineId, &'static str);

struct Writer {
    store: Store,
    on_record: SlidingWindow<TroubleKey, ()>,
    /// When each trouble was last written, and the last one reported since; at most one entry for each kind and machine.
    lately: HashMap<TroubleKey, (Timestamp, Option<(Location, Trouble)>)>,
}

impl Writer {
    /// Writes a trouble at once, or later if it was written less than [`AGAIN_MS`] ago: staff may have cleared the flag, or opened the machine, in between.
    async fn record(&mut self, location: Location, trouble: Trouble) {
        match self.lately.get_mut(&(location.idmesin, names(trouble).0)) {
            Some((_, since)) => *since = Some((location, trouble)),
            None => self.put(location, trouble).await,
        }
    }

    async fn catch_up(&mut self) {
        let past = self.store.now().plus_ms(-AGAIN_MS);
        let over: Vec<_> = self.lately.extract_if(|_, (at, _)| *at <= past).filter_map(|(_, (_, since))| since).collect();
        for (location, trouble) in over {
            self.put(location, trouble).await;
        }
    }

    async fn put(&mut self, location: Location, trouble: Trouble) {
        let key = (location.idmesin, names(trouble).0);
        let now = self.store.now();
        let is_new = self.on_record.count(&key, now) == 0;
        self.lately.insert(key, (now, None));
        for at in 1..=MAX_ATTEMPTS {
            match write(&self.store, location, trouble, is_new, now).await {
                Ok(()) => {
                    if is_new {
                        self.on_record.add(key, (), now);
                    }
                    break;
                }
                Err(e) if at == MAX_ATTEMPTS => {
                    tracing::error!(error = %e, idmesin = location.idmesin.get(), ?trouble, "a machine's trouble is not on record");
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

/// Flags the machine, or closes it. The device's next report of no run takes the flag off, and a coin machine's device reports that at once, so a
/// coin machine is closed: only staff open it.
///
/// $1 machine, $2 now, $3 why it is closed (null: it never is), $4 whether one with a relay is closed, too.
const HOLD_BACK: &str = concat!(
    "
WITH closed AS (
    UPDATE mesin SET ditutup_sejak = $2, ditutup_alasan = $3
    WHERE idmesin = $1 AND $3::TEXT IS NOT NULL AND ($4 OR cara = 'pulsa') AND ditutup_sejak IS NULL
    RETURNING idmesin, idoutlet, ditutup_alasan AS alasan
), flagged AS (
    UPDATE mesin SET perlu_petugas = TRUE WHERE idmesin = $1 AND NOT ($3 IS NOT NULL AND ($4 OR cara = 'pulsa')) AND NOT perlu_petugas
), ",
    record_closing!("$2"),
    "
SELECT FROM closed"
);

/// Why a machine is closed, for staff.
const fn reason(trouble: Trouble) -> Option<&'static str> {
    match trouble {
        Trouble::MemoryLost { .. } => Some("perangkat lupa apa yang dijalankannya, periksa perangkatnya"),
        Trouble::StrangeEpoch { .. } => Some("perangkat menyebut nomor perintah yang tidak mungkin, ganti perangkatnya"),
        Trouble::Clone => Some("dua perangkat memakai kunci yang sama, periksa perangkatnya"),
        Trouble::EndedEarly { .. } => None,
    }
}

async fn write(store: &Store, location: Location, trouble: Trouble, is_new: bool, now: Timestamp) -> Result<(), DbError> {
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let always_closes = matches!(trouble, Trouble::StrangeEpoch { .. });
    tx.execute(HOLD_BACK, &[&location.idmesin, &now, &reason(trouble), &always_closes]).await?;
    if is_new {
        let content = match trouble {
            Trouble::MemoryLost { before, now } => json!({ "epoch_dulu": before, "epoch": now }),
            Trouble::StrangeEpoch { before, now } => json!({ "dulu": before, "sekarang": now, "selisih": now - before }),
            Trouble::Clone => json!({}),
            Trouble::EndedEarly { cmd_id, left_ms } => json!({ "cmd_id": cmd_id, "sisa_s": left_ms / 1000 }),
        };
        let object = format!("mesin:{}", location.idmesin);
        let entry = AuditEntry { principal: PRINCIPAL, action: names(trouble).1, object, content };
        audit::write_at(&tx, Some(location.idoutlet), &entry, now).await?;
    }
    tx.commit().await?;
    Ok(())
}
