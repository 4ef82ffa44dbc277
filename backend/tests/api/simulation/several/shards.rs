//! The tables of several servers in memory, asked as `cluster::membership`, the fence and the table of devices' words ask them; by the
//! database's clock, which is the world's.

use std::collections::{BTreeMap, BTreeSet};

use nyala::cluster::fence::Fence;
use nyala::cluster::membership::{LIFE_MS, Seen};
use nyala::cluster::{SHARDS, shard_of};
use nyala::domain::timestamp::Timestamp;
use nyala::purchase::device::DeviceEvent;
use rand::Rng;
use rand::rngs::StdRng;

use super::outlet;

#[derive(Debug)]
struct NodeRow {
    /// Which of the servers it is a start of.
    name: usize,
    alive_until: Timestamp,
    late_since: Timestamp,
    leaving: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct ShardRow {
    node: Option<i64>,
    epoch: i64,
}

/// A device's word on its way to who decides.
#[derive(Debug, Clone)]
pub struct WordRow {
    pub machine: usize,
    pub event: DeviceEvent,
    pub heard_at: Timestamp,
    /// When the device said it, for judging how exact the servers could be.
    pub said_at: Timestamp,
}

#[derive(Debug)]
pub struct Shards {
    nodes: BTreeMap<i64, NodeRow>,
    shards: Vec<ShardRow>,
    pub words: Vec<WordRow>,
}

impl Shards {
    pub fn new() -> Self {
        Self { nodes: BTreeMap::new(), shards: vec![ShardRow::default(); SHARDS as usize], words: Vec::new() }
    }

    /// `JOIN`; `None` while one of that name lives.
    pub fn join(&mut self, name: usize, now: Timestamp) -> Option<i64> {
        if self.nodes.values().any(|node| node.name == name && node.alive_until >= now) {
            return None;
        }
        let id = i64::try_from(self.nodes.len()).unwrap() + 1;
        self.nodes.insert(id, NodeRow { name, alive_until: now.plus_ms(LIFE_MS), late_since: now, leaving: false });
        Some(id)
    }

    /// `BEAT`, then `SEEN`.
    pub fn beat(&mut self, me: i64, now: Timestamp) -> Seen {
        let node = self.nodes.get_mut(&me).unwrap();
        if node.alive_until < now {
            node.late_since = now;
        }
        node.alive_until = now.plus_ms(LIFE_MS);
        let (is_quiet, leaving) = (node.late_since < now.plus_ms(-LIFE_MS), node.leaving);
        let nodes = self.nodes.keys().filter(|id| self.may_claim(**id, now)).count();
        let alive = self.alive(now);
        let free = self.shards.iter().filter(|shard| is_free(shard, &alive)).count();
        Seen { nodes: i64::try_from(nodes).unwrap(), free: i64::try_from(free).unwrap(), is_quiet, leaving }
    }

    fn alive(&self, now: Timestamp) -> BTreeSet<i64> {
        self.nodes.iter().filter(|(_, node)| node.alive_until >= now).map(|(id, _)| *id).collect()
    }

    /// `OWNED`.
    pub fn owned(&self, me: i64) -> Vec<(i32, i64)> {
        let of_me = self.shards.iter().enumerate().filter(|(_, shard)| shard.node == Some(me));
        of_me.map(|(idshard, shard)| (i32::try_from(idshard).unwrap(), shard.epoch)).collect()
    }

    /// `CLAIM`.
    pub fn claim(&mut self, me: i64, most: i64, now: Timestamp, rng: &mut StdRng) {
        let node = &self.nodes[&me];
        if node.alive_until <= now || node.late_since >= now.plus_ms(-LIFE_MS) {
            return;
        }
        let alive = self.alive(now);
        let mut free: Vec<&mut ShardRow> = self.shards.iter_mut().filter(|shard| is_free(shard, &alive)).collect();
        for _ in 0..most.min(i64::try_from(free.len()).unwrap()) {
            let shard = free.swap_remove(rng.random_range(0..free.len()));
            (shard.node, shard.epoch) = (Some(me), shard.epoch + 1);
        }
    }

    /// `HAND_OVER`.
    pub fn hand_over(&mut self, me: i64, idshard: i32) {
        let shard = &mut self.shards[idshard as usize];
        shard.node = shard.node.filter(|owner| *owner != me);
    }

    /// `LEAVE`.
    pub fn leave(&mut self, me: i64) {
        self.nodes.get_mut(&me).unwrap().leaving = true;
    }

    /// `GONE`.
    pub fn gone(&mut self, me: i64, now: Timestamp) {
        self.nodes.get_mut(&me).unwrap().alive_until = now;
    }

    /// Whether the fence stands.
    pub fn stands(&self, fence: &Fence) -> bool {
        let row = usize::try_from(fence.shard).ok().and_then(|shard| self.shards.get(shard));
        row.is_some_and(|row| (row.node, row.epoch) == (Some(fence.node), fence.epoch))
    }

    /// Since when a shard is whose.
    pub fn fence(&self, idshard: i32) -> Option<Fence> {
        let ShardRow { node, epoch } = self.shards[idshard as usize];
        node.map(|node| Fence { shard: idshard, node, epoch })
    }

    /// Whether a node could claim at once, if something were free.
    pub fn may_claim(&self, me: i64, now: Timestamp) -> bool {
        let node = &self.nodes[&me];
        node.late_since < now.plus_ms(-LIFE_MS) && node.alive_until >= now && !node.leaving
    }

    /// `TAKE`.
    pub fn take(&mut self, shards: &[i32], since: Timestamp) -> Vec<WordRow> {
        let own = |word: &WordRow| shards.contains(&shard_of(outlet(word.machine)));
        let taken: Vec<WordRow> = self.words.extract_if(.., |word| own(word) || word.heard_at < since).collect();
        taken.into_iter().filter(|word| word.heard_at >= since).collect()
    }
}

fn is_free(shard: &ShardRow, alive: &BTreeSet<i64>) -> bool {
    shard.node.is_none_or(|node| !alive.contains(&node))
}
