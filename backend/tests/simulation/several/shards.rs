//! The tables of several servers in memory, with the queries of `cluster::membership`, of the fence and of the table of device messages.
//! They use the database's clock, which is the world's.

use std::collections::BTreeMap;

use nyala_cluster::OwnedShard;
use nyala_cluster::fence::Fence;
use nyala_cluster::membership::{ClusterView, TTL_MS};
use nyala_core::domain::id::NodeId;
use nyala_core::domain::shard::{SHARDS, Shard};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::DeviceEvent;
use rand::Rng;
use rand::rngs::StdRng;

use super::outlet;

#[derive(Debug)]
struct NodeRow {
    /// The server whose start this row is.
    name: usize,
    alive_until: Timestamp,
    late_since: Timestamp,
    leaving: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct ShardRow {
    node: Option<NodeId>,
    epoch: i64,
    /// Number of `FOR SHARE` locks: commits behind their fences are pending.
    shared: u32,
    /// An update of the row is not committed yet.
    moving: bool,
}

/// What a statement finds when it wants to lock a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looked {
    Stands,
    /// The statement waits, and then reads the row again.
    Moves,
    Fallen,
}

/// A device's message in transit to the owner.
#[derive(Debug, Clone)]
pub struct DeviceMessageRow {
    pub machine: usize,
    pub event: DeviceEvent,
    pub received_at: Timestamp,
    /// When the device sent it, to check how exact the servers could be.
    pub sent_at: Timestamp,
}

impl DeviceMessageRow {
    pub const fn reports_a_run(&self) -> bool {
        matches!(self.event, DeviceEvent::State { run: Some(_), .. })
    }
}

#[derive(Debug)]
pub struct Shards {
    nodes: BTreeMap<NodeId, NodeRow>,
    shards: Vec<ShardRow>,
    pub messages: Vec<DeviceMessageRow>,
}

impl Shards {
    pub fn new() -> Self {
        Self { nodes: BTreeMap::new(), shards: vec![ShardRow::default(); SHARDS as usize], messages: Vec::new() }
    }

    /// `JOIN`; `None` while a node of that name is alive.
    pub fn join(&mut self, name: usize, now: Timestamp) -> Option<NodeId> {
        if self.nodes.values().any(|node| node.name == name && node.alive_until >= now) {
            return None;
        }
        let id = NodeId::new(i64::try_from(self.nodes.len()).unwrap() + 1);
        self.nodes.insert(id, NodeRow { name, alive_until: now.plus_ms(TTL_MS), late_since: now, leaving: false });
        Some(id)
    }

    /// As the statement `HEARTBEAT` and the query `CLUSTER_VIEW` after it.
    pub fn heartbeat(&mut self, me: NodeId, now: Timestamp) -> ClusterView {
        let node = self.nodes.get_mut(&me).unwrap();
        if node.alive_until < now {
            node.late_since = now;
        }
        node.alive_until = now.plus_ms(TTL_MS);
        let (past_grace_period, leaving) = (node.late_since < now.plus_ms(-TTL_MS), node.leaving);
        let nodes = self.nodes.keys().filter(|id| self.may_claim(**id, now)).count();
        let alive = self.alive(now);
        let free = self.shards.iter().filter(|shard| is_free(shard, &alive)).count();
        ClusterView { nodes: i64::try_from(nodes).unwrap(), free: i64::try_from(free).unwrap(), past_grace_period, leaving }
    }

    fn alive(&self, now: Timestamp) -> Vec<NodeId> {
        self.nodes.iter().filter(|(_, node)| node.alive_until >= now).map(|(id, _)| *id).collect()
    }

    /// As the query `OWNED`.
    pub fn owned(&self, me: NodeId) -> Vec<OwnedShard> {
        let of_me = Shard::all().zip(&self.shards).filter(|(_, shard)| shard.node == Some(me));
        of_me.map(|(shard, row)| OwnedShard { shard, epoch: row.epoch }).collect()
    }

    /// `CLAIM` begins: the nodes that are alive by what is committed then. `None` when this node may claim nothing.
    pub fn may_claim_now(&self, me: NodeId, now: Timestamp) -> Option<Vec<NodeId>> {
        let node = &self.nodes[&me];
        (node.alive_until > now && node.late_since < now.plus_ms(-TTL_MS)).then(|| self.alive(now))
    }

    /// The `FOR UPDATE SKIP LOCKED` of `CLAIM`: it reads the rows as they are now, but with the nodes that were alive when it began.
    /// Returns the locked shards, and whether it skipped others.
    pub fn lock_free(&mut self, limit: i64, alive: &[NodeId], rng: &mut StdRng) -> (Vec<Shard>, bool) {
        let free = self.shards.iter().zip(Shard::all()).filter(|(shard, _)| is_free(shard, alive));
        let (mut free, locked): (Vec<_>, Vec<_>) = free.partition(|(shard, _)| shard.shared == 0 && !shard.moving);
        let passed_over = locked.iter().any(|(shard, _)| shard.shared > 0);
        let limit = limit.min(i64::try_from(free.len()).unwrap());
        let taken: Vec<Shard> = (0..limit).map(|_| free.swap_remove(rng.random_range(0..free.len())).1).collect();
        taken.iter().for_each(|shard| self.shards[shard.index().unwrap()].moving = true);
        (taken, passed_over)
    }

    /// The update of `RELEASE_SHARD` locks its row.
    pub fn lock_own(&mut self, me: NodeId, idshard: Shard) -> Looked {
        let shard = &mut self.shards[idshard.index().unwrap()];
        if shard.node != Some(me) {
            return Looked::Fallen;
        }
        if shard.shared > 0 || shard.moving {
            return Looked::Moves;
        }
        shard.moving = true;
        Looked::Stands
    }

    /// The statement that moves rows is committed.
    pub fn give(&mut self, idshards: &[Shard], to: Option<NodeId>) {
        for idshard in idshards {
            let shard = &mut self.shards[idshard.index().unwrap()];
            (shard.node, shard.moving) = (to, false);
            shard.epoch += i64::from(to.is_some());
        }
    }

    /// `LEAVE`.
    pub fn leave(&mut self, me: NodeId) {
        self.nodes.get_mut(&me).unwrap().leaving = true;
    }

    /// `GONE`.
    pub fn gone(&mut self, me: NodeId, now: Timestamp) {
        self.nodes.get_mut(&me).unwrap().alive_until = now;
    }

    /// Whether the fence matches the committed row.
    pub fn stands(&self, fence: &Fence) -> bool {
        self.look(fence) != Looked::Fallen
    }

    pub fn look(&self, fence: &Fence) -> Looked {
        let row = fence.shard.index().and_then(|shard| self.shards.get(shard));
        match row.filter(|row| (row.node, row.epoch) == (Some(fence.node), fence.epoch)) {
            Some(row) if row.moving => Looked::Moves,
            Some(_) => Looked::Stands,
            None => Looked::Fallen,
        }
    }

    /// The fence locks its row `FOR SHARE`, until the commit releases it.
    pub fn hold(&mut self, fence: &Fence) {
        self.row(fence).shared += 1;
    }

    pub fn let_go(&mut self, fence: &Fence) {
        self.row(fence).shared -= 1;
    }

    fn row(&mut self, fence: &Fence) -> &mut ShardRow {
        &mut self.shards[fence.shard.index().unwrap()]
    }

    /// The owner of a shard, with the epoch of that ownership.
    pub fn fence(&self, idshard: Shard) -> Option<Fence> {
        let ShardRow { node, epoch, .. } = self.shards[idshard.index().unwrap()];
        node.map(|node| Fence { shard: idshard, node, epoch })
    }

    pub fn epoch(&self, idshard: Shard) -> i64 {
        self.shards[idshard.index().unwrap()].epoch
    }

    /// Whether a node could claim at once, if a shard were free.
    pub fn may_claim(&self, me: NodeId, now: Timestamp) -> bool {
        let node = &self.nodes[&me];
        node.late_since < now.plus_ms(-TTL_MS) && node.alive_until >= now && !node.leaving
    }

    /// `TAKE`.
    pub fn take(&mut self, shards: &[Shard], since: Timestamp) -> Vec<DeviceMessageRow> {
        let own = |message: &DeviceMessageRow| shards.contains(&Shard::of(outlet(message.machine)));
        let taken: Vec<DeviceMessageRow> =
            self.messages.extract_if(.., |message| own(message) || message.received_at < since).collect();
        taken.into_iter().filter(|message| message.received_at >= since).collect()
    }
}

fn is_free(shard: &ShardRow, alive: &[NodeId]) -> bool {
    shard.node.is_none_or(|node| !alive.contains(&node))
}
