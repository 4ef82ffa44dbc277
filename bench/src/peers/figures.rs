//! Medians with their spread, as tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::load::{Load, PeerRun};
use super::peer::Peer;
use crate::memory::grown_by;

/// The runs of one load, by server and round.
#[derive(Debug, Default)]
pub struct Runs(BTreeMap<Peer, BTreeMap<u32, PeerRun>>);

impl Runs {
    pub fn add(&mut self, peer: Peer, round: u32, run: PeerRun) {
        self.0.entry(peer).or_default().insert(round, run);
    }

    fn of(&self, peer: Peer) -> impl Iterator<Item = (&u32, &PeerRun)> {
        self.0.get(&peer).into_iter().flatten()
    }

    /// One figure of all runs of a server.
    fn spread(&self, peer: Peer, figure: impl Fn(&PeerRun) -> f64) -> Option<Spread> {
        Spread::of(self.of(peer).map(|(_, run)| figure(run)).collect())
    }

    /// Processor time against the floor's run of the same round, where both got through.
    fn times_floor(&self, peer: Peer) -> Option<Spread> {
        let floors = self.0.get(&Peer::Floor)?;
        Spread::of(self.of(peer).filter_map(|(round, run)| Some(run.cpu_us / floors.get(round)?.cpu_us)).collect())
    }

    /// Everything of one load. `fewer` has runs with fewer sessions, for the memory of one.
    pub fn table(&self, load: &Load, fewer: Option<(&Self, &Load)>) -> String {
        let mut text = "| server | CPU µs a delivery | × floor | KiB a session | jitter p99 ms | missed | runs |\n\
            |---|---|---|---|---|---|---|\n"
            .to_owned();
        for peer in self.0.keys().copied() {
            let kib = fewer.and_then(|(fewer, few)| {
                let (max, least) = (self.spread(peer, |r| r.rss_kib)?, fewer.spread(peer, |r| r.rss_kib)?);
                let kib = grown_by(least.median, max.median, load.sessions.checked_sub(few.sessions)?)?;
                Some(format!("{kib:.1}"))
            });
            let cell = |spread: Option<Spread>, digits| spread.map_or_else(|| "–".to_owned(), |spread| spread.text(digits));
            let missed: u64 = self.of(peer).map(|(_, run)| run.missed).sum();
            // writing to a string does not fail
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {missed} | {} |",
                peer.name(),
                cell(self.spread(peer, |r| r.cpu_us), 2),
                cell(self.times_floor(peer), 3),
                kib.unwrap_or_else(|| "–".to_owned()),
                cell(self.spread(peer, |r| r.jitter_p99_ms), 2),
                self.of(peer).count(),
            );
        }
        text
    }
}

/// Processor time a delivery as it grows with the number of ticks a second.
pub fn growth(by_rate: &[(u32, &Runs)]) -> String {
    let rates: Vec<String> = by_rate.iter().map(|(rate, _)| format!("{rate}/s")).collect();
    let mut text = format!("| server | {} |\n|---{}|\n", rates.join(" | "), "|---".repeat(rates.len()));
    let peers: Vec<Peer> = by_rate.first().map_or_else(Vec::new, |(_, runs)| runs.0.keys().copied().collect());
    for peer in peers {
        let cells: Vec<String> = by_rate
            .iter()
            .map(|(_, runs)| runs.spread(peer, |r| r.cpu_us).map_or_else(|| "–".to_owned(), |spread| spread.text(2)))
            .collect();
        let _ = writeln!(text, "| {} | {} |", peer.name(), cells.join(" | "));
    }
    text
}

/// The median and both ends of some runs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Spread {
    median: f64,
    least: f64,
    max: f64,
}

impl Spread {
    /// None of nothing.
    fn of(mut all: Vec<f64>) -> Option<Self> {
        all.sort_by(f64::total_cmp);
        let (least, max) = (*all.first()?, *all.last()?);
        let (low, high) = (all[(all.len() - 1) / 2], all[all.len() / 2]);
        Some(Self { median: f64::midpoint(low, high), least, max })
    }

    fn text(self, digits: usize) -> String {
        format!("**{:.digits$}** ({:.digits$}–{:.digits$})", self.median, self.least, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(cpu_us: f64, rss_kib: f64) -> PeerRun {
        PeerRun { cpu_us, jitter_p99_ms: 1.0, missed: 1, rss_kib }
    }

    #[test]
    fn ratios_are_of_the_same_round_and_memory_is_a_slope() {
        let load = Load { sessions: 2000, machines: 1000, per_session: 1, ticks_per_second: 1, seconds: 10 };
        let few = Load { sessions: 1000, ..load };
        let (mut runs, mut fewer) = (Runs::default(), Runs::default());
        for (round, (nyala, floor)) in (0..).zip([(9.0, 8.0), (11.0, 10.0), (12.0, 8.0)]) {
            runs.add(Peer::Nyala, round, run(nyala, 5000.0));
            runs.add(Peer::Floor, round, run(floor, 1000.0));
        }
        // It was left out in the first round.
        runs.add(Peer::Node, 1, run(20.0, 1000.0));
        fewer.add(Peer::Nyala, 0, run(9.0, 3000.0));
        let table = runs.table(&load, Some((&fewer, &few)));
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| floor (bare epoll) | **8.00** (8.00–10.00) | **1.000** (1.000–1.000) | – | **1.00** (1.00–1.00) | 3 | 3 |",
                "| Nyala | **11.00** (9.00–12.00) | **1.125** (1.100–1.500) | 2.0 | **1.00** (1.00–1.00) | 3 | 3 |",
                "| socket.io for Node | **20.00** (20.00–20.00) | **2.000** (2.000–2.000) | – | **1.00** (1.00–1.00) | 1 | 1 |",
            ]
        );
    }

    #[test]
    fn growth_has_a_column_for_each_rate() {
        let (mut one, mut two) = (Runs::default(), Runs::default());
        one.add(Peer::Node, 0, run(20.0, 1.0));
        two.add(Peer::Node, 0, run(10.0, 1.0));
        two.add(Peer::Node, 1, run(11.0, 1.0));
        let table = growth(&[(1, &one), (2, &two)]);
        assert_eq!(
            table,
            "| server | 1/s | 2/s |\n|---|---|---|\n| socket.io for Node | **20.00** (20.00–20.00) | **10.50** (10.00–11.00) |\n"
        );
    }
}
