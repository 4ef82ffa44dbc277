//! Comparison of what customers were answered and what devices did with what the database has stored.

use std::time::{Duration, Instant};

use super::outcome::CycleEnd;
use super::postgres::{Database, connect};
use crate::crash::audit::Devices;
use crate::crash::payer::{Payer, ReceiptOutcome};
use crate::fleet::Fleet;
use crate::shop::TestMachine;

/// Compares the stored purchases with the answers that customers received, beyond the ledger's own rules.
pub async fn answers(database: &Database, payers: &[Payer]) -> Result<Vec<String>, String> {
    let client = connect(&database.config()).await?;
    let failed = |e: tokio_postgres::Error| e.to_string();
    let mut broken = Vec::new();
    for payer in payers {
        let whose = payer.account().id_customer_global;
        let receipts = "SELECT no_nota FROM snap_transaksi WHERE id_customer_global = $1 AND state IN ('RUNNING', 'FINISHED')";
        let bought: Vec<String> = client.query(receipts, &[&whose]).await.map_err(failed)?.iter().map(|row| row.get(0)).collect();
        for (number, receipt) in payer.receipts() {
            if (receipt.outcome == ReceiptOutcome::Runs) != bought.contains(number) {
                broken.push(format!(
                    "receipt {number} of customer {whose:?} was told {:?}, the database disagrees",
                    receipt.outcome
                ));
            }
        }
    }
    let open = "SELECT count(*) FROM snap_transaksi WHERE state IN ('HELD', 'SENT', 'UNSURE')";
    let open: i64 = client.query_one(open, &[]).await.map_err(failed)?.get(0);
    if open > 0 {
        broken.push(format!("{open} purchases are undecided"));
    }
    let twice = "SELECT count(*) FROM (SELECT FROM snap_transaksi GROUP BY cmd_id HAVING count(*) > 1) AS twice";
    let twice: i64 = client.query_one(twice, &[]).await.map_err(failed)?.get(0);
    if twice > 0 {
        broken.push(format!("{twice} commands belong to two purchases"));
    }
    Ok(broken)
}

/// Each device has switched on once for each command that it remembers to have run: at most one start per `cmd_id`.
pub async fn starts(fleet: &Fleet, machines: &[TestMachine], devices: &Devices) -> Result<Vec<String>, String> {
    let (mut broken, commands) = (Vec::new(), devices.started());
    for machine in machines.iter().map(|m| m.idmesin) {
        let (starts, commands) = (fleet.starts(machine).await?, commands.get(&machine).copied().unwrap_or_default());
        if starts != commands {
            broken.push(format!("machine {machine} was switched on {starts} times for {commands} commands"));
        }
    }
    Ok(broken)
}

/// Cycles that were not stopped: when each ended since the faults began, and how long after its `ends_at`.
pub async fn ends(database: &Database, since: Instant) -> Result<Vec<CycleEnd>, String> {
    let client = connect(&database.config()).await?;
    let ended = "SELECT (extract(epoch FROM clock_timestamp() - ends_at) * 1000)::BIGINT,
            (extract(epoch FROM finished_at - ends_at) * 1000)::BIGINT
        FROM snap_transaksi WHERE state = 'FINISHED'";
    let rows = client.query(ended, &[]).await.map_err(|e| e.to_string())?;
    let ms = |ms: i64| Duration::from_millis(u64::try_from(ms).unwrap_or_default());
    let (now, of) = (since.elapsed(), |ago: i64, late: i64| (ms(ago), ms(late)));
    Ok(rows
        .iter()
        .map(|row| of(row.get(0), row.get(1)))
        .filter_map(|(ago, late)| Some(CycleEnd { at: now.checked_sub(ago)? + late, after: late }))
        .collect())
}
