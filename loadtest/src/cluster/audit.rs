//! What everybody was told against what the database knows.

use super::postgres::{Database, connect};
use crate::crash::payer::{Known, Payer};

/// What the database knows against what customers were told, beyond the ledger's own rules.
pub async fn audit(database: &Database, payers: &[Payer]) -> Result<Vec<String>, String> {
    let client = connect(&database.config()).await?;
    let told = |e: tokio_postgres::Error| e.to_string();
    let mut broken = Vec::new();
    for payer in payers {
        let whose = payer.account().id_customer_global;
        let receipts = "SELECT no_nota FROM snap_transaksi WHERE id_customer_global = $1 AND state IN ('RUNNING', 'FINISHED')";
        let bought: Vec<String> = client.query(receipts, &[&whose]).await.map_err(told)?.iter().map(|row| row.get(0)).collect();
        for (number, receipt) in payer.receipts() {
            if (receipt.told == Known::Runs) != bought.contains(number) {
                broken
                    .push(format!("receipt {number} of customer {whose:?} was told {:?}, the database disagrees", receipt.told));
            }
        }
    }
    let open = "SELECT count(*) FROM snap_transaksi WHERE state IN ('HELD', 'SENT', 'UNSURE')";
    let open: i64 = client.query_one(open, &[]).await.map_err(told)?.get(0);
    if open > 0 {
        broken.push(format!("{open} purchases are undecided"));
    }
    let twice = "SELECT count(*) FROM (SELECT FROM snap_transaksi GROUP BY cmd_id HAVING count(*) > 1) AS twice";
    let twice: i64 = client.query_one(twice, &[]).await.map_err(told)?.get(0);
    if twice > 0 {
        broken.push(format!("{twice} commands belong to two purchases"));
    }
    Ok(broken)
}
