//! Comparison of a report with an older one.

use std::fmt::Write as _;

use super::Report;
use super::metrics::{Better, Metric, shown};

/// Changes below this share count as neither better nor worse.
const SAME: f64 = 0.03;

/// Row of the comparison.
pub struct Row {
    pub metric: &'static Metric,
    pub old: f64,
    pub new: f64,
    /// Change in percent; `None` when the older value is zero.
    pub change: Option<f64>,
    pub verdict: &'static str,
}

/// Reason why the two cannot be compared.
pub fn refusal(new: &Report, old: &Report) -> Option<String> {
    let (before, now) = (&old.scenario, &new.scenario);
    (before != now).then(|| format!("Not compared: the older report is of `{before}`, and this one of `{now}`."))
}

/// Rows of all figures that both reports have.
pub fn rows(new: &Report, old: &Report) -> Vec<Row> {
    let both = new.metrics.in_order().filter_map(|(metric, new)| Some((metric, old.metrics.get(metric.name)?, new)));
    both.map(|(metric, old, new)| {
        let change = (old != 0.0).then(|| (new - old) / old.abs() * 100.0);
        Row { metric, old, new, change, verdict: verdict(metric.better, old, new) }
    })
    .collect()
}

fn verdict(better: Better, old: f64, new: f64) -> &'static str {
    let same = (new - old).abs() <= SAME * old.abs();
    match better {
        Better::Neither => "",
        _ if same => "same",
        Better::Less if new < old => "better",
        Better::More if new > old => "better",
        Better::Less | Better::More => "WORSE",
    }
}

pub fn text(new: &Report, old: &Report) -> String {
    if let Some(why) = refusal(new, old) {
        return format!("\n{why}\n");
    }
    let mut out = String::from("\nCompared\n");
    // Writing to a string cannot fail.
    let _ = writeln!(out, "   {:<28} {:>16} {:>16} {:>10}", "", "before", "now", "change");
    for row in rows(new, old) {
        let change = row.change.map_or_else(|| "-".to_owned(), |c| format!("{c:+.1} %"));
        let (before, now) = (shown(row.old, row.metric.unit), shown(row.new, row.metric.unit));
        let _ = writeln!(out, "   {:<28} {before:>16} {now:>16} {change:>10}  {}", row.metric.name, row.verdict);
    }
    if new.command != old.command {
        let _ = writeln!(out, "\nThe command lines differ; before: {}", old.command.join(" "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_depends_on_the_figure() {
        assert_eq!(verdict(Better::Less, 100.0, 90.0), "better");
        assert_eq!(verdict(Better::Less, 100.0, 110.0), "WORSE");
        assert_eq!(verdict(Better::More, 100.0, 90.0), "WORSE");
        assert_eq!(verdict(Better::More, 100.0, 101.0), "same");
        assert_eq!(verdict(Better::Less, 0.0, 1.0), "WORSE");
        assert_eq!(verdict(Better::Neither, 1.0, 9.0), "");
    }
}
