//! What somebody must look at: the machine waits for staff, and it goes on record.

use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;

use super::conversation::Trouble;
use super::metrics::DeviceMetrics;
use crate::db::Store;
use crate::db::audit::{self, AuditEntry};
use crate::db::error::DbError;
use crate::domain::recent::Recent;
use crate::domain::timestamp::Timestamp;
use crate::machine::machines::Location;

const PRINCIPAL: &str = "perangkat";
/// Troubles that may wait to be written.
const WAITING: usize = 1_024;
/// The same trouble of a machine is written once in so long: two devices with one key make it many times a minute.
const ONCE_MS: i64 = 60 * 60_000;
const REMEMBERED: usize = 16_384;
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);

/// Where troubles are told. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Troubles {
    to: mpsc::Sender<(Location, Trouble)>,
    metrics: DeviceMetrics,
}

pub fn channel(metrics: DeviceMetrics) -> (Troubles, mpsc::Receiver<(Location, Trouble)>) {
    let (to, told) = mpsc::channel(WAITING);
    (Troubles { to, metrics }, told)
}

impl Troubles {
    /// Never blocks. One that finds no room is counted and in the log.
    pub fn tell(&self, location: Location, trouble: Trouble) {
        let (kind, action) = names(trouble);
        self.metrics.trouble(kind);
        // A device can make as many as it likes: the same of the same machine is one line a minute.
        let error = format_args!("{action} of machine {}", location.idmesin);
        tracing::warn!(%error, idmesin = location.idmesin, trouble = ?trouble, "somebody must look at a machine");
        let _ = self.to.try_send((location, trouble));
    }
}

/// In the metrics, and in the audit log.
const fn names(trouble: Trouble) -> (&'static str, &'static str) {
    match trouble {
        Trouble::MemoryLost { .. } => ("memory_lost", "mesin.perangkat_lupa"),
        Trouble::Clone => ("clone", "mesin.perangkat_ganda"),
        Trouble::EndedEarly { .. } => ("ended_early", "mesin.berhenti_lebih_awal"),
    }
}

/// Writes what is told, until nobody is left to tell.
pub async fn write_forever(store: Store, mut told: mpsc::Receiver<(Location, Trouble)>) {
    let mut written = Recent::new(ONCE_MS, REMEMBERED);
    while let Some((location, trouble)) = told.recv().await {
        let key = (location.idmesin, names(trouble).0);
        let now = store.now();
        let is_new = written.count(&key, now) == 0;
        for at in 1..=TRIES {
            match write(&store, location, trouble, is_new, now).await {
                Ok(()) => {
                    if is_new {
                        written.add(key, (), now);
                    }
                    break;
                }
                Err(e) if at == TRIES => {
                    tracing::error!(error = %e, idmesin = location.idmesin, ?trouble, "a machine's trouble is not on record");
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

async fn write(store: &Store, location: Location, trouble: Trouble, is_new: bool, now: Timestamp) -> Result<(), DbError> {
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    tx.execute("UPDATE mesin SET perlu_petugas = TRUE WHERE idmesin = $1 AND NOT perlu_petugas", &[&location.idmesin]).await?;
    if is_new {
        let content = match trouble {
            Trouble::MemoryLost { before, now } => json!({ "epoch_dulu": before, "epoch": now }),
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
