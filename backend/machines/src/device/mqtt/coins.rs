//! Coins that boards count, stored as they grow (`koin_seri`, `koin_hitung`). The server that a device is connected to writes them. The
//! stored row is locked while a report is compared with it, so that several servers never count a coin twice.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nyala_core::coins::{CoinReport, Counted, MAX_FORMER};
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use tokio_postgres::Row;

use super::message::{BootId, DeviceMessage, Heartbeat, Stamp, State};

const EVERY: Duration = Duration::from_millis(500);
/// Devices per transaction.
const BATCH: usize = 500;
/// Maximum number of boots of a device whose coins wait to be written; older ones are left out.
const MAX_BOOTS: usize = MAX_FORMER;

/// The first report begins a series. $1 machines, $2 boots, $3 coins, $4 when the reports were received.
const BEGIN: &str = "
    INSERT INTO koin_seri (idmesin, boot, koin, didengar_at)
    SELECT s.* FROM unnest($1::BIGINT[], $2::BIGINT[], $3::BIGINT[], $4::TIMESTAMPTZ[]) AS s (idmesin, boot, koin, didengar_at)
    JOIN mesin USING (idmesin) ORDER BY idmesin
    ON CONFLICT (idmesin) DO NOTHING";
/// How far the coins of machines ($1) are counted.
const COUNTED: &str = "SELECT idmesin, boot, koin, didengar_at, boot_lama, koin_lama FROM koin_seri WHERE idmesin = ANY($1) ORDER BY idmesin FOR UPDATE";
/// Parameters: as of [`BEGIN`], $5 new coins, and the former boots of each machine with their numbers, separated by commas ($6, $7), because
/// `unnest` takes no arrays of arrays.
const GO_ON: &str = "
    UPDATE koin_seri k SET boot = s.boot, koin = s.koin, didengar_at = s.didengar_at, jumlah = k.jumlah + s.baru,
        boot_lama = string_to_array(s.boot_lama, ',')::BIGINT[], koin_lama = string_to_array(s.koin_lama, ',')::BIGINT[]
    FROM unnest($1::BIGINT[], $2::BIGINT[], $3::BIGINT[], $4::TIMESTAMPTZ[], $5::BIGINT[], $6::TEXT[], $7::TEXT[])
        AS s (idmesin, boot, koin, didengar_at, baru, boot_lama, koin_lama)
    WHERE k.idmesin = s.idmesin";
/// $1 machines, $2 when coins were reported, $3 their number.
const COUNT: &str = "
    INSERT INTO koin_hitung AS h (idmesin, dihitung_at, idoutlet, jumlah, nilai)
    SELECT s.idmesin, s.at, m.idoutlet, SUM(s.n)::BIGINT, SUM(s.n * m.nilai_koin)::BIGINT
    FROM unnest($1::BIGINT[], $2::TIMESTAMPTZ[], $3::BIGINT[]) AS s (idmesin, at, n) JOIN mesin m USING (idmesin) GROUP BY s.idmesin, s.at, m.idoutlet
    ON CONFLICT (idmesin, dihitung_at) DO UPDATE SET jumlah = h.jumlah + EXCLUDED.jumlah, nilai = h.nilai + EXCLUDED.nilai";

/// What boards have said to this server since it started.
#[derive(Debug, Default)]
pub struct CoinCounts {
    known: Mutex<HashMap<MachineId, Reported>>,
}

#[derive(Debug)]
struct Reported {
    /// Reports that this server has received, so that a repeated one is not written again. The stored row decides what is counted, because
    /// other servers write it, too.
    counted: Counted,
    /// What is not stored yet: the newest of each boot, the oldest first.
    waiting: Vec<CoinReport>,
}

impl Reported {
    fn add(&mut self, said: CoinReport) {
        match self.waiting.last_mut().filter(|newest| newest.boot == said.boot) {
            Some(newest) => *newest = said,
            None => self.waiting.push(said),
        }
        let too_many = self.waiting.len().saturating_sub(MAX_BOOTS);
        self.waiting.drain(..too_many);
    }
}

type Batch = Vec<(MachineId, Vec<CoinReport>)>;

impl CoinCounts {
    fn lock(&self) -> MutexGuard<'_, HashMap<MachineId, Reported>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message of the device was accepted.
    pub fn on_message(&self, idmesin: MachineId, message: &DeviceMessage, now: Timestamp) {
        let (DeviceMessage::State(State { stamp, coins: Some(coins), .. })
        | DeviceMessage::Heartbeat(Heartbeat { stamp, coins: Some(coins), .. })) = message
        else {
            return;
        };
        let said = report(stamp, *coins, now);
        let mut known = self.lock();
        match known.get_mut(&idmesin) {
            Some(known) => {
                if known.counted.count(said).is_some() {
                    known.add(said);
                }
            }
            None => drop(known.insert(idmesin, Reported { counted: Counted::since(said), waiting: vec![said] })),
        }
    }

    /// Writes what was said. Runs until the process ends.
    pub async fn record_loop(&self, store: Store) {
        let mut every = tokio::time::interval(EVERY);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            if let Err(e) = self.record(&store).await {
                tracing::warn!(error = %e, "coins were not stored; it will be tried again");
            }
        }
    }

    async fn record(&self, store: &Store) -> Result<(), DbError> {
        loop {
            let batch = self.take();
            if batch.is_empty() {
                return Ok(());
            }
            if let Err(e) = write(store, &batch).await {
                self.give_back(batch);
                return Err(e);
            }
        }
    }

    /// Machines in the order of their ids, so that two servers never wait for each other's rows.
    fn take(&self) -> Batch {
        let mut known = self.lock();
        let waiting = known.iter_mut().filter(|(_, known)| !known.waiting.is_empty()).take(BATCH);
        let mut batch: Batch = waiting.map(|(id, known)| (*id, std::mem::take(&mut known.waiting))).collect();
        batch.sort_unstable_by_key(|(id, _)| *id);
        batch
    }

    /// What could not be written waits again, before what was said since.
    fn give_back(&self, batch: Batch) {
        let mut known = self.lock();
        for (id, taken) in batch {
            let Some(known) = known.get_mut(&id) else { continue };
            let since = std::mem::replace(&mut known.waiting, taken);
            since.into_iter().for_each(|said| known.add(said));
        }
    }
}

fn report(stamp: &Stamp, coins: i64, at: Timestamp) -> CoinReport {
    CoinReport { boot: stamp.boot_id.as_ref().map(BootId::key), coins, at }
}

async fn write(store: &Store, batch: &Batch) -> Result<(), DbError> {
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let first: Vec<(MachineId, CoinReport)> = batch.iter().filter_map(|(id, said)| Some((*id, *said.first()?))).collect();
    let (machines, boots, coins, at) = columns(&first);
    let stmt = tx.prepare_cached(BEGIN).await?;
    tx.execute(&stmt, &[&machines, &boots, &coins, &at]).await?;
    let stmt = tx.prepare_cached(COUNTED).await?;
    let counted = tx.query(&stmt, &[&machines]).await?;
    let mut counted: HashMap<MachineId, Counted> = counted.iter().map(stored).collect::<Result<_, DbError>>()?;
    let (mut series, mut new): (Vec<(MachineId, CoinReport)>, Vec<i64>) = Default::default();
    let mut former: (Vec<String>, Vec<String>) = Default::default();
    let mut counts: (Vec<MachineId>, Vec<Timestamp>, Vec<i64>) = Default::default();
    for (id, said) in batch {
        // A machine that is not there has no series.
        let Some(counted) = counted.get_mut(id) else { continue };
        let (before, mut sum) = (counted.clone(), 0);
        for said in said {
            let Some(coins) = counted.count(*said) else { continue };
            sum += coins;
            if coins > 0 {
                counts.0.push(*id);
                counts.1.push(said.at);
                counts.2.push(coins);
            }
        }
        if *counted != before {
            series.push((*id, counted.last));
            new.push(sum);
            former.0.push(listed(counted.former.iter().map(|(boot, _)| *boot)));
            former.1.push(listed(counted.former.iter().map(|(_, coins)| *coins)));
        }
    }
    if !series.is_empty() {
        let (machines, boots, coins, at) = columns(&series);
        let stmt = tx.prepare_cached(GO_ON).await?;
        tx.execute(&stmt, &[&machines, &boots, &coins, &at, &new, &former.0, &former.1]).await?;
    }
    if !counts.0.is_empty() {
        let stmt = tx.prepare_cached(COUNT).await?;
        tx.execute(&stmt, &[&counts.0, &counts.1, &counts.2]).await?;
    }
    Ok(tx.commit().await?)
}

fn listed(numbers: impl Iterator<Item = i64>) -> String {
    numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(",")
}

type Columns = (Vec<MachineId>, Vec<Option<i64>>, Vec<i64>, Vec<Timestamp>);

fn columns(reports: &[(MachineId, CoinReport)]) -> Columns {
    let mut columns = Columns::default();
    for (id, CoinReport { boot, coins, at }) in reports {
        columns.0.push(*id);
        columns.1.push(*boot);
        columns.2.push(*coins);
        columns.3.push(*at);
    }
    columns
}

fn stored(row: &Row) -> Result<(MachineId, Counted), DbError> {
    let last = CoinReport { boot: row.try_get(1)?, coins: row.try_get(2)?, at: row.try_get(3)? };
    let (boots, coins): (Vec<i64>, Vec<i64>) = (row.try_get(4)?, row.try_get(5)?);
    Ok((row.try_get(0)?, Counted { last, former: boots.into_iter().zip(coins).collect() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(boot: i64, coins: i64) -> DeviceMessage {
        let stamp = Stamp { boot_id: Some(BootId::Number(boot)), ..Stamp::default() };
        DeviceMessage::Heartbeat(Heartbeat { stamp, coins: Some(coins), ..Heartbeat::default() })
    }

    fn waiting(batch: &Batch) -> Vec<(Option<i64>, i64)> {
        batch.iter().flat_map(|(_, said)| said.iter().map(|said| (said.boot, said.coins))).collect()
    }

    #[test]
    fn the_newest_of_each_boot_waits_and_what_is_known_does_not() {
        let (counts, id, now) = (CoinCounts::default(), MachineId::new(7), Timestamp::from_ms(1));
        let report = |boot, coins| counts.on_message(id, &message(boot, coins), now);
        for (boot, coins) in [(1, 5), (1, 7), (1, 6), (2, 3), (2, 4)] {
            report(boot, coins);
        }
        counts.on_message(id, &DeviceMessage::Heartbeat(Heartbeat::default()), now);
        let taken = counts.take();
        assert_eq!(waiting(&taken), [(Some(1), 7), (Some(2), 4)]);
        report(2, 4);
        assert!(counts.take().is_empty());
        report(2, 9);
        counts.give_back(taken);
        assert_eq!(waiting(&counts.take()), [(Some(1), 7), (Some(2), 9)]);
        (10..30).for_each(|boot| report(boot, 1));
        assert_eq!(waiting(&counts.take()).len(), MAX_BOOTS);
    }
}
