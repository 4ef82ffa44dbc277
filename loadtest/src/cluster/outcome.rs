//! Results of a run: the observations, and the figures that are made of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use super::fault::{InjectedFault, Kind, Part};
use super::phone::PhoneReport;

/// How long a fault has effects after its repair: phones reconnect, and waiting starts continue.
const NEARBY: Duration = Duration::from_secs(3);
/// Slow purchases that are reported one by one: those above this time, and this many of each kind.
const SLOW: Duration = Duration::from_secs(1);
const SLOWEST_OF_KIND: usize = 3;

/// A purchase that was decided.
#[derive(Debug, Clone)]
pub struct DecidedPurchase {
    /// Time since the faults began.
    pub at: Duration,
    /// Time since it was first sent.
    pub after: Duration,
    /// Whether the machine ran for it; otherwise it was refused.
    pub ran: bool,
    /// Whether the server that owned the machine decided it, where that is known.
    pub by_owner: Option<bool>,
    /// The answers to it, in their order.
    pub answers: String,
}

/// A cycle that was not stopped.
#[derive(Debug, Clone, Copy)]
pub struct CycleEnd {
    /// Time since the faults began.
    pub at: Duration,
    /// Time since its `ends_at`.
    pub after: Duration,
}

#[derive(Debug, Default)]
pub struct Outcome {
    pub seed: u64,
    pub seconds: u64,
    /// "on", or the reason why there are no change notifications.
    pub notifications: &'static str,
    /// In the order of their start.
    pub faults: Vec<InjectedFault>,
    pub purchases: Vec<DecidedPurchase>,
    /// Purchases with the answer 200.
    pub paid: u64,
    pub ends: Vec<CycleEnd>,
    pub back: Vec<Duration>,
    /// Delays of final ticks after the end of their run.
    pub late: Vec<Duration>,
    pub ticks: u64,
    pub finals: u64,
    pub lost: u64,
    pub not_back: u64,
    pub broken: Vec<String>,
}

/// Times of one kind.
#[derive(Debug)]
pub struct NamedTimes {
    /// Prefix in report.json, before `_p50_s` and the other quantiles.
    pub name: String,
    pub shown: String,
    pub of: Quantiles,
}

impl Outcome {
    /// Observations of a phone.
    pub fn add(&mut self, seen: PhoneReport) {
        self.ticks += seen.ticks;
        self.finals += seen.finals;
        self.lost += seen.lost;
        let not_back = seen.lost.saturating_sub(seen.back.len() as u64);
        if not_back > 0 {
            self.broken.push(format!("a phone is not back: {}", seen.last_error));
        }
        self.not_back += not_back;
        self.back.extend(seen.back);
        self.late.extend(seen.late);
        self.broken.extend(seen.broken);
    }

    /// Shards that changed their owner while PostgreSQL was frozen; no server was at fault.
    pub fn moved_by_stalls(&self) -> i64 {
        self.faults.iter().filter(|f| f.fault.kind() == Kind::Stall).filter_map(|f| f.moved).sum()
    }

    /// Every measurement, including those without any value.
    pub fn times(&self) -> Vec<NamedTimes> {
        let mut all = Vec::new();
        let mut add = |name: String, shown: String, times: Vec<Duration>| {
            all.push(NamedTimes { name, shown, of: Quantiles::of(times) });
        };
        for kind in [Kind::Kill, Kind::Pause, Kind::Stop, Kind::Cut] {
            let of_kind = self.faults.iter().filter(|f| f.fault.kind() == kind);
            let name = format!("takeover_{}", kind.name());
            add(name, format!("takeover after {}", kind.label()), of_kind.filter_map(|f| f.taken_after).collect());
        }
        add("phones_back".to_owned(), "phones back".to_owned(), self.back.clone());
        add("final_tick".to_owned(), "final ticks, late".to_owned(), self.late.clone());
        let late = |calm: bool| {
            let of = self.ends.iter().filter(|e| !calm || self.nearby_faults(e.at, e.after) == NearbyFaults::Nothing);
            of.map(|e| e.after).collect()
        };
        add("end".to_owned(), "runs ended, late".to_owned(), late(false));
        add("end_calm".to_owned(), "  no fault nearby".to_owned(), late(true));
        add("receipt".to_owned(), "receipts decided".to_owned(), self.purchases.iter().map(|p| p.after).collect());
        let ran: Vec<(&DecidedPurchase, NearbyFaults)> =
            self.purchases.iter().filter(|p| p.ran).map(|p| (p, self.nearby_faults(p.at, p.after))).collect();
        let of = |wanted: &dyn Fn(&DecidedPurchase, NearbyFaults) -> bool| {
            ran.iter().filter(|(p, met)| wanted(p, *met)).map(|(p, _)| p.after).collect::<Vec<_>>()
        };
        add("purchase".to_owned(), "purchases".to_owned(), of(&|_, _| true));
        add("purchase_calm".to_owned(), "  no fault nearby".to_owned(), of(&|_, met| met == NearbyFaults::Nothing));
        for (name, shown, by_owner) in [("owner", "the owner", true), ("others", "others", false)] {
            let calm = of(&|p, met| met == NearbyFaults::Nothing && p.by_owner == Some(by_owner));
            add(format!("purchase_calm_{name}"), format!("  the same, through {shown}"), calm);
        }
        for kind in Kind::ALL {
            let around = of(&|_, met| met == NearbyFaults::One(kind));
            add(format!("purchase_{}", kind.name()), format!("  around {}", kind.label()), around);
        }
        add("purchase_several".to_owned(), "  around several".to_owned(), of(&|_, met| met == NearbyFaults::Several));
        all
    }

    /// The slowest purchases of each kind, with the kind of fault that happened during each.
    pub fn slowest(&self) -> Vec<(&'static str, &DecidedPurchase)> {
        let mut by_kind: BTreeMap<&'static str, Vec<&DecidedPurchase>> = BTreeMap::new();
        for purchase in self.purchases.iter().filter(|p| p.ran && p.after >= SLOW) {
            by_kind.entry(self.nearby_faults(purchase.at, purchase.after).label()).or_default().push(purchase);
        }
        let slowest = by_kind.into_iter().flat_map(|(kind, mut all)| {
            all.sort_unstable_by_key(|p| Reverse(p.after));
            all.truncate(SLOWEST_OF_KIND);
            all.into_iter().map(move |p| (kind, p))
        });
        slowest.collect()
    }

    /// The kinds of faults that may have affected an event that ended at `at` and took `after`. Faults of NATS count only when there was no
    /// other fault, because they overlap with the others.
    fn nearby_faults(&self, at: Duration, after: Duration) -> NearbyFaults {
        let begun = at.saturating_sub(after);
        let nearby = |f: &&InjectedFault| f.at <= at && begun <= f.at + f.whole_after + NEARBY;
        let kinds = self.faults.iter().filter(nearby).map(|f| f.fault.kind());
        let (notifications, others): (Vec<Kind>, Vec<Kind>) = kinds.partition(|kind| kind.part() == Part::Nats);
        let kinds = if others.is_empty() { notifications } else { others };
        match kinds.split_first() {
            None => NearbyFaults::Nothing,
            Some((kind, more)) if more.iter().all(|other| other == kind) => NearbyFaults::One(*kind),
            Some(_) => NearbyFaults::Several,
        }
    }
}

/// Kinds of faults that may have happened during an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NearbyFaults {
    Nothing,
    One(Kind),
    Several,
}

impl NearbyFaults {
    const fn label(self) -> &'static str {
        match self {
            Self::Nothing => "no fault nearby",
            Self::One(kind) => kind.label(),
            Self::Several => "several",
        }
    }
}

/// In seconds.
#[derive(Debug, Default)]
pub struct Quantiles {
    pub count: usize,
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

impl Quantiles {
    pub fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: f64| {
            let place = (times.len() as f64 * share).ceil() as usize;
            times.get(place.max(1) - 1).map_or(0.0, Duration::as_secs_f64)
        };
        Self { count: times.len(), p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::cut_proxy::Cut;
    use super::super::fault::Fault;
    use super::*;

    /// A kill after 10 s, all of NATS down at the same time, and purchases during both.
    pub fn outcome() -> Outcome {
        let s = Duration::from_secs;
        let fault = |at, fault, whole_after, taken_after| InjectedFault {
            at: s(at),
            fault,
            whole_after: s(whole_after),
            taken_after,
            moved: Some(7),
        };
        let bought = |at, after, by_owner| DecidedPurchase {
            at: s(at),
            after: Duration::from_millis(after),
            ran: true,
            by_owner,
            answers: String::new(),
        };
        Outcome {
            seed: 7,
            seconds: 60,
            notifications: "on",
            faults: vec![
                fault(10, Fault::Kill(0), 4, Some(s(2))),
                fault(12, Fault::AllNats(s(5), Cut::Mute), 5, None),
                fault(40, Fault::FreezeDatabase, 4, None),
            ],
            purchases: vec![
                bought(5, 30, Some(true)),
                bought(6, 50, Some(false)),
                bought(13, 1_900, None),
                bought(19, 300, None),
                DecidedPurchase { ran: false, ..bought(30, 9_000, None) },
            ],
            ..Outcome::default()
        }
    }

    #[test]
    fn quantiles_are_of_what_was_seen() {
        let of = Quantiles::of((1..=100).rev().map(Duration::from_secs).collect());
        assert_eq!((of.count, of.p50, of.p99, of.max), (100, 50.0, 99.0, 100.0));
        assert_eq!(Quantiles::of(Vec::new()).max, 0.0);
    }

    #[test]
    fn a_purchase_counts_to_the_faults_near_it() {
        let outcome = outcome();
        let times = outcome.times();
        let of = |name: &str| times.iter().find(|t| t.name == name).map(|t| (t.of.count, t.of.max)).unwrap();
        assert_eq!(of("takeover_kill"), (1, 2.0));
        assert_eq!((of("receipt"), of("purchase")), ((5, 9.0), (4, 1.9)));
        assert_eq!((of("purchase_calm"), of("purchase_kill"), of("purchase_news_away")), ((2, 0.05), (1, 1.9), (1, 0.3)));
        assert_eq!((of("purchase_calm_owner"), of("purchase_calm_others")), ((1, 0.03), (1, 0.05)));
        let slowest: Vec<_> = outcome.slowest().iter().map(|(kind, p)| (*kind, p.after)).collect();
        assert_eq!(slowest, [("kill -9", Duration::from_millis(1_900))]);
        assert_eq!((of("purchase_stall"), outcome.moved_by_stalls()), ((0, 0.0), 7));
    }
}
