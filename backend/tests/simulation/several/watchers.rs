//! Watchers of a machine at any server, who connect to another one when theirs is gone.

use std::collections::BTreeSet;

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::CycleChange;

use super::super::devices::Devices;
use super::super::world::World;
use super::ClusterHappens;

/// A last tick comes at most this long after the shown end: a replica waits for 150 ms before it finishes a run itself.
const LAST_TICK_MS: i64 = 450;
/// A server must have been undisturbed for this long before the end.
const CALM_MS: i64 = 500;

#[derive(Debug)]
pub struct Watcher {
    machine: usize,
    /// The start of the server that it is connected to.
    at: Option<u32>,
    /// When it connected, or received the end that it counts down to.
    since: Timestamp,
    /// What it counts down: the purchase, and its end.
    running: Option<(i64, Timestamp)>,
    /// How often the end of that purchase had become later.
    moved: i32,
    /// The purchases whose end it has received.
    over: BTreeSet<i64>,
}

impl Watcher {
    pub fn of(machine: usize) -> Self {
        Self { machine, at: None, since: Timestamp::default(), running: None, moved: 0, over: BTreeSet::new() }
    }

    pub fn is_waiting(&self) -> bool {
        self.running.is_some()
    }
}

impl<D: Devices> World<D> {
    /// A customer opens the page of a machine: the machine status counts, and the changes from then on.
    pub(super) fn starts_watching(&mut self, watcher: usize) {
        let machine = self.several.as_ref().unwrap().watchers[watcher].machine;
        if !self.find_server() || self.several.as_ref().unwrap().frozen_until > self.now {
            return self.nobody_there(ClusterHappens::Watch { watcher });
        }
        if !self.server.owns(machine)
            && !self.server.actors[machine].present
            && let Some(p) = self.store.load(machine)
        {
            self.bring_back(machine, p);
        }
        self.server.actors[machine].present = true;
        let (incarnation, since, shown) = (self.server.incarnation, self.now, self.server.actors[machine].shown);
        let several = self.several.as_mut().unwrap();
        let known = shown.map(|ends_at| (several.ends[&(machine, ends_at)], ends_at));
        let running = known.map(|((purchase, _), ends_at)| (purchase, ends_at));
        let moved = known.map_or(0, |((_, moved), _)| moved);
        several.watchers[watcher] = Watcher { machine, at: Some(incarnation), since, running, moved, over: BTreeSet::new() };
    }

    /// Disconnects the watchers of a server's start; returns their numbers.
    pub(super) fn disconnect_watchers(&mut self, incarnation: u32) -> Vec<usize> {
        let mut left = Vec::new();
        for (n, watcher) in self.several.as_mut().unwrap().watchers.iter_mut().enumerate() {
            if watcher.at == Some(incarnation) {
                (watcher.at, watcher.running) = (None, None);
                left.push(n);
            }
        }
        left
    }

    pub(super) fn is_watched(&self, machine: usize) -> bool {
        let incarnation = Some(self.server.incarnation);
        self.several.as_ref().unwrap().watchers.iter().any(|watcher| watcher.at == incarnation && watcher.machine == machine)
    }

    /// Whether this server has done everything in time since then.
    pub(super) fn is_calm_since(&self, since: Timestamp) -> bool {
        self.server.member.as_ref().is_some_and(|member| member.disturbed_until < since)
    }

    /// A change reaches the watchers of the machine at this server.
    pub fn watchers_receive(&mut self, machine: usize, ends_at: Option<Timestamp>, change: Option<CycleChange>) {
        let (clock, incarnation) = (self.clock(), self.server.incarnation);
        let calm = |ends_at: Timestamp| self.is_calm_since(ends_at.plus_ms(-CALM_MS).min(self.now));
        let prompt_for: Vec<bool> = match &self.several {
            Some(several) => {
                several.watchers.iter().map(|watcher| watcher.running.is_some_and(|(_, ends_at)| calm(ends_at))).collect()
            }
            None => return,
        };
        let several = self.several.as_mut().unwrap();
        let here = several
            .watchers
            .iter_mut()
            .zip(prompt_for)
            .filter(|(watcher, _)| watcher.at == Some(incarnation) && watcher.machine == machine);
        let mut finals = 0;
        for (watcher, prompt) in here {
            match (change, ends_at) {
                (Some(CycleChange::Over { ends_at }), _) => {
                    let known = several.ends.get(&(machine, ends_at)).map(|(purchase, _)| *purchase);
                    let purchase = watcher.running.map(|(purchase, _)| purchase).or(known).expect("an end of what never ran");
                    assert!(watcher.over.insert(purchase), "two last ticks of one run: purchase {purchase}");
                    if let Some((_, shown)) = watcher.running.take() {
                        let (late_ms, watched_ms) = (shown.ms_until(clock), watcher.since.ms_until(shown));
                        assert!(!prompt || watched_ms < CALM_MS || late_ms <= LAST_TICK_MS, "a last tick {late_ms} ms late");
                        finals += 1;
                    }
                }
                (_, Some(ends_at)) => {
                    let (purchase, moved) = several.ends[&(machine, ends_at)];
                    // Only the sensor makes an end later, and the countdown then goes on from there.
                    let is_known =
                        watcher.running.is_some_and(|(before, _)| before == purchase) || watcher.over.contains(&purchase);
                    let is_later = moved > std::mem::replace(&mut watcher.moved, moved) && is_known;
                    let was_over = watcher.over.remove(&purchase);
                    assert!(!was_over || is_later, "a run that was over comes back: purchase {purchase}");
                    if let Some((before, shown)) = watcher.running {
                        assert_eq!(before, purchase, "a run without a last tick");
                        assert!(ends_at <= shown || is_later, "what is left of a run grows");
                    }
                    if watcher.running != Some((purchase, ends_at)) {
                        watcher.since = self.now;
                    }
                    watcher.running = Some((purchase, ends_at));
                }
                (_, None) => assert!(watcher.running.is_none(), "a run without a last tick"),
            }
        }
        (0..finals).for_each(|_| self.note("last tick received"));
    }
}
