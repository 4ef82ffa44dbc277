//! The timing wheel of a thread with a number of alarms spread over an hour.

use std::time::{Duration, Instant};

use actix_socketio::host::wheel::{TimerKey, Wheel};
use criterion::{BenchmarkId, Criterion};
use nyala_machines::alarm::{STEP, STEP_MS};

const SIZES: [u32; 3] = [10_000, 100_000, 1_000_000];
const HOUR_MS: i64 = 3_600_000;
const SECOND_MS: i64 = 1000;
/// Alarms that are set or cancelled between two looks at the clock.
const BATCH: u64 = 1024;

pub fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("wheel");
    for size in SIZES {
        let mut wheel = filled(size, HOUR_MS);
        let name = |what: &str| BenchmarkId::new(what.to_owned(), size);
        group.bench_function(name("insert"), |b| b.iter_custom(|n| batches(&mut wheel, n).0));
        group.bench_function(name("cancel"), |b| b.iter_custom(|n| batches(&mut wheel, n).1));
        let mut wheel = filled(size, SECOND_MS);
        let mut now_ms = 0;
        // As machines tick: each alarm sets the next one a second later.
        group.bench_function(name("fire and set again"), |b| b.iter_custom(|n| fire(&mut wheel, &mut now_ms, n)));
    }
    group.finish();
}

fn filled(size: u32, within_ms: i64) -> Wheel<u32> {
    let mut wheel = Wheel::new(STEP, 0);
    for i in 0..size {
        wheel.insert(due_ms(i.into(), within_ms), i);
    }
    wheel
}

/// Spread evenly, in no order: neighbours land far apart.
fn due_ms(i: u64, within_ms: i64) -> i64 {
    let spread = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    i64::try_from(spread).unwrap() % within_ms + 1
}

/// The time to set `n` alarms and the time to cancel them.
fn batches(wheel: &mut Wheel<u32>, n: u64) -> (Duration, Duration) {
    let (mut setting, mut cancelling) = (Duration::ZERO, Duration::ZERO);
    let mut keys: Vec<TimerKey> = Vec::with_capacity(BATCH as usize);
    let mut done = 0;
    while done < n {
        let until = n.min(done + BATCH);
        let began = Instant::now();
        keys.extend((done..until).map(|i| wheel.insert(due_ms(i, HOUR_MS), 0)));
        setting += began.elapsed();
        let began = Instant::now();
        for key in keys.drain(..) {
            assert!(wheel.cancel(key).is_some());
        }
        cancelling += began.elapsed();
        done = until;
    }
    (setting, cancelling)
}

/// The time in which `n` alarms fire, from as many steps as it takes.
fn fire(wheel: &mut Wheel<u32>, now_ms: &mut i64, n: u64) -> Duration {
    let (mut fired, mut due) = (0, Vec::new());
    let began = Instant::now();
    while fired < n {
        *now_ms += STEP_MS;
        wheel.advance(*now_ms, |i| due.push(i));
        fired += due.len() as u64;
        for i in due.drain(..) {
            wheel.insert(*now_ms + SECOND_MS, i);
        }
    }
    // the last step gave more than was asked for
    began.elapsed().mul_f64(n as f64 / fired as f64)
}
