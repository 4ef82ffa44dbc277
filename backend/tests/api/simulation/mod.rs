//! Thousands of histories in virtual time: the real `Machine`, the real device, a store with the schema's constraints, and every
//! fault there is. `NYALA_SIM_SEED=<n>` tells one history as it goes; `NYALA_SIM_SEEDS=<n>` runs
//! that many, from `NYALA_SIM_FIRST` on.

mod check;
mod customer;
mod device;
mod postgres;
mod server;
mod store;
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use world::World;

/// Histories that PostgreSQL is asked to tell as well.
const POSTGRES_SEEDS: u64 = 30;
/// Histories of an ordinary run; `make simulate` tells more.
const SEEDS: u64 = 20_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number, not `{text}`")))
}

#[test]
fn every_history_ends_well() {
    if let Some(seed) = number("NYALA_SIM_SEED") {
        return World::new(seed, true).run();
    }
    let (first, seeds) = (number("NYALA_SIM_FIRST").unwrap_or(0), number("NYALA_SIM_SEEDS").unwrap_or(SEEDS));
    let (next, seen) = (AtomicU64::new(first), Mutex::new(BTreeMap::new()));
    let tell = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + seeds {
                return;
            }
            let mut world = World::new(seed, false);
            if catch_unwind(AssertUnwindSafe(|| world.run())).is_err() {
                panic!("seed {seed} ends badly; NYALA_SIM_SEED={seed} tells how");
            }
            let mut seen = seen.lock().unwrap();
            for (what, n) in world.seen {
                *seen.entry(what).or_insert(0) += n;
            }
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(tell)).collect();
        for one in all {
            one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
    let seen = seen.into_inner().unwrap();
    println!("{seeds} histories from seed {first} on: {seen:#?}");
    for what in check::WORTH {
        assert!(seen.contains_key(what), "no history met `{what}`");
    }
}
