//! `nyala audit verify`: every invariant of the ledger.

use clap::Subcommand;

use super::{CommonArgs, Failure, context};

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
        let broken = context::run(common, async |k| {
            let client = k.client().await?;
            let broken = client.query(BROKEN, &[]).await?;
            for row in &broken {
                println!("{}: {}", row.get::<_, &str>(0), row.get::<_, &str>(1));
            }
            if broken.is_empty() {
                let n = client.query_one(COUNTS, &[]).await?;
                let count = |i: usize| n.get::<_, i64>(i);
                println!(
                    "OK: {} rekening, {} gerak, {} pemakaian, {} top-up, 0 pelanggaran",
                    count(0),
                    count(1),
                    count(2),
                    count(3)
                );
            }
            Ok(broken.len())
        })?;
        if broken == 0 { Ok(()) } else { Err(Failure::new(format!("{broken} rules of the ledger are broken"))) }
    }
}
