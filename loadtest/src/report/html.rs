//! `report.html`: a page that loads nothing else. Its template draws the data that is inserted; figures have the format of the summary.

use serde::Serialize;

use super::metrics::shown;
use super::{Report, compare, summary};

const TEMPLATE: &str = include_str!("page.html");
/// Style of all pages of a report.
pub const STYLE: &str = include_str!("style.css");
/// Placeholders of the style and of the data.
const STYLED: &str = "{{style}}";
const DATA: &str = "{{data}}";

#[derive(Serialize)]
struct PageData<'a> {
    #[serde(flatten)]
    report: &'a Report,
    verdict: String,
    is_clean: bool,
    figures: Vec<Figure>,
    compared: Option<Comparison>,
}

#[derive(Serialize)]
struct Figure {
    name: &'static str,
    shown: String,
    is_fault: bool,
    meaning: &'static str,
}

/// Comparison with an older report: its rows, or the reason why there is none.
#[derive(Serialize)]
struct Comparison {
    refusal: Option<String>,
    rows: Vec<Change>,
}

#[derive(Serialize)]
struct Change {
    name: &'static str,
    before: String,
    now: String,
    change: String,
    verdict: &'static str,
}

/// # Errors
/// Never: JSON can represent every report.
pub fn page(report: &Report, old: Option<&Report>) -> serde_json::Result<String> {
    let verdict = summary::verdict(&report.metrics);
    let is_clean = verdict == summary::CLEAN;
    let figure = |(metric, value): (&super::metrics::Metric, f64)| Figure {
        name: metric.name,
        shown: shown(value, metric.unit),
        is_fault: summary::is_fault(metric.name, value),
        meaning: metric.meaning,
    };
    let figures = report.metrics.in_order().map(figure).collect();
    let compared = old.map(|old| comparison(report, old));
    let data = serde_json::to_string(&PageData { report, verdict, is_clean, figures, compared })?;
    // The data must not end its element.
    Ok(TEMPLATE.replace(STYLED, STYLE).replace(DATA, &data.replace('<', "\\u003c")))
}

fn comparison(report: &Report, old: &Report) -> Comparison {
    let row = |row: &compare::Row| Change {
        name: row.metric.name,
        before: shown(row.old, row.metric.unit),
        now: shown(row.new, row.metric.unit),
        change: row.change.map_or_else(|| "–".to_owned(), |c| format!("{c:+.1} %")),
        verdict: row.verdict,
    };
    let refusal = compare::refusal(report, old);
    let rows = if refusal.is_none() { compare::rows(report, old).iter().map(row).collect() } else { Vec::new() };
    Comparison { refusal, rows }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::super::metrics::Values;
    use super::super::{Point, SCHEMA};
    use super::*;

    fn report(frames: &[u64]) -> Report {
        let point = |(n, frames)| Point { at_s: f64::from(n), seconds: 1.0, frames, ..Point::default() };
        let mut metrics = Values::default();
        metrics.count("deliveries", 12);
        metrics.set("tick_p99_ms", 1234.5);
        Report {
            schema: SCHEMA,
            tool: "nyala-loadtest".to_owned(),
            scenario: "watch".to_owned(),
            command: Vec::new(),
            target: "http://127.0.0.1:1".to_owned(),
            started_at: 0,
            interrupted: false,
            machine: String::new(),
            metrics,
            errors: Vec::new(),
            notes: Vec::new(),
            timeline: (1..).zip(frames.iter().copied()).map(point).collect(),
            distributions: Vec::new(),
        }
    }

    /// Content of a page as a browser shows it: its script runs in Node.
    fn drawn(report: &Report, old: Option<&Report>) -> String {
        let page = page(report, old).unwrap();
        let browser = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser.cjs");
        let mut node = Command::new("node").arg(browser).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        node.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
        let out = node.wait_with_output().unwrap();
        assert!(out.status.success(), "the page's script fails");
        let drawn = String::from_utf8(out.stdout).unwrap();
        assert!(!["NaN", "undefined", "[object"].iter().any(|odd| drawn.contains(odd)), "{drawn}");
        drawn
    }

    #[test]
    fn a_plot_has_its_lines_and_round_steps_and_nothing_has_none() {
        let page = drawn(&report(&[5, 7]), None);
        assert!(page.contains("<path class=\"line s0\"") && page.contains("Ticks delivered"), "{page}");
        assert_eq!(page.matches("<figure>").count(), 1, "what is nought all along is not drawn: {page}");
        let steps: Vec<_> = page.split("class=\"end\">").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
        assert_eq!(steps, ["0/s", "2/s", "4/s", "6/s", "8/s"]);
        assert!(drawn(&report(&[3_000, 12_000]), None).contains(">15,000/s<"));
        assert!(!drawn(&report(&[5]), None).contains("<svg"));
    }

    #[test]
    fn figures_and_the_verdict_are_those_of_the_summary() {
        let mut report = report(&[]);
        let page = drawn(&report, None);
        assert!(page.contains("<p class=\"verdict good\">Clean: no fault was seen.</p>"), "{page}");
        assert!(page.contains("<div><b>1,234 ms</b><span>tick_p99_ms</span></div>"), "{page}");
        report.metrics.count("missed", 3);
        report.errors.push(("lost".to_owned(), 1_000));
        let page = drawn(&report, None);
        assert!(page.contains("<p class=\"verdict bad\">Faults were seen: missed 3.</p>"), "{page}");
        assert!(page.contains("<div class=\"bad\"><b>3</b>") && page.contains("<tr><th>lost</th><td>1,000</td></tr>"), "{page}");
    }

    #[test]
    fn an_older_report_is_beside_it_when_it_is_of_the_same() {
        let (new, mut old) = (report(&[]), report(&[]));
        old.metrics.set("tick_p99_ms", 617.25);
        let page = drawn(&new, Some(&old));
        let row = "<th>tick_p99_ms</th><td>617.2 ms</td><td>1,234 ms</td><td>+100.0 %</td><td>WORSE</td></tr>";
        assert!(page.contains(row), "{page}");
        old.scenario = "storm".to_owned();
        assert!(drawn(&new, Some(&old)).contains("<p>Not compared: the older report is of `storm`"));
    }

    #[test]
    fn what_was_typed_is_no_markup() {
        let mut report = report(&[]);
        for typed in ["<a & \"b\">", "</script><script>stop()</script>", "<!--<script>", "$& {{data}}"] {
            report.command.push(typed.to_owned());
            report.notes.push(typed.to_owned());
        }
        report.errors.push(("<b>".to_owned(), 1));
        let page = drawn(&report, None);
        assert!(page.contains("<code>&lt;a &amp; &quot;b&quot;&gt; &lt;/script&gt;"), "{page}");
        assert!(page.contains("<p class=\"note\">$&amp; {{data}}</p>") && page.contains("<th>&lt;b&gt;</th>"), "{page}");
    }
}
