//! Thousands of histories in virtual time: the real `Machine`, the real device, a store with the schema's constraints, and every
//! fault there is. `NYALA_SIM_SEED=<n>` tells one history as it goes; `NYALA_SIM_SEEDS=<n>` runs that many.

mod check;
mod customer;
mod device;
mod postgres;
mod server;
mod store;
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use world::World;

/// Histories that PostgreSQL is asked to tell as well.
const POSTGRES_SEEDS: u64 = 30;
/// Histories of an ordinary run.
const SEEDS: u64 = 3_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number, not `{text}`")))
}

#[test]
fn every_history_ends_well() {
    if let Some(seed) = number("NYALA_SIM_SEED") {
        return World::new(seed, true).run();
    }
    let mut seen = BTreeMap::new();
    for seed in 0..number("NYALA_SIM_SEEDS").unwrap_or(SEEDS) {
        let mut world = World::new(seed, false);
        if catch_unwind(AssertUnwindSafe(|| world.run())).is_err() {
            panic!("seed {seed} ends badly; NYALA_SIM_SEED={seed} tells how");
        }
        for (what, n) in world.seen {
            *seen.entry(what).or_insert(0) += n;
        }
    }
    println!("{seen:#?}");
    for what in check::WORTH {
        assert!(seen.contains_key(what), "no history met `{what}`");
    }
}
