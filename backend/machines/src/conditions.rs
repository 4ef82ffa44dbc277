//! Records from when until when each machine is closed, offline, unsure, or waits for staff (`keadaan_mesin`). The server that owns the machine
//! derives it from the database, so purchases and devices have nothing more to write.

use std::time::{Duration, Instant};

use nyala_cluster::of_shards;
use nyala_core::domain::timestamp::Timestamp;

use super::error::MachineError;
use super::machines::Machines;

/// The shortest pause.
const EVERY: Duration = Duration::from_secs(1);
/// Each pause is this many times as long as the work before it, which takes at most a hundredth of a core.
const PAUSE_FACTOR: u32 = 100;

/// The conditions that hold of each machine, as an array. $1 now, $2 the shards (NULL: all).
macro_rules! holds {
    () => {
        concat!(
            "
    SELECT m.idmesin, m.idoutlet, array_remove(ARRAY[
        CASE WHEN m.ditutup_sejak IS NOT NULL THEN 'ditutup' END,
        CASE WHEN m.perlu_petugas THEN 'perlu_petugas' END,
        CASE WHEN NOT m.online THEN 'offline' END,
        CASE WHEN m.jalan_cmd_id IS NOT NULL THEN 'tanpa_bayar' END,
        CASE WHEN t.state = 'UNSURE' THEN 'belum_pasti' END], NULL) AS ada
    FROM mesin m LEFT JOIN snap_transaksi t ON t.idmesin = m.idmesin AND t.state = 'UNSURE'
    WHERE m.aktif AND ",
            of_shards!("m.idoutlet", 2)
        )
    };
}

/// Ends what holds no more, also of machines that were retired.
pub const END: &str = concat!(
    "
WITH h AS (",
    holds!(),
    ")
UPDATE keadaan_mesin k SET sampai = $1
FROM mesin m LEFT JOIN h USING (idmesin)
WHERE k.sampai IS NULL AND m.idmesin = k.idmesin AND ",
    of_shards!("m.idoutlet", 2),
    " AND k.keadaan <> ALL(COALESCE(h.ada, '{}'))"
);

/// Begins what holds now. Another server that has just taken the shard over may have begun it, too.
pub const BEGIN: &str = concat!(
    "
INSERT INTO keadaan_mesin (idmesin, keadaan, dari)
SELECT h.idmesin, keadaan, $1 FROM (",
    holds!(),
    ") h, unnest(h.ada) AS keadaan
WHERE NOT EXISTS (SELECT FROM keadaan_mesin k WHERE k.idmesin = h.idmesin AND k.keadaan = keadaan.keadaan AND k.sampai IS NULL)
ON CONFLICT DO NOTHING"
);

/// Records conditions until the server stops.
pub async fn record_loop(machines: Machines) {
    loop {
        let began = Instant::now();
        let now = machines.parts().store.now();
        if let Err(e) = record(&machines, now).await {
            tracing::warn!(error = %e, "the conditions of machines were not recorded; it will be tried again");
        }
        tokio::time::sleep(EVERY.max(began.elapsed() * PAUSE_FACTOR)).await;
    }
}

async fn record(machines: &Machines, now: Timestamp) -> Result<(), MachineError> {
    let shards = machines.ownership().shards();
    if shards.as_ref().is_some_and(Vec::is_empty) {
        return Ok(());
    }
    let client = machines.parts().store.get().await?;
    for statement in [END, BEGIN] {
        let stmt = client.prepare_cached(statement).await?;
        client.execute(&stmt, &[&now, &shards]).await?;
    }
    Ok(())
}
