//! `nyala audit verify`: every invariant of the ledger.

use clap::Subcommand;
use nyala_ledger::paid;

use super::{CommonArgs, Failure, context, output};

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Print every broken rule; succeeds when there is none
    Verify,
}

const BROKEN: &str = "SELECT aturan, kunci FROM pelanggaran ORDER BY aturan, kunci";
const COUNTS: &str = "
    SELECT (SELECT count(*) FROM quota_emoney), (SELECT count(*) FROM ledger_transfer), (SELECT count(*) FROM snap_transaksi),
        (SELECT count(*) FROM pembelian_emoney)";

impl AuditCommand {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        let Self::Verify = self;
        let (text, broken) = context::run(common, async |k| {
            let client = k.client().await?;
            let rows = client.query(BROKEN, &[]).await?;
            let mut broken: Vec<String> =
                rows.iter().map(|row| format!("{}: {}", row.get::<_, &str>(0), row.get::<_, &str>(1))).collect();
            broken.extend(paid::broken(&client).await?.into_iter().map(|(rule, id)| format!("{rule}: {id}")));
            if broken.is_empty() {
                let n = client.query_one(COUNTS, &[]).await?;
                let [accounts, transfers, purchases, topups] = [0, 1, 2, 3].map(|i| n.get::<_, i64>(i));
                let text =
                    format!("OK: {accounts} rekening, {transfers} gerak, {purchases} pemakaian, {topups} top-up, 0 pelanggaran");
                return Ok((text, 0));
            }
            Ok((broken.join("\n"), broken.len()))
        })?;
        let verdict = if broken == 0 {
            "no rule of the ledger is broken".to_owned()
        } else {
            format!("{broken} rules of the ledger are broken")
        };
        let printed = output::print(&text, &verdict);
        if broken == 0 { printed } else { Err(Failure::new(verdict)) }
    }
}
