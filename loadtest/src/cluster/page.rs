//! `report.html` of a cluster run: one page without scripts and without external files.

use std::time::Duration;

use super::fault::InjectedFault;
use super::outcome::{DecidedPurchase, Outcome, Quantiles};
use super::report::FINE;
use crate::report::STYLE;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
/// Below the curves: the faults of each part, each part in its own row and colour.
const ROWS: f64 = 46.0;
/// In the order of [`super::fault::Part`].
const PARTS: [(u8, &str); 3] = [(1, "servers and PostgreSQL"), (4, "the load balancer's lines"), (2, "NATS")];
const ROW: f64 = 9.0;
const BOTTOM: f64 = 24.0;
/// Axis from 10 ms to 10 s, in powers of ten.
const POWERS: [(f64, &str); 4] = [(-2.0, "10 ms"), (-1.0, "100 ms"), (0.0, "1 s"), (1.0, "10 s")];
/// Maximum number of points of a curve.
const POINTS: u32 = 240;

/// A quantile of the measured times.
type Pick = fn(&Quantiles) -> f64;

pub fn page(outcome: &Outcome) -> String {
    let verdict = match outcome.broken.len() {
        0 => format!("<p class=\"verdict good\">{FINE}</p>"),
        n => format!("<p class=\"verdict bad\">Broken: {n}</p>"),
    };
    let broken: String = outcome.broken.iter().map(|why| format!("<p class=\"note\">{}</p>", escaped(why))).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>cluster: load test</title>\n<style>\n{STYLE}</style>\n<main>\n\
         <header><h1>cluster</h1><p>seed {}, {} s; news: {}</p></header>\n{verdict}\n{broken}\n\
         <section class=\"cards\">{}</section>\n{}\n<p>{}</p>\n\
         <h2>Times in s</h2><table><tr><th></th><th>number</th><th>p50</th><th>p99</th><th>max</th></tr>{}</table>\n\
         {}<h2>What was done when</h2><table><tr><th>at</th><th class=\"what\">what</th><th>whole again after</th><th>shards taken after</th>\
         <th>shards moved</th></tr>{}</table>\n</main>\n</html>\n",
        outcome.seed,
        outcome.seconds,
        escaped(outcome.notifications),
        cards(outcome),
        plot(outcome),
        outcome.counted(),
        times(outcome),
        slowest(outcome),
        faults(outcome),
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn cards(outcome: &Outcome) -> String {
    let times = outcome.times();
    let worst: [(&str, &str, Pick); 5] = [
        ("takeover_kill", "takeover after kill -9, p99", |of| of.p99),
        ("phones_back", "phones back, p99", |of| of.p99),
        ("purchase_calm", "purchases with no fault nearby, p99", |of| of.p99),
        ("purchase_kill", "purchases through kill -9, max", |of| of.max),
        ("purchase_failover", "purchases through a failover, max", |of| of.max),
    ];
    let seen = worst.iter().filter_map(|(name, shown, pick)| {
        let of = &times.iter().find(|t| t.name == *name && t.of.count > 0)?.of;
        Some(format!("<div><b>{:.3} s</b><span>{shown}</span></div>", pick(of)))
    });
    seen.chain([format!("<div><b>{}</b><span>shards moved by stalls</span></div>", outcome.moved_by_stalls())]).collect()
}

fn times(outcome: &Outcome) -> String {
    let seen = outcome.times().into_iter().filter(|t| t.of.count > 0);
    seen.map(|t| {
        let Quantiles { count, p50, p99, max } = t.of;
        let name = escaped(t.shown.trim());
        format!("<tr><th>{name}</th><td>{count}</td><td>{p50:.3}</td><td>{p99:.3}</td><td>{max:.3}</td></tr>")
    })
    .collect()
}

fn slowest(outcome: &Outcome) -> String {
    let row = |(kind, purchase): (&str, &DecidedPurchase)| {
        format!(
            "<tr><th>{:.3} s</th><td>{:.1} s</td><td class=\"what\">{kind}</td><td class=\"what\">{}</td></tr>",
            purchase.after.as_secs_f64(),
            purchase.at.as_secs_f64(),
            escaped(&purchase.answers)
        )
    };
    let rows: String = outcome.slowest().into_iter().map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<h2>Slowest purchases</h2><table><tr><th>took</th><th>until</th><th class=\"what\">around</th>\
         <th class=\"what\">what was heard</th></tr>{rows}</table>\n"
    )
}

fn faults(outcome: &Outcome) -> String {
    let row = |f: &InjectedFault| {
        let taken = f.taken_after.map(|t| format!("{:.2} s", t.as_secs_f64())).unwrap_or_default();
        let moved = f.moved.map(|n| n.to_string()).unwrap_or_default();
        format!(
            "<tr><th>{:.1} s</th><td class=\"what\">{}</td><td>{:.2} s</td><td>{taken}</td><td>{moved}</td></tr>",
            f.at.as_secs_f64(),
            escaped(&f.fault.to_string()),
            f.whole_after.as_secs_f64()
        )
    };
    outcome.faults.iter().map(row).collect()
}

/// The median and the slowest purchase over time, above the faults.
fn plot(outcome: &Outcome) -> String {
    let last = outcome.purchases.iter().map(|p| p.at).chain(outcome.faults.iter().map(|f| f.at + f.whole_after)).max();
    let Some(length) = last.filter(|length| !length.is_zero()) else { return String::new() };
    let x = |at: Duration| LEFT + at.div_duration_f64(length) * (WIDTH - LEFT - RIGHT);
    let floor = HEIGHT - BOTTOM - ROWS;
    let (low, high) = (POWERS[0].0, POWERS[POWERS.len() - 1].0);
    let y = |s: f64| floor - (s.max(f64::MIN_POSITIVE).log10().clamp(low, high) - low) / (high - low) * (floor - TOP);
    let grid: String = POWERS
        .iter()
        .map(|(power, name)| {
            let y = y(10_f64.powf(*power));
            format!(
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" class=\"end\">{name}</text>",
                WIDTH - RIGHT,
                LEFT - 8.0,
                y + 4.0
            )
        })
        .collect();
    let part = (length / POINTS).max(Duration::from_secs(1));
    let mut parts = vec![Vec::new(); (length.div_duration_f64(part) as usize) + 1];
    for purchase in outcome.purchases.iter().filter(|p| p.ran) {
        parts[purchase.at.div_duration_f64(part) as usize].push(purchase.after);
    }
    let points: Vec<(f64, Quantiles)> = (0_u32..)
        .zip(parts)
        .filter(|(_, times)| !times.is_empty())
        .map(|(n, times)| (x((part * n + part / 2).min(length)), Quantiles::of(times)))
        .collect();
    let line = |class: &str, pick: Pick| {
        let path: Vec<String> = points.iter().map(|(x, of)| format!("{x:.1} {:.1}", y(pick(of)))).collect();
        if path.is_empty() { String::new() } else { format!("<path class=\"line {class}\" d=\"M{}\"/>", path.join("L")) }
    };
    let marks: String = outcome
        .faults
        .iter()
        .map(|f| {
            let row = f.fault.kind().part() as usize;
            let (left, right) = (x(f.at), x(f.at + f.whole_after));
            format!(
                "<path class=\"line s{}\" style=\"stroke-width:{ROW}\" d=\"M{left:.1} {:.1}H{:.1}\"><title>{:.1} s: {}</title></path>",
                PARTS[row].0,
                floor + ROWS / (2 * PARTS.len()) as f64 * (2 * row + 1) as f64 + 4.0,
                right.max(left + 1.0),
                f.at.as_secs_f64(),
                escaped(&f.fault.to_string())
            )
        })
        .collect();
    let parts: String = PARTS.iter().map(|(colour, shown)| format!("<span class=\"key k{colour}\">{shown}</span>")).collect();
    format!(
        "<figure><figcaption>Purchases, and what was done meanwhile<span class=\"legend\"><span class=\"key k0\">half</span>\
         <span class=\"key k3\">slowest</span>{parts}\
         </span></figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\">{grid}{}{}{marks}\
         <text x=\"{LEFT}\" y=\"{ends:.1}\">0 s</text><text x=\"{:.1}\" y=\"{ends:.1}\" class=\"end\">{:.0} s</text></svg></figure>",
        line("s0", |of| of.p50),
        line("s3", |of| of.max),
        WIDTH - RIGHT,
        length.as_secs_f64(),
        ends = HEIGHT - 8.0,
    )
}

#[cfg(test)]
mod tests {
    use super::super::outcome::tests::outcome;
    use super::*;

    #[test]
    fn the_page_shows_faults_and_broken_guarantees() {
        let mut all = outcome();
        let fine = page(&all);
        assert!(fine.contains(FINE) && fine.contains("kill -9 n1") && fine.contains("<title>12.0 s: all NATS frozen"), "{fine}");
        assert!(fine.contains("<b>1.900 s</b><span>purchases through kill -9, max"), "{fine}");
        assert!(fine.contains("<th>1.900 s</th><td>13.0 s</td><td class=\"what\">kill -9<"), "{fine}");
        assert!(!["NaN", "inf", "{{"].iter().any(|odd| fine.contains(odd)), "{fine}");
        all.broken.push("a <phone> is not back".to_owned());
        let broken = page(&all);
        assert!(broken.contains("Broken: 1") && broken.contains("a &lt;phone&gt; is not back"), "{broken}");
    }

    #[test]
    fn nothing_has_no_plot() {
        assert!(!page(&Outcome::default()).contains("<svg"));
    }
}
