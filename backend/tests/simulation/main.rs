//! Thousands of histories in virtual time. They use the real `Machine`, a store with the schema's constraints and the real rules of
//! devices. Devices are simulated (`plain`) or speak MQTT (`mqtt`); one, two or three servers run (`several`); every known fault is
//! injected. `NYALA_SIM_SEED=<n>` prints one history while it runs; `NYALA_SIM_SEEDS=<n>` runs that many, from `NYALA_SIM_FIRST` on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where an expectation fails")]

mod check;
mod coins;
mod customer;
#[allow(dead_code, reason = "the tests of the whole server use the rest")]
#[path = "../api/support/database.rs"]
mod database;
mod devices;
mod mqtt;
mod plain;
mod postgres;
mod recovery;
mod server;
mod several;
mod statements;
mod store;
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use devices::Devices;
use mqtt::core::{built, compare};
use mqtt::wild::incarnation;
use mqtt::{Figures, Mqtt, WORTH};
use nyala_core::purchase::edge::POINTS;
use plain::Plain;
use several::{EdgeCase, Without};
use world::World;

/// Histories that are also replayed on PostgreSQL.
const POSTGRES_SEEDS: u64 = 30;
const POSTGRES_MQTT_SEEDS: u64 = 10;
/// Histories of an ordinary run; `make simulate` runs more.
const SEEDS: u64 = 20_000;
const MQTT_SEEDS: u64 = 3_000;
const SEVERAL_SEEDS: u64 = 600;
/// From this number of histories on, random takeovers alone must have reached each edge of a purchase.
const BY_CHANCE_SEEDS: u64 = 20_000;
/// Of this many histories without the fence, or with a fence that locks no row, at least one must end badly.
const UNFENCED_SEEDS: u64 = 1_000;
/// The same for histories in which a stopped server resumes at a certain edge.
const UNFENCED_WAKES: usize = 100;
/// One in this many of these histories is also replayed on the core in C.
const CORE_ONE_IN: u64 = 10;
/// Maximum number of seeds listed when histories end badly.
const SHOWN: usize = 20;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number, not `{text}`")))
}

/// Runs all requested histories and adds their results up with `add`.
fn run_all<D: Devices, T: Default + Send>(
    name: &str,
    seeds: u64,
    history: impl Fn(u64, bool) -> World<D> + Sync,
    add: impl Fn(&mut T, u64, World<D>) + Sync,
) -> Option<T> {
    if let Some(seed) = number("NYALA_SIM_SEED") {
        history(seed, true).run();
        return None;
    }
    let (first, seeds) = (number("NYALA_SIM_FIRST").unwrap_or(0), number("NYALA_SIM_SEEDS").unwrap_or(seeds));
    let (next, all, bad) = (AtomicU64::new(first), Mutex::new(T::default()), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + seeds {
                return;
            }
            let mut world = history(seed, false);
            if catch_unwind(AssertUnwindSafe(|| world.run())).is_ok() {
                add(&mut all.lock().unwrap(), seed, world);
            } else {
                println!("{name}: the history of seed {seed} ends badly");
                bad.lock().unwrap().push(seed);
            }
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        (0..threads).for_each(|_| _ = scope.spawn(work));
    });
    let mut bad = bad.into_inner().unwrap();
    bad.sort_unstable();
    assert!(
        bad.is_empty(),
        "{name}: {} of {seeds} histories end badly: {:?}; NYALA_SIM_SEED={} tells how",
        bad.len(),
        &bad[..bad.len().min(SHOWN)],
        bad[0]
    );
    println!("{name}: {seeds} histories from seed {first} on");
    Some(all.into_inner().unwrap())
}

fn add_up(seen: &mut BTreeMap<&'static str, u32>, of: BTreeMap<&'static str, u32>) {
    of.into_iter().for_each(|(what, n)| *seen.entry(what).or_default() += n);
}

fn worth(seen: &BTreeMap<&'static str, u32>, expected: &[&str]) {
    println!("{seen:#?}");
    for what in expected {
        assert!(seen.contains_key(what), "no history met `{what}`");
    }
}

#[test]
fn every_history_ends_well() {
    let seen = run_all("simulated devices", SEEDS, World::<Plain>::new, |seen, _, world| add_up(seen, world.seen));
    seen.inspect(|seen| worth(seen, &check::WORTH));
}

#[test]
fn every_history_of_several_servers_ends_well() {
    let history = |seed, verbose| World::several(seed, verbose, Without::Nothing);
    let seen = run_all("several servers", SEVERAL_SEEDS, history, |seen, _, world| add_up(seen, world.seen));
    let by_chance = if number("NYALA_SIM_SEEDS") >= Some(BY_CHANCE_SEEDS) { POINTS } else { &[] };
    seen.inspect(|seen| worth(seen, &[&several::WORTH, by_chance].concat()));
}

/// A server is stopped at an edge and another one takes over: one history for each case, by name.
#[test]
fn every_history_of_a_takeover_at_an_edge_ends_well() {
    assert!(EdgeCase::missing().is_empty(), "nobody is stopped at {:?}", EdgeCase::missing());
    let history = |seed, verbose| World::at_an_edge(seed, verbose, Without::Nothing);
    run_all("takeovers at edges", EdgeCase::count(), history, |seen, _, world| add_up(seen, world.seen));
}

/// At each edge before a change, only the fence keeps a server that has lost the machine in between from committing that change.
#[test]
fn without_the_fence_a_takeover_at_each_edge_ends_badly() {
    for (edge, seeds) in EdgeCase::fenced() {
        let commits = |seed: &u64| {
            let end = catch_unwind(|| World::at_an_edge(*seed, false, Without::Fence).run());
            end.is_err_and(|why| why.downcast_ref::<String>().is_some_and(|why| why.contains("committed under an old fence")))
        };
        let seed = seeds.take(UNFENCED_WAKES).find(commits).unwrap_or_else(|| panic!("nothing misses it at {edge}"));
        println!("without the fence: the history of seed {seed} ends badly, at {edge}");
    }
}

/// With several servers, each commit needs its fence, and the fence must lock its row until the commit.
#[test]
fn without_the_fence_a_history_of_several_servers_ends_badly() {
    for without in [Without::Fence, Without::Share] {
        let ends_badly = |seed: &u64| catch_unwind(|| World::several(*seed, false, without).run()).is_err();
        let seed = (0..UNFENCED_SEEDS).find(ends_badly).expect("nothing misses it");
        println!("without {without:?}: the history of seed {seed} ends badly");
    }
}

#[test]
fn every_history_over_the_endpoint_ends_well() {
    let add = |all: &mut Figures, seed, world: World<Mqtt>| all.add(seed, world.devices.figures, world.seen);
    if let Some(mut figures) = run_all("endpoint", MQTT_SEEDS, World::new, add) {
        figures.check(&WORTH);
    }
}

/// Replays on the core all inputs of the devices of that history, and one random sequence of inputs that no history contains.
fn hold_core_against(core: &Path, seed: u64) -> usize {
    let mut world = World::<Mqtt>::taken_down(seed);
    world.run();
    compare(core, seed, world.transcripts()) + compare(core, seed, vec![incarnation(seed)])
}

#[test]
fn every_history_is_the_same_for_the_core_in_c() {
    let Some(core) = built() else { return };
    let seeds = number("NYALA_SIM_SEEDS").unwrap_or(MQTT_SEEDS) / CORE_ONE_IN;
    let first = number("NYALA_SIM_SEED").or(number("NYALA_SIM_FIRST")).unwrap_or(0);
    let last = if number("NYALA_SIM_SEED").is_some() { first } else { first + seeds.max(1) - 1 };
    let runs: usize = (first..=last).map(|seed| hold_core_against(&core, seed)).sum();
    let histories = last - first + 1;
    println!("core in C: {histories} histories from seed {first} on, in which it ran {runs} times");
    assert!(histories < 10 || runs > 0, "it never ran");
}
