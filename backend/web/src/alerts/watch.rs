//! Watches what needs a person at the outlets that this server owns, and begins, repeats and ends alerts.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use nyala_cluster::{Ownership, of_shards};
use nyala_core::board::alert::{self, Current};
use nyala_core::board::attention::{self, About, Entry, Kind, OutletHistory};
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::prices::{ClockTime, Zone};
use nyala_ledger::error::LedgerError;
use nyala_ledger::on_sale::Closing;
use nyala_store::backup::health::BackupHealth;
use nyala_store::config::AttentionSettings;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;

use tokio_postgres::Row;

use super::digest::Digests;
use super::metrics::AttentionMetrics;
use super::store;
use crate::board::history;

/// The shortest pause.
const EVERY: Duration = Duration::from_secs(1);
/// Each pause is this many times as long as the work before it, which takes about a hundredth of a core, up to the longest pause.
const PAUSE_FACTOR: u32 = 100;
const MAX_PAUSE: Duration = Duration::from_secs(5);

const OUTLETS: &str = concat!(
    "
SELECT o.idoutlet, o.zona, o.hari_mulai, o.dibuka_at IS NOT NULL AS dibuka, o.jam_buka, o.ditutup_alasan, o.ditutup_sejak, o.ditutup_sampai,
       NOT EXISTS (SELECT FROM outlet p WHERE p.idowner = o.idowner AND p.idoutlet < o.idoutlet) AS pertama
FROM outlet o WHERE ",
    of_shards!("o.idoutlet", 1)
);
const MACHINES: &str = "SELECT idoutlet, idmesin, ditutup_sejak IS NOT NULL FROM mesin WHERE idoutlet = ANY($1) AND aktif";

/// The parts that the watch uses.
pub struct Watch {
    pub store: Store,
    pub ownership: Ownership,
    pub settings: AttentionSettings,
    pub backup: BackupHealth,
    pub metrics: AttentionMetrics,
}

impl Watch {
    /// Runs until the process ends.
    pub async fn run(self) {
        let mut digests = Digests::default();
        loop {
            let began = Instant::now();
            if let Err(e) = self.look(&mut digests, self.store.now()).await {
                tracing::warn!(error = %e, "what needs a person was not looked for; it will be tried again");
            }
            tokio::time::sleep((began.elapsed() * PAUSE_FACTOR).clamp(EVERY, MAX_PAUSE)).await;
        }
    }

    async fn look(&self, digests: &mut Digests, now: Timestamp) -> Result<(), LedgerError> {
        let mut client = self.store.get().await?;
        let outlets = client.query(&client.prepare_cached(OUTLETS).await?, &[&self.ownership.shards()]).await?;
        self.alert(&client, &outlets, now).await?;
        for row in &outlets {
            let opens = row.try_get::<_, Option<i16>>("jam_buka")?.and_then(|minute| ClockTime::from_minute(minute.into()));
            let (idoutlet, zone) = (row.try_get("idoutlet")?, Zone::parse(row.try_get("zona")?).unwrap_or_default());
            if row.try_get("dibuka")?
                && let Some(opened_at) = digests.opened_at(idoutlet, &zone, opens, now)
            {
                digests.queue(&mut client, idoutlet, opened_at, now).await?;
            }
        }
        Ok(())
    }

    /// Begins, repeats and ends alerts.
    async fn alert(&self, client: &DbClient, outlets: &[Row], now: Timestamp) -> Result<(), DbError> {
        let entries = self.entries(client, outlets, now).await?;
        self.metrics.set(|kind| entries.values().flatten().filter(|current| current.entry.kind == kind).count());
        let outlets: Vec<OutletId> = entries.keys().copied().collect();
        let mut alerts: HashMap<OutletId, Vec<store::OpenAlert>> = HashMap::new();
        for open in store::open(client, &outlets).await? {
            alerts.entry(open.idoutlet).or_default().push(open);
        }
        for (idoutlet, entries) in &entries {
            let open = alerts.remove(idoutlet).unwrap_or_default();
            let known: Vec<_> = open.iter().map(|open| open.alert).collect();
            let (changes, new) = alert::next(&known, entries, self.settings.pacing(), now);
            for (n, change) in changes {
                store::change(client, open[n].id, change, now).await?;
            }
            for entry in new {
                store::begin(client, *idoutlet, entry, now).await?;
            }
        }
        Ok(())
    }

    /// The entries of each of these outlets.
    async fn entries(&self, client: &DbClient, rows: &[Row], now: Timestamp) -> Result<HashMap<OutletId, Vec<Current>>, DbError> {
        let ids: Vec<OutletId> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        let mut machines: HashMap<OutletId, Vec<(MachineId, bool)>> = HashMap::new();
        for row in client.query(&client.prepare_cached(MACHINES).await?, &[&ids]).await? {
            machines.entry(row.try_get(0)?).or_default().push((row.try_get(1)?, row.try_get(2)?));
        }
        let mut facts = history::read(client, &ids, now).await?;
        let backup = self.backup.bad_since(now);
        let mut all = HashMap::new();
        for row in rows {
            let idoutlet = row.try_get(0)?;
            let facts = facts.remove(&idoutlet).unwrap_or_default();
            let machines = machines.remove(&idoutlet).unwrap_or_default();
            let history = OutletHistory {
                opened: row.try_get("dibuka")?,
                sells: Closing::of(row, now)?.is_none(),
                machines: machines.into_iter().map(|(id, closed)| facts.machine(id, closed)).collect(),
                shifts: facts.shifts.clone(),
                move_refused_at: facts.move_refused_at,
                complaints: facts.open_complaints(),
                payment_since: facts.payment_since,
                day_began: history::day_began(row.try_get("zona")?, row.try_get("hari_mulai")?, now)?,
            };
            let mut entries = attention::of(&history, self.settings.patience(), now);
            if let Some(since) = backup.filter(|_| row.get("pertama")) {
                entries.push(Entry { kind: Kind::Backup, about: About::Outlet, since });
            }
            let current = |entry| Current { entry, taken_by: facts.taken(entry).map(|(by, _)| by) };
            all.insert(idoutlet, entries.into_iter().map(current).collect());
        }
        Ok(all)
    }
}
