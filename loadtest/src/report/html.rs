//! `report.html`: one page with nothing to load from elsewhere. Numbers first, then plots.

use std::fmt::Write as _;

use super::metrics::shown;
use super::plot::{Plot, Series, XAxis};
use super::{Distribution, Point, Report, compare, summary};

/// The figures at the top, those of them that the scenario has.
const HEADLINES: [&str; 12] = [
    "deliveries_per_s",
    "missed",
    "tick_p99_ms",
    "jitter_p99_ms",
    "final_max_ms",
    "storm_all_s",
    "done_per_s",
    "total_p99_ms",
    "winners",
    "balances_wrong",
    "server_cpu_percent",
    "server_rss_mib",
];
const STYLE: &str = include_str!("style.css");

pub fn page(report: &Report, old: Option<&Report>) -> String {
    let mut out = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{scenario}: load test</title><style>{STYLE}</style><main><header><h1>{scenario}</h1><p>{target}{early}</p></header>",
        scenario = escape(&report.scenario),
        target = escape(&report.target),
        early = if report.interrupted { ", ended by Ctrl-C" } else { "" },
    );
    let verdict = summary::verdict(&report.metrics);
    let class = if verdict == summary::CLEAN { "good" } else { "bad" };
    // Writing to a string cannot fail.
    let _ = write!(out, "<p class=\"verdict {class}\">{}</p>", escape(&verdict));
    out.push_str("<section class=\"cards\">");
    for name in HEADLINES {
        if let Some((metric, value)) = report.metrics.in_order().find(|(m, _)| m.name == name) {
            let class = if summary::is_fault(name, value) { " class=\"bad\"" } else { "" };
            let _ = write!(out, "<div{class}><b>{}</b><span>{name}</span></div>", shown(value, metric.unit));
        }
    }
    out.push_str("</section>");
    for note in &report.notes {
        let _ = write!(out, "<p class=\"note\">{}</p>", escape(note));
    }
    out.push_str(&plots(report));
    out.push_str(&errors(report));
    out.push_str(&old.map(|old| comparison(report, old)).unwrap_or_default());
    out.push_str(&all(report));
    let _ = write!(
        out,
        "<footer><p><code>{}</code></p><p>{}; {}; begun at <time id=\"t\">{} ms since 1970</time></p></footer></main>\
         <script>t.textContent=new Date({}).toLocaleString()</script></html>",
        escape(&report.command.join(" ")),
        escape(&report.tool),
        escape(&report.machine),
        report.started_at,
        report.started_at
    );
    out
}

fn plots(report: &Report) -> String {
    let over_time = |name: &'static str, of: &dyn Fn(&Point) -> Option<f64>| Series {
        name,
        points: report.timeline.iter().filter_map(|p| of(p).map(|y| (p.at_s, y))).collect(),
    };
    let plot = |title, unit, series: Vec<Series>| {
        // A line that is nought all along says nothing.
        let series: Vec<Series> = series.into_iter().filter(|s| s.points.iter().any(|p| p.1 > 0.0)).collect();
        Plot { title, unit, series, x: XAxis::Seconds }.figure()
    };
    let each_second = |n: u64, p: &Point| Some(n as f64 / p.seconds.max(0.001));
    [
        plot(
            "Tick lateness",
            "ms",
            vec![
                over_time("p50", &|p| Some(p.tick_p50_ms)),
                over_time("p99", &|p| Some(p.tick_p99_ms)),
                over_time("max", &|p| Some(p.tick_max_ms)),
            ],
        ),
        distribution(&report.distributions),
        plot("Ticks delivered", "/s", vec![over_time("ticks", &|p| each_second(p.frames, p))]),
        plot(
            "Purchase time",
            "ms",
            vec![over_time("p50", &|p| Some(p.total_p50_ms)), over_time("p99", &|p| Some(p.total_p99_ms))],
        ),
        plot("Done", "/s", vec![over_time("done", &|p| each_second(p.done, p))]),
        plot(
            "Errors, missed and doubled ticks",
            "/s",
            vec![
                over_time("errors", &|p| each_second(p.errors, p)),
                over_time("missed", &|p| each_second(p.missed, p)),
                over_time("doubled", &|p| each_second(p.duplicates, p)),
            ],
        ),
        plot(
            "Processor, 100 % is one core",
            "%",
            vec![over_time("server", &|p| p.server_cpu_percent), over_time("tool", &|p| Some(p.tool_cpu_percent))],
        ),
        plot("Server memory (resident)", "MiB", vec![over_time("server", &|p| p.server_rss_mib)]),
        plot("Live sessions", "", vec![over_time("sessions", &|p| Some(p.live as f64))]),
    ]
    .concat()
}

/// Times at growing shares, the axis in nines.
fn distribution(all: &[Distribution]) -> String {
    const LAST: f64 = 5.0;
    let nines = |share: f64| if share >= 1.0 { LAST } else { (-(1.0 - share).log10()).min(LAST) };
    let names: [(&str, &'static str); 4] =
        [("tick", "tick lateness"), ("jitter", "jitter"), ("final", "final tick"), ("total", "purchase")];
    let series = names.iter().filter_map(|(name, title)| {
        let found = all.iter().find(|d| d.name == *name)?;
        Some(Series { name: title, points: found.quantiles_ms.iter().map(|(q, ms)| (nines(*q), *ms)).collect() })
    });
    let marks = [(0.301, "50 %"), (1.0, "90 %"), (2.0, "99 %"), (3.0, "99.9 %"), (4.0, "99.99 %"), (LAST, "max")];
    let marks = marks.iter().map(|(at, name)| (*at, (*name).to_owned())).collect();
    Plot { title: "Distribution", unit: "ms", series: series.collect(), x: XAxis::Marks(marks) }.figure()
}

fn errors(report: &Report) -> String {
    if report.errors.is_empty() {
        return String::new();
    }
    let rows: Vec<String> = report
        .errors
        .iter()
        .map(|(kind, n)| format!("<tr><th>{}</th><td>{}</td></tr>", escape(kind), shown(*n as f64, "")))
        .collect();
    format!("<h2>Errors</h2><table>{}</table>", rows.concat())
}

fn comparison(report: &Report, old: &Report) -> String {
    if let Some(why) = compare::refusal(report, old) {
        return format!("<h2>Compared</h2><p>{}</p>", escape(&why));
    }
    let row = |row: &compare::Row| {
        let change = row.change.map_or_else(|| "–".to_owned(), |c| format!("{c:+.1} %"));
        let unit = row.metric.unit;
        format!(
            "<tr class=\"{}\"><th>{}</th><td>{}</td><td>{}</td><td>{change}</td><td>{}</td></tr>",
            row.verdict,
            row.metric.name,
            shown(row.old, unit),
            shown(row.new, unit),
            row.verdict
        )
    };
    let rows: Vec<String> = compare::rows(report, old).iter().map(row).collect();
    format!(
        "<h2>Compared</h2><table><tr><th></th><th>before</th><th>now</th><th>change</th><th></th></tr>{}</table>",
        rows.concat()
    )
}

fn all(report: &Report) -> String {
    let row = |(metric, value): (&super::metrics::Metric, f64)| {
        format!(
            "<tr><th>{}</th><td>{}</td><td class=\"what\">{}</td></tr>",
            metric.name,
            shown(value, metric.unit),
            metric.meaning
        )
    };
    let rows: Vec<String> = report.metrics.in_order().map(row).collect();
    format!("<h2>Every figure</h2><table>{}</table>", rows.concat())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn what_was_typed_is_no_markup() {
        assert_eq!(escape("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
    }
}
