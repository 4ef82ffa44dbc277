use std::cmp::Reverse;
use std::collections::BinaryHeap;

use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

const TARGET_MS: u64 = 50;

fn rank_of(n: usize) -> Rank {
    Class::ALL.get(n).map_or(Rank::Begun, |class| Rank::First(*class))
}

/// Reports a wait of `wait_ms` in each millisecond of these.
fn waits(admission: &mut Admission, from_ms: u64, until_ms: u64, wait_ms: u64) {
    (from_ms..until_ms).for_each(|now| admission.waited(wait_ms, now));
}

fn shares(admission: &Admission) -> [f64; 5] {
    Class::ALL.map(|class| admission.refused_share(class))
}

#[test]
fn nothing_is_refused_while_nobody_waits_or_only_for_a_moment() {
    let mut admission = Admission::new(TARGET_MS);
    assert!(Class::ALL.into_iter().all(|class| admission.admits(class, 0.0, 10)));
    // A burst: someone waits long, but the queue is gone within each interval.
    for now in (20..5_000).step_by(25) {
        admission.waited(1_000, now);
        admission.waited(0, now + 1);
    }
    assert_eq!(shares(&admission), [0.0; 5]);
}

#[test]
fn the_lowest_class_is_refused_first_and_a_twentieth_of_each_is_always_admitted() {
    let mut admission = Admission::new(TARGET_MS);
    let mut order = Vec::new();
    for now in 0..20_000 {
        admission.waited(2 * TARGET_MS, now);
        admission.advance(now);
        for class in Class::ALL {
            if admission.refused_share(class) > 0.5 && !order.contains(&class) {
                order.push(class);
            }
        }
    }
    assert_eq!(order, [Class::List, Class::Look, Class::Change, Class::Payment, Class::KnownPayment]);
    assert_eq!(shares(&admission), [MAX_REFUSED; 5]);
    assert!(!admission.admits(Class::KnownPayment, 0.94, 20_000));
    assert!(admission.admits(Class::List, 0.96, 20_000));
}

#[test]
fn a_quiet_second_opens_it_again_and_a_quiet_day_takes_no_longer() {
    let mut admission = Admission::new(TARGET_MS);
    waits(&mut admission, 0, 10_000, 4 * TARGET_MS);
    assert!(admission.refused_share(Class::KnownPayment) > 0.9);
    admission.advance(12_000);
    assert_eq!(shares(&admission), [0.0; 5]);
    waits(&mut admission, 20_000, 30_000, 4 * TARGET_MS);
    admission.advance(86_400_000);
    assert_eq!(shares(&admission), [0.0; 5]);
}

#[test]
fn who_is_refused_comes_back_after_one_to_three_seconds() {
    assert_eq!([0.0, 0.34, 0.99].map(retry_after_s), [1, 2, 3]);
}

#[test]
fn the_most_important_is_served_first_and_the_lowest_does_not_starve() {
    let mut queue = WaitQueue::new(1_000);
    for n in 0..100 {
        queue.push(Rank::First(Class::Payment), (Class::Payment, n), n).unwrap();
        queue.push(Rank::First(Class::List), (Class::List, n), n).unwrap();
    }
    queue.push(Rank::Begun, (Class::Look, 200), 200).unwrap();
    assert_eq!(queue.pop(), Some((Class::Look, 200)), "what has begun is finished first");
    let served: Vec<(Class, u64)> = std::iter::from_fn(|| queue.pop()).take(100).collect();
    assert_eq!(served.iter().filter(|(class, _)| *class == Class::List).count(), 5);
    assert_eq!(served[..2], [(Class::Payment, 0), (Class::Payment, 1)]);
    assert_eq!(queue.len(), 100);
}

#[test]
fn a_queue_is_bounded_and_forgets_who_gives_up() {
    let mut queue = WaitQueue::new(2);
    let first = queue.push(Rank::First(Class::Look), 'a', 10).unwrap();
    queue.push(Rank::First(Class::Look), 'b', 20).unwrap();
    assert_eq!(queue.push(Rank::Begun, 'c', 30), None);
    assert_eq!(queue.longest_ms(50), Some(40));
    assert!(queue.remove(first) && !queue.remove(first));
    assert_eq!((queue.longest_ms(50), queue.pop(), queue.pop(), queue.is_empty()), (Some(30), Some('b'), None, true));
}

proptest! {
    #[test]
    fn no_higher_class_is_refused_more_and_time_alone_opens_it(
        events in prop::collection::vec((0_u64..2_000, 0_u64..500), 0..300),
        target_ms in 1_u64..1_000,
    ) {
        let mut admission = Admission::new(target_ms);
        let mut now = 0;
        for (wait, passed) in events {
            now += passed;
            admission.waited(wait, now);
            let shares = shares(&admission);
            prop_assert!(shares.is_sorted() && shares[4] <= MAX_REFUSED && shares[0] >= 0.0, "{shares:?}");
        }
        admission.advance(now + 2_000);
        prop_assert_eq!(shares(&admission), [0.0; 5]);
    }

    #[test]
    fn a_queue_loses_nobody(steps in prop::collection::vec((0_usize..6, 0_u8..3), 0..200)) {
        let mut queue = WaitQueue::new(64);
        let (mut inside, mut ids) = (std::collections::BTreeSet::new(), Vec::new());
        for (n, (class, step)) in steps.into_iter().enumerate() {
            match step {
                0 | 1 if inside.len() < 64 => {
                    ids.push((queue.push(rank_of(class), n, n as u64).unwrap(), n));
                    inside.insert(n);
                }
                0 | 1 => prop_assert_eq!(queue.push(rank_of(class), n, n as u64), None),
                _ if class % 2 == 0 => {
                    let served = queue.pop();
                    prop_assert_eq!(served.is_some(), !inside.is_empty());
                    prop_assert!(served.is_none_or(|served| inside.remove(&served)));
                }
                _ => {
                    let Some((id, n)) = ids.pop() else { continue };
                    prop_assert_eq!(queue.remove(id), inside.remove(&n));
                }
            }
            prop_assert_eq!(queue.len(), inside.len());
        }
    }
}

/// Connections of the simulated server, and the mean time for which a request uses one.
const CONNECTIONS: usize = 6;
const SERVICE_MS: f64 = 6.0;
/// Three purchases in ten are followed by a look at the history.
const LISTS: f64 = 0.3;
/// A purchase is a scan and a payment.
const REQUESTS: f64 = 2.0 + LISTS;
const MAX_RETRIES: u8 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A request of this class, tried for the so-many-th time.
    Comes(Class, u8),
    Ends(Class),
}

/// What was seen in one phase.
#[derive(Debug, Default)]
struct Seen {
    paid: usize,
    refused: [usize; 5],
    waits_ms: Vec<u64>,
}

impl Seen {
    fn p99_ms(&mut self) -> u64 {
        self.waits_ms.sort_unstable();
        self.waits_ms[self.waits_ms.len() * 99 / 100]
    }
}

/// A server in virtual time. Its customers scan, pay a second later, and come back when they are refused.
struct Simulation {
    now: u64,
    random: StdRng,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    numbered: u64,
    admission: Admission,
    queue: WaitQueue<(Class, u64)>,
    free: usize,
    seen: Seen,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        Self {
            now: 0,
            random: StdRng::seed_from_u64(seed),
            events: BinaryHeap::new(),
            numbered: 0,
            admission: Admission::new(TARGET_MS),
            queue: WaitQueue::new(10_000),
            free: CONNECTIONS,
            seen: Seen::default(),
        }
    }

    /// Purchases a second that the server can serve.
    fn capacity() -> f64 {
        CONNECTIONS as f64 * 1_000.0 / SERVICE_MS / REQUESTS
    }

    fn exponential(&mut self, mean_ms: f64) -> f64 {
        -(1.0 - self.random.random::<f64>()).ln() * mean_ms
    }

    fn plan(&mut self, at: u64, event: Event) {
        self.numbered += 1;
        self.events.push(Reverse((at, self.numbered, event)));
    }

    /// Offers so many times the capacity for so long.
    fn offer(&mut self, times: f64, length_ms: u64) -> Seen {
        let (mut at, end) = (self.now as f64, self.now + length_ms);
        loop {
            at += self.exponential(1_000.0 / (times * Self::capacity()));
            if at >= end as f64 {
                break;
            }
            self.plan(at as u64, Event::Comes(Class::Look, 0));
            if self.random.random_bool(LISTS) {
                self.plan(at as u64, Event::Comes(Class::List, 0));
            }
        }
        while let Some(Reverse((at, ..))) = self.events.peek().copied().filter(|Reverse((at, ..))| *at < end) {
            self.now = at;
            if let Some(Reverse((_, _, event))) = self.events.pop() {
                self.on(event);
            }
        }
        self.now = end;
        std::mem::take(&mut self.seen)
    }

    fn on(&mut self, event: Event) {
        match event {
            Event::Comes(class, tried) => {
                let draw = self.random.random();
                if let Some(longest) = self.queue.longest_ms(self.now) {
                    self.admission.waited(longest, self.now);
                }
                if !self.admission.admits(class, draw, self.now) {
                    self.seen.refused[class as usize] += 1;
                    if tried < MAX_RETRIES {
                        let after = u64::from(retry_after_s(self.random.random())) * 1_000 + self.random.random_range(0..500);
                        self.plan(self.now + after, Event::Comes(class, tried + 1));
                    }
                } else if self.free > 0 {
                    self.serve(class, self.now);
                } else {
                    self.queue.push(Rank::First(class), (class, self.now), self.now).unwrap();
                }
            }
            Event::Ends(class) => {
                self.free += 1;
                match class {
                    Class::Look => {
                        let thinks = self.random.random_range(500..2_000);
                        self.plan(self.now + thinks, Event::Comes(Class::KnownPayment, 0));
                    }
                    Class::KnownPayment => self.seen.paid += 1,
                    _ => {}
                }
                if let Some(longest) = self.queue.longest_ms(self.now) {
                    self.admission.waited(longest, self.now);
                }
                if let Some((class, since)) = self.queue.pop() {
                    self.serve(class, since);
                }
            }
        }
    }

    fn serve(&mut self, class: Class, since: u64) {
        self.free -= 1;
        self.seen.waits_ms.push(self.now - since);
        let ends = self.now + self.exponential(SERVICE_MS).round() as u64;
        self.plan(ends, Event::Ends(class));
    }
}

#[test]
fn at_twice_and_three_times_its_capacity_a_server_sells_what_it_can() {
    for seed in 0..4 {
        for times in [1.5, 2.0, 3.0] {
            let mut server = Simulation::new(seed);
            server.offer(times, 5_000);
            let mut seen = server.offer(times, 20_000);
            let of_capacity = seen.paid as f64 / 20.0 / Simulation::capacity();
            assert!(of_capacity > 0.95, "{times} times, seed {seed}: {of_capacity}");
            assert!(seen.p99_ms() < 400, "{times} times, seed {seed}: {} ms", seen.p99_ms());
            let [known, .., look, list] = seen.refused;
            assert!(known * 50 < look && list > 0, "{times} times, seed {seed}: {:?}", seen.refused);
        }
    }
}

#[test]
fn a_calm_server_refuses_nobody_and_a_busy_one_hardly_anybody() {
    for seed in 0..4 {
        let mut server = Simulation::new(seed);
        let mut calm = server.offer(0.5, 30_000);
        assert_eq!(calm.refused, [0; 5], "seed {seed}");
        assert!(calm.p99_ms() < 20, "seed {seed}: {} ms", calm.p99_ms());
        let busy = server.offer(0.8, 30_000);
        let [known, payment, change, ..] = busy.refused;
        assert_eq!([known, payment, change], [0; 3], "seed {seed}");
        let refused = busy.refused.iter().sum::<usize>() as f64 / busy.waits_ms.len() as f64;
        assert!(refused < 0.005, "seed {seed}: {refused}");
    }
}

#[test]
fn a_step_to_three_times_and_back_settles_within_two_seconds() {
    for seed in 0..4 {
        let mut server = Simulation::new(seed);
        server.offer(0.5, 5_000);
        let mut first = server.offer(3.0, 2_000);
        assert!(first.p99_ms() < 600, "seed {seed}: {} ms", first.p99_ms());
        let mut settled = server.offer(3.0, 10_000);
        assert!(settled.p99_ms() < 400, "seed {seed}: {} ms", settled.p99_ms());
        // The refused of the overload come back for some ten seconds; without them two seconds are enough.
        server.events.retain(|Reverse((_, _, event))| matches!(event, Event::Comes(_, 0) | Event::Ends(_)));
        server.offer(0.5, 2_000);
        let mut calm = server.offer(0.5, 10_000);
        assert_eq!(calm.refused, [0; 5], "seed {seed}");
        assert!(calm.p99_ms() < 50, "seed {seed}: {} ms", calm.p99_ms());
    }
}
