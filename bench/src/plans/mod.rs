//! Duration and rows read of the statements that recovery executes each second (in a cluster each 300 ms) and of those for a device's message, on
//! the tables of a large operator, with their indexes and without them.

mod explain;
pub mod fill;

use clap::Args;
use nyala_ledger::facts;
use nyala_machines::device::record;
use nyala_machines::recovery;
use nyala_store::db::migrate;
use tokio_postgres::Client;

use crate::durations::Durations;
use crate::results::Figures;
use crate::server::Scratch;
use crate::{BenchError, db};
use explain::Explained;

/// The indexes that exist for these statements (`migrations/V20261127__lost_work.sql`, `migrations/V20261129__outbox_goes.sql`,
/// `migrations/V20261208__run_again.sql`, `migrations/V20270109__sensors.sql`): the figures "without" are taken without them.
const INDEXES: &str = "purchase_runs_until, purchase_command_until, purchase_unsure_since, purchase_stop_requested, purchase_command, \
    machine_waits_for_staff, mesin_jalan_stop, mesin_jalan_sampai, mesin_sense";

/// The product's own statements, each with arguments on what `fill` makes. A device reports a run that is not its machine's open
/// purchase, in a new boot: the worst case of `RECORD`, as it is looked up among all that the machine ever ran.
const STATEMENTS: [(&str, &str, &str); 7] = [
    ("OVERDUE", recovery::OVERDUE, "{late}, {long_ago}, 1000, NULL"),
    ("RELAY", recovery::RESEND, "{late} + INTERVAL '10 s', {late}, 1000, NULL"),
    ("UNDECIDED", recovery::UNDECIDED, "{late} + INTERVAL '10 s', {late}, 1000, NULL"),
    ("UNSETTLED_BUT", facts::UNSETTLED_BUT, "ARRAY[1, 2, 3]"),
    ("ASKED", recovery::ASKED, "1000, NULL"),
    ("UNPAID", recovery::UNPAID, "1000, NULL, {now}"),
    (
        "RECORD",
        record::RECORD,
        "7, TRUE, TRUE, '00000000-0000-4000-8000-000000000001', {now}, {now} + INTERVAL '25 min', 2, {late}, 0, NULL, NULL",
    ),
];

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Plans {
    /// Purchases, nearly all of them finished
    #[arg(long, default_value_t = Self::default().purchases, value_parser = clap::value_parser!(u32).range(1000..=100_000_000))]
    pub purchases: u32,
    /// Machines, all of them in use; fewer than purchases
    #[arg(long, default_value_t = Self::default().machines, value_parser = clap::value_parser!(u32).range(1000..=1_000_000))]
    pub machines: u32,
    /// Times each statement is run
    #[arg(long, default_value_t = Self::default().calls, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub calls: u32,
}

impl Default for Plans {
    fn default() -> Self {
        Self { purchases: 1_000_000, machines: 50_000, calls: 25 }
    }
}

/// One statement under one kind of plan.
#[derive(Debug)]
pub struct Measured {
    pub statement: &'static str,
    /// Whether PostgreSQL knew the arguments when it planned: both kinds are used, by its own choice.
    pub generic: bool,
    pub indexed: bool,
    /// Tables that it read from end to end.
    pub scanned: Vec<String>,
    /// Rows that its scans took or rejected.
    pub looked_at: f64,
    pub times: Durations,
}

impl Plans {
    /// A rough figure.
    pub fn quick() -> Self {
        Self { purchases: 50_000, machines: 5_000, calls: 5 }
    }

    /// # Errors
    /// When the database cannot be made or filled.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let lines: Vec<String> = self.measure().await?.iter().map(Measured::line).collect();
        let (purchases, machines) = (self.purchases, self.machines);
        let mut figures = Figures::list(format!("Recovery's statements, {purchases} purchases, {machines} machines"), &lines);
        figures.body += "- Aim: at most 1 ms each\n";
        Ok(figures)
    }

    /// Every statement under every kind of plan, first without the indexes that are for it.
    ///
    /// # Errors
    /// When the database cannot be made or filled, or a statement fails.
    pub async fn measure(&self) -> Result<Vec<Measured>, BenchError> {
        if self.machines >= self.purchases {
            return Err(format!("--machines {} must be fewer than --purchases {}", self.machines, self.purchases).into());
        }
        let scratch = Scratch::make()?;
        let postgres = db::make(&scratch.data())?;
        let mut client = db::connect(&postgres).await?;
        migrate::run(&mut client).await?;
        fill::fill(&client, self).await?;
        db::settle(&client).await?;
        for (name, sql, _) in STATEMENTS {
            client.batch_execute(&format!("PREPARE {name} AS {sql}")).await?;
        }
        let mut all = Vec::new();
        for indexed in [false, true] {
            for generic in [false, true] {
                for (statement, _, arguments) in STATEMENTS {
                    all.push(self.one(&client, statement, arguments, generic, indexed).await?);
                }
            }
        }
        Ok(all)
    }

    /// Whatever a statement changes is undone after each call.
    async fn one(
        &self,
        client: &Client,
        statement: &'static str,
        arguments: &str,
        generic: bool,
        indexed: bool,
    ) -> Result<Measured, BenchError> {
        let call = format!("{statement}({})", fill::at(arguments));
        let kind = if generic { "force_generic_plan" } else { "force_custom_plan" };
        let without = if indexed { String::new() } else { format!("DROP INDEX {INDEXES};") };
        client.batch_execute(&format!("BEGIN; SET LOCAL plan_cache_mode = {kind}; {without}")).await?;
        let (mut times, mut last) = (Durations::default(), Explained::default());
        for _ in 0..self.calls {
            client.batch_execute("SAVEPOINT clean").await?;
            last = explain::explain(client, &call).await?;
            times.add(last.took);
            client.batch_execute("ROLLBACK TO clean").await?;
        }
        client.batch_execute("ROLLBACK").await?;
        Ok(Measured { statement, generic, indexed, scanned: last.scanned, looked_at: last.looked_at, times })
    }
}

impl Measured {
    fn line(&self) -> String {
        let Self { statement, looked_at, times, .. } = self;
        let plan = if self.generic { "generic" } else { "custom" };
        let indexes = if self.indexed { "with its indexes" } else { "without" };
        let scanned = if self.scanned.is_empty() { String::new() } else { format!(", reads all of {}", self.scanned.join(", ")) };
        format!(
            "`{statement}`, {plan} plan, {indexes}: **{:.3} ms** median, {:.3} ms at most, {looked_at:.0} rows looked at{scanned}",
            times.ms(0.5),
            times.ms(1.0)
        )
    }
}
