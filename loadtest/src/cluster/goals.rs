//! Goals of a run on a dedicated machine (docs/loadtest.md, "Cluster"). A busy machine misses them although nothing is wrong, so
//! they are judged only on request.

use super::outcome::{Outcome, Quantiles};

struct Goal {
    /// Name of the times in report.json.
    times: &'static str,
    name: &'static str,
    pick: fn(&Quantiles) -> f64,
    most_s: f64,
}

const fn p99(times: &'static str, most_s: f64) -> Goal {
    Goal { times, name: "p99", pick: |of| of.p99, most_s }
}

const fn max(times: &'static str, most_s: f64) -> Goal {
    Goal { times, name: "max", pick: |of| of.max, most_s }
}

const GOALS: [Goal; 10] = [
    p99("takeover_kill", 1.5),
    max("takeover_kill", 2.0),
    p99("takeover_pause", 1.5),
    max("takeover_pause", 2.0),
    p99("takeover_cut", 1.5),
    max("takeover_cut", 2.0),
    p99("phones_back", 2.0),
    p99("purchase_calm", 0.1),
    max("purchase_kill", 3.0),
    max("end_calm", 1.0),
];

/// Every goal that was missed. Without any measurement a goal counts as missed.
pub fn missed(outcome: &Outcome) -> Vec<String> {
    let times = outcome.times();
    let mut missed: Vec<String> = GOALS
        .iter()
        .filter_map(|Goal { times: wanted, name, pick, most_s }| {
            let of = times.iter().find(|t| t.name == *wanted && t.of.count > 0).map(|t| pick(&t.of));
            match of {
                Some(s) if s <= *most_s => None,
                Some(s) => Some(format!("{wanted}, {name}: {s:.3} s, at most {most_s} s")),
                None => Some(format!("{wanted}, {name}: not seen, at most {most_s} s")),
            }
        })
        .collect();
    match outcome.moved_by_stalls() {
        0 => {}
        moved => missed.push(format!("{moved} shards moved by stalls of PostgreSQL, none should")),
    }
    missed
}

#[cfg(test)]
mod tests {
    use super::super::outcome::tests::outcome;
    use super::*;

    #[test]
    fn a_goal_is_missed_by_slow_and_by_absent_figures() {
        let all = missed(&outcome());
        let has = |why: &str| all.iter().any(|missed| missed.starts_with(why));
        assert!(has("takeover_kill, p99: 2.000 s, at most 1.5 s") && !has("takeover_kill, max"), "{all:?}");
        assert!(has("end_calm, max: not seen") && has("7 shards moved by stalls"), "{all:?}");
        assert!(!has("purchase_kill") && !has("purchase_calm"), "{all:?}");
    }
}
