//! `nyala qris check`: compares the bills of a day with what their provider knows.

use clap::Subcommand;
use nyala_core::domain::id::OutletId;
use nyala_core::figures::calendar::{Day, Period};
use nyala_ledger::bill;
use nyala_store::clock::Clock;
use nyala_store::db::Store;
use nyala_web::figures::outlet::ReportOutlet;
use nyala_web::qris::Qris;
use nyala_web::qris::metrics::QrisMetrics;
use tokio::task::LocalSet;

use super::context::{self, CommandContext};
use super::{CommonArgs, Failure, output};

#[derive(Debug, Subcommand)]
pub enum QrisCommand {
    /// Ask the provider about each bill that was made on a day, and print a line for each difference; fails when there is one
    Check {
        /// The business day of the outlet, as YYYY-MM-DD
        #[arg(long, value_name = "DAY", value_parser = day)]
        date: Day,
        /// Only of this outlet
        #[arg(long, visible_alias = "idoutlet", value_name = "ID")]
        outlet: Option<OutletId>,
    },
}

fn day(text: &str) -> Result<Day, String> {
    Day::parse(text).ok_or_else(|| "a day is written as YYYY-MM-DD".to_owned())
}

impl QrisCommand {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        let Self::Check { date, outlet } = self;
        let (checked, differences) = context::run(common, async |k| LocalSet::new().run_until(check(k, date, outlet)).await)?;
        let verdict = format!("{checked} bills, {} differences", differences.len());
        if differences.is_empty() {
            return output::print(&format!("OK: {verdict}"), &verdict);
        }
        output::print(&differences.join("\n"), &verdict)?;
        Err(Failure::new(verdict))
    }
}

/// How many bills were compared, and a line for each difference.
async fn check(k: &CommandContext, date: Day, outlet: Option<OutletId>) -> Result<(usize, Vec<String>), Failure> {
    const OUTLETS: &str = "SELECT idoutlet FROM outlet WHERE $1::BIGINT IS NULL OR idoutlet = $1 ORDER BY idoutlet";
    let store = Store { db: k.db.clone(), clock: Clock::running_from(k.now) };
    let qris = Qris::new(&k.config, store, QrisMetrics::default()).map_err(Failure::new)?;
    let mut client = k.client().await?;
    let outlets: Vec<OutletId> = client.query(OUTLETS, &[&outlet]).await?.iter().map(|row| row.get(0)).collect();
    if let (Some(idoutlet), []) = (outlet, outlets.as_slice()) {
        return Err(Failure::new(format!("there is no outlet {idoutlet}")));
    }
    let (mut checked, mut differences) = (0, Vec::new());
    for idoutlet in outlets {
        let bills = {
            let tx = client.transaction().await?;
            let calendar = ReportOutlet::read(&tx, idoutlet).await?.calendar;
            let bounds = calendar.bounds(Period { first: date, last: date });
            bill::made_between(&tx, idoutlet, (bounds[0], bounds[1])).await?
        };
        for bill in bills {
            checked += 1;
            match qris.compare(&bill).await {
                Ok(None) => {}
                Ok(Some(difference)) => differences.push(format!("{}: {difference}", bill.id)),
                Err(e) => return Err(Failure::new(format!("{}: {e}", bill.id))),
            }
        }
    }
    Ok((checked, differences))
}
