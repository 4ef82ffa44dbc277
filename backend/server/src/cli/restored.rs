//! `nyala restored`: an operator declares that the database was restored in a way that it cannot detect. Also the report of a restore.

use clap::Args;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::history::{self, Cause, Jump, Plan};
use nyala_store::db::lock::{Part, ServerLock};
use tokio_postgres::Client;

use super::context::{self, CommandContext};
use super::{CommonArgs, Failure, output};

#[derive(Debug, Args)]
pub struct Restored {
    /// End every customer's login and every till's session; the tills' browsers stay paired
    #[arg(long)]
    log_out: bool,
}

impl Restored {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        let report = context::run(common, async |k| self.jump(k).await)?;
        output::print(&report.text(), "ids and epochs have jumped ahead")?;
        report.verdict()
    }

    async fn jump(&self, k: &CommandContext) -> Result<Report, Failure> {
        // While a server runs, the database's past is not over.
        let _lock = ServerLock::wait(k.db.config(), &Part::Alone).await.map_err(|e| context::locked_out(&k.config, e))?;
        let mut client = k.client().await?;
        let until = history::last_entry(&client).await?;
        let jump = history::jump(&mut client, Plan { cause: Cause::Command, steps: 1, log_out: self.log_out }).await?;
        Report::read(&client, until, jump).await
    }
}

/// What a restore has brought back.
#[derive(Debug)]
pub struct Report {
    until: Option<Timestamp>,
    last_purchase: Option<(String, Timestamp)>,
    last_topup: Option<(i64, Timestamp)>,
    jump: Jump,
    broken: i64,
}

impl Report {
    /// Reads it from the database after the `jump`; `until` is the moment up to which it was restored.
    pub async fn read(client: &Client, until: Option<Timestamp>, jump: Jump) -> Result<Self, Failure> {
        const PURCHASE: &str = "SELECT no_nota, created_at FROM snap_transaksi ORDER BY id DESC LIMIT 1";
        const TOPUP: &str = "SELECT id, created_at FROM pembelian_emoney ORDER BY id DESC LIMIT 1";
        let last_purchase = client.query_opt(PURCHASE, &[]).await?.map(|row| (row.get(0), row.get(1)));
        let last_topup = client.query_opt(TOPUP, &[]).await?.map(|row| (row.get(0), row.get(1)));
        let broken = client.query_one("SELECT count(*) FROM pelanggaran", &[]).await?.get(0);
        Ok(Self { until, last_purchase, last_topup, jump, broken })
    }

    /// A line for each finding, as in docs/operations.md.
    pub fn text(&self) -> String {
        let instant = |at: &Timestamp| at.rfc3339();
        let named = |name: &dyn std::fmt::Display, at: &Timestamp| format!("{name} {}", at.rfc3339());
        let none = || "none".to_owned();
        let lines = [
            format!("restored to: {}", self.until.as_ref().map_or_else(none, instant)),
            format!("last purchase: {}", self.last_purchase.as_ref().map_or_else(none, |(nota, at)| named(nota, at))),
            format!("last top-up: {}", self.last_topup.as_ref().map_or_else(none, |(id, at)| named(id, at))),
            format!("timeline: {} -> {}", self.jump.timelines.0, self.jump.timelines.1),
            format!("ids: +{}", self.jump.by),
            format!("audit: {} broken", self.broken),
        ];
        lines.join("\n")
    }

    /// Fails when a rule of the ledger is broken.
    pub fn verdict(&self) -> Result<(), Failure> {
        if self.broken == 0 { Ok(()) } else { Err(Failure::new("rules of the ledger are broken: see `nyala audit verify`")) }
    }
}
