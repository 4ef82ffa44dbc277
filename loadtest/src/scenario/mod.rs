//! Commands, one file for each.

mod buying;
pub mod devices;
pub(crate) mod errand;
pub mod finish;
pub mod hot;
pub mod journey;
pub mod overload;
pub mod purchase;
pub mod soak;
mod steps;
pub mod storm;
pub mod till;
pub mod trial;
pub mod watch;
mod watching;

use std::future::Future;

use crate::options::Common;
use crate::report::Report;
use crate::ui;

/// Figures that must be 0, whatever thresholds were given: no load may lose money or give a machine to two customers, and a check that
/// could not run counts as failed.
const NEVER: [&str; 5] = ["balances_wrong", "balances_unknown", "audit_broken", "audit_unknown", "rounds_without_one_winner"];

/// Verdict of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Fine,
    /// A threshold was crossed.
    Crossed,
}

/// Runs a scenario on its own runtime, prints and writes its report, and checks the thresholds.
///
/// # Errors
/// One line with the cause.
pub fn run<F>(common: &Common, scenario: impl FnOnce(crate::interrupt::Interrupt) -> F) -> Result<Verdict, String>
where
    F: Future<Output = Result<Report, String>>,
{
    let old = common.old_report()?;
    common.report.as_deref().map_or(Ok(()), Report::make_room)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    let report = runtime.block_on(async { scenario(crate::interrupt::Interrupt::listen()?).await })?;
    ui::out(report.summary(old.as_ref()).trim_end());
    if let Some(dir) = &common.report {
        report.write(dir, old.as_ref())?;
        ui::out(&format!("\nReport: {}", dir.join("report.html").display()));
    }
    let mut crossed: Vec<String> = common.fail_if.iter().filter_map(|t| t.crossed(&report.metrics)).collect();
    crossed.extend(NEVER.iter().filter(|name| report.metrics.get(name).is_some_and(|v| v > 0.0)).map(|n| format!("{n} > 0")));
    for line in &crossed {
        ui::out(&format!("Failed: {line}"));
    }
    if !crossed.is_empty() {
        return Ok(Verdict::Crossed);
    }
    if report.is_empty() { Err("nothing was measured".to_owned()) } else { Ok(Verdict::Fine) }
}
