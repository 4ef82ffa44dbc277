//! The faults, their schedule, and their results.

use std::fmt;
use std::time::Duration;

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::cut_proxy::Cut;

/// Maximum number of times that a single NATS server is killed, about once a minute. Once in a run all of them are down together.
const MAX_NATS_KILLS: u32 = 11;
const NATS_KILLS_APART: Duration = Duration::from_secs(60);
/// Duration for which all of them are down, as a fraction of the run, but at least `MIN_NATS_DOWN`.
const NATS_DOWN_FRACTION: u32 = 60;
const MIN_NATS_DOWN: Duration = Duration::from_secs(5);

/// A fault. A number is the index of a Nyala server, or of a NATS server in `KillNats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The server is killed and started again.
    Kill(usize),
    /// The server is paused for a while (SIGSTOP) and continues.
    Pause(usize),
    /// The server is stopped as for an upgrade (SIGTERM), and started again.
    Stop(usize),
    /// The connection of a server to PostgreSQL is cut.
    CutDatabase(usize, Cut),
    FreezeDatabase,
    KillPrimary,
    /// The connections of the primary to its standbys are cut. A standby is promoted while the old primary still accepts commits, which wait for
    /// a standby and are never acknowledged.
    CutStandbys(Cut),
    /// The connection of the load balancer to a server is cut, for phones.
    CutPhones(usize, Cut),
    /// The same, for devices.
    CutDevices(usize, Cut),
    KillNats(usize),
    /// All NATS servers for this long: killed or paused.
    AllNats(Duration, Cut),
    /// The connection of a server to NATS is cut.
    CutNats(usize, Cut),
}

/// Kinds of faults, as the report groups them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Kill,
    Pause,
    Stop,
    Cut,
    Stall,
    Failover,
    Standbys,
    PhonesCut,
    DevicesCut,
    NatsKill,
    NatsDown,
    NatsCut,
}

/// The part of the cluster that a fault affects. Faults of one part follow each other; faults of different parts overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The servers and PostgreSQL.
    Site,
    /// The load balancer's connections to the servers.
    Proxies,
    Nats,
}

impl Kind {
    pub const ALL: [Self; 12] = [
        Self::Kill,
        Self::Pause,
        Self::Stop,
        Self::Cut,
        Self::Stall,
        Self::Failover,
        Self::Standbys,
        Self::PhonesCut,
        Self::DevicesCut,
        Self::NatsKill,
        Self::NatsDown,
        Self::NatsCut,
    ];

    /// As a part of the names of figures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Pause => "pause",
            Self::Stop => "stop",
            Self::Cut => "cut",
            Self::Stall => "stall",
            Self::Failover => "failover",
            Self::Standbys => "standbys",
            Self::PhonesCut => "phones_cut",
            Self::DevicesCut => "devices_cut",
            Self::NatsKill => "news_kill",
            Self::NatsDown => "news_away",
            Self::NatsCut => "news_cut",
        }
    }

    pub const fn part(self) -> Part {
        match self {
            Self::Kill | Self::Pause | Self::Stop | Self::Cut | Self::Stall | Self::Failover | Self::Standbys => Part::Site,
            Self::PhonesCut | Self::DevicesCut => Part::Proxies,
            Self::NatsKill | Self::NatsDown | Self::NatsCut => Part::Nats,
        }
    }

    /// As the report shows it, after "takeover after" and "around".
    pub const fn label(self) -> &'static str {
        match self {
            Self::Kill => "kill -9",
            Self::Pause => "SIGSTOP",
            Self::Stop => "SIGTERM",
            Self::Cut => "cut from PostgreSQL",
            Self::Stall => "a stall",
            Self::Failover => "a failover",
            Self::Standbys => "primary cut from standbys",
            Self::PhonesCut => "cut from phones",
            Self::DevicesCut => "cut from devices",
            Self::NatsKill => "kill -9 of NATS",
            Self::NatsDown => "all NATS away",
            Self::NatsCut => "cut from NATS",
        }
    }
}

impl Fault {
    pub const fn kind(self) -> Kind {
        match self {
            Self::Kill(_) => Kind::Kill,
            Self::Pause(_) => Kind::Pause,
            Self::Stop(_) => Kind::Stop,
            Self::CutDatabase(..) => Kind::Cut,
            Self::FreezeDatabase => Kind::Stall,
            Self::KillPrimary => Kind::Failover,
            Self::CutStandbys(_) => Kind::Standbys,
            Self::CutPhones(..) => Kind::PhonesCut,
            Self::CutDevices(..) => Kind::DevicesCut,
            Self::KillNats(_) => Kind::NatsKill,
            Self::AllNats(..) => Kind::NatsDown,
            Self::CutNats(..) => Kind::NatsCut,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill(node) => write!(f, "kill -9 n{}", node + 1),
            Self::Pause(node) => write!(f, "SIGSTOP n{}", node + 1),
            Self::Stop(node) => write!(f, "SIGTERM n{}", node + 1),
            Self::CutDatabase(node, cut) => write!(f, "n{} to PostgreSQL {cut}", node + 1),
            Self::FreezeDatabase => f.write_str("PostgreSQL frozen"),
            Self::KillPrimary => f.write_str("kill -9 the primary"),
            Self::CutStandbys(cut) => write!(f, "primary to standbys {cut}"),
            Self::CutPhones(node, cut) => write!(f, "n{} to phones {cut}", node + 1),
            Self::CutDevices(node, cut) => write!(f, "n{} to devices {cut}", node + 1),
            Self::KillNats(place) => write!(f, "kill -9 NATS {}", place + 1),
            Self::AllNats(_, Cut::Mute) => f.write_str("all NATS frozen"),
            Self::AllNats(_, Cut::Broken) => f.write_str("kill -9 all NATS"),
            Self::CutNats(node, cut) => write!(f, "n{} to NATS {cut}", node + 1),
        }
    }
}

/// Schedule of the faults of servers and PostgreSQL, one after the other. Four kinds come in rounds, in an order that the seed decides. The faults
/// that come once are inserted at their time.
pub struct Schedule {
    length: Duration,
    nodes: usize,
    /// In reverse order of time.
    once: Vec<(Duration, Fault)>,
    turns: Vec<Fault>,
    /// True during the first round of the four kinds, which a short run also completes.
    is_first: bool,
}

impl Schedule {
    pub fn new(length: Duration, nodes: usize, primary: bool, rng: &mut StdRng) -> Self {
        let mut once = cuts(length, nodes, rng, Fault::CutDatabase);
        if primary {
            once.extend([(length * 2 / 3, Fault::KillPrimary), (length * 4 / 5, Fault::CutStandbys(random_cut(rng)))]);
        }
        once.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        Self { length, nodes, once, turns: one_of_each(nodes, rng), is_first: true }
    }

    /// The next fault at this time of the run. `None`: the run is over, and each fault of the schedule was done.
    pub fn next(&mut self, at: Duration, rng: &mut StdRng) -> Option<Fault> {
        let is_over = at >= self.length;
        if let Some((_, fault)) = self.once.pop_if(|(moment, _)| is_over || *moment <= at) {
            return Some(fault);
        }
        if self.turns.is_empty() {
            self.is_first = false;
            self.turns = one_of_each(self.nodes, rng);
        }
        if is_over && !self.is_first { None } else { self.turns.pop() }
    }
}

fn one_of_each(nodes: usize, rng: &mut StdRng) -> Vec<Fault> {
    let mut node = || rng.random_range(0..nodes);
    let mut four = vec![Fault::Kill(node()), Fault::Pause(node()), Fault::Stop(node()), Fault::FreezeDatabase];
    four.shuffle(rng);
    four
}

/// Faults of NATS, in parallel to the others: each at its time, or as soon as the one before is repaired.
pub fn nats_faults(length: Duration, nodes: usize, rng: &mut StdRng) -> Vec<(Duration, Fault)> {
    let mut all = cuts(length, nodes, rng, Fault::CutNats);
    let downtime = (length / NATS_DOWN_FRACTION).max(MIN_NATS_DOWN);
    all.push((length / 3, Fault::AllNats(downtime, random_cut(rng))));
    let kills = u32::try_from(length.as_secs() / NATS_KILLS_APART.as_secs()).unwrap_or(u32::MAX).clamp(1, MAX_NATS_KILLS);
    all.extend((1..=kills).map(|n| (length * n / (kills + 1), Fault::KillNats(rng.random_range(0..nodes)))));
    all.sort_by_key(|(at, _)| *at);
    all
}

/// Faults of the load balancer's connections, in parallel to the others: each at its time, or as soon as the one before is repaired.
pub fn proxy_faults(length: Duration, nodes: usize, rng: &mut StdRng) -> Vec<(Duration, Fault)> {
    let phones = cuts(length, nodes, rng, Fault::CutPhones);
    // In the middle between those of the phones.
    let later = length / u32::try_from(nodes * 4).unwrap_or(u32::MAX);
    let devices = cuts(length, nodes, rng, Fault::CutDevices).into_iter().map(|(at, fault)| (at + later, fault));
    let mut all: Vec<_> = phones.into_iter().chain(devices).collect();
    all.sort_by_key(|(at, _)| *at);
    all
}

fn random_cut(rng: &mut StdRng) -> Cut {
    if rng.random() { Cut::Mute } else { Cut::Broken }
}

/// Cuts each server's connection once, evenly spread, in an order that the seed decides, with the kinds of cuts in turns.
fn cuts(length: Duration, nodes: usize, rng: &mut StdRng, fault: fn(usize, Cut) -> Fault) -> Vec<(Duration, Fault)> {
    let mut order: Vec<usize> = (0..nodes).collect();
    order.shuffle(rng);
    let ways = if rng.random() { [Cut::Mute, Cut::Broken] } else { [Cut::Broken, Cut::Mute] };
    let part = length / u32::try_from(nodes * 2).unwrap_or(u32::MAX);
    (0..)
        .zip(order.into_iter().zip(ways.into_iter().cycle()))
        .map(|(place, (node, way))| (part * (2 * place + 1), fault(node, way)))
        .collect()
}

/// An entry of the timeline.
#[derive(Debug)]
pub struct InjectedFault {
    /// Time since the faults began.
    pub at: Duration,
    pub fault: Fault,
    /// Time until it was repaired: restarted, continued, reconnected or promoted.
    pub whole_after: Duration,
    /// Time until every shard of the server had another owner.
    pub taken_after: Option<Duration>,
    /// Shards that changed their owner until the repair; `None` for faults that overlap with others.
    pub moved: Option<i64>,
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    const LENGTH: Duration = Duration::from_secs(120);

    fn all(seed: u64) -> Vec<Fault> {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut schedule = Schedule::new(LENGTH, 3, true, &mut rng);
        let moments = (0..).map(|n| Duration::from_secs(10 * n));
        moments.map_while(|at| schedule.next(at, &mut rng)).collect()
    }

    #[test]
    fn a_seed_has_every_kind_of_fault_and_always_the_same() {
        let faults = all(7);
        assert_eq!(faults, all(7));
        let is_once = |f: &&Fault| matches!(f.kind(), Kind::Cut | Kind::Failover | Kind::Standbys);
        let (once, turns): (Vec<Fault>, Vec<Fault>) = faults.iter().partition(is_once);
        for four in turns.chunks_exact(4) {
            for kind in [Kind::Kill, Kind::Pause, Kind::Stop, Kind::Stall] {
                assert_eq!(four.iter().filter(|f| f.kind() == kind).count(), 1, "{four:?}");
            }
        }
        assert_eq!(once.len(), 5, "{once:?}");
        for node in 0..3 {
            assert!(once.iter().any(|f| matches!(f, Fault::CutDatabase(n, _) if *n == node)), "{once:?}");
        }
        for way in [Cut::Mute, Cut::Broken] {
            assert!(once.iter().any(|f| matches!(f, Fault::CutDatabase(_, how) if *how == way)), "{once:?}");
        }
    }

    #[test]
    fn one_time_faults_and_one_of_each_kind_happen_even_late() {
        let mut rng = StdRng::seed_from_u64(7);
        let mut schedule = Schedule::new(LENGTH, 3, true, &mut rng);
        let first = schedule.next(Duration::ZERO, &mut rng).unwrap();
        let late: Vec<Fault> = std::iter::from_fn(|| schedule.next(LENGTH, &mut rng)).collect();
        assert_eq!(late.len(), 5 + 3, "{late:?}");
        for kind in [Kind::Kill, Kind::Pause, Kind::Stop, Kind::Stall] {
            assert_eq!(late.iter().chain([&first]).filter(|f| f.kind() == kind).count(), 1, "{late:?}");
        }
    }

    #[test]
    fn each_servers_lines_to_phones_and_devices_are_cut_once() {
        let all = proxy_faults(LENGTH, 3, &mut StdRng::seed_from_u64(7));
        assert!(all.is_sorted_by_key(|(at, _)| *at) && all.iter().all(|(at, _)| *at < LENGTH), "{all:?}");
        for node in 0..3 {
            for kind in [Kind::PhonesCut, Kind::DevicesCut] {
                let of =
                    |f: &Fault| f.kind() == kind && matches!(f, Fault::CutPhones(n, _) | Fault::CutDevices(n, _) if *n == node);
                assert_eq!(all.iter().filter(|(_, f)| of(f)).count(), 1, "{all:?}");
            }
        }
    }

    #[test]
    fn an_hour_of_nats_is_the_plans() {
        let of = |length| nats_faults(Duration::from_secs(length), 3, &mut StdRng::seed_from_u64(7));
        let count = |all: &[(Duration, Fault)], kind| all.iter().filter(|(_, f)| f.kind() == kind).count();
        let (hour, short) = (of(3_600), of(40));
        assert_eq!((count(&hour, Kind::NatsKill), count(&short, Kind::NatsKill)), (11, 1));
        assert_eq!((count(&hour, Kind::NatsCut), count(&short, Kind::NatsCut)), (3, 3));
        let downtime = hour.iter().find(|(_, f)| f.kind() == Kind::NatsDown).unwrap();
        assert!(
            matches!(downtime, (at, Fault::AllNats(downtime, _)) if at.as_secs() == 1_200 && downtime.as_secs() == 60),
            "{downtime:?}"
        );
    }
}
