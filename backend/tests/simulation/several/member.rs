//! A member of the cluster: it sends heartbeats, claims free shards, and transfers those beyond its share.

use std::time::Duration;

use nyala_cluster::fence::Fence;
use nyala_cluster::membership::{ClusterView, HEARTBEAT_MS};
use nyala_cluster::metrics::ClusterMetrics;
use nyala_cluster::{OwnedShard, Owner, Ownership, ShardChanges};
use nyala_core::domain::id::NodeId;
use nyala_core::domain::shard::Shard;
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device::forward::SentCommands;

use super::super::devices::Devices;
use super::super::world::{Happening, World};
use super::happens::{ClusterHappens, Look};
use super::notifications::Numbers;
use super::outlet;
use super::shards::DeviceMessageRow;

/// Probability that a periodic statement is slow, or that its answer is lost.
const TROUBLE: f64 = 0.003;
/// From `cluster::node`: the timeout of a heartbeat, the delay after a failed one, and the delay after a fence no longer matched.
const WITHIN_MS: i64 = 3_000;
const AGAIN_MS: i64 = 100;
const INVALIDATED_MS: i64 = 20;
/// By then the machines of a moved shard are read again.
const MOVED_MS: i64 = 1_000;

/// A server's state as a member of the cluster.
#[derive(Debug)]
pub struct Member {
    pub node: NodeId,
    pub ownership: Ownership,
    pub leaving: bool,
    /// Stopped until then (SIGSTOP).
    pub paused_until: Timestamp,
    /// Until then its actions may be later than required.
    pub disturbed_until: Timestamp,
    pub(super) sent: SentCommands,
    /// Number of its next heartbeat, whether one is in flight, and whether its ownership was invalidated in that time.
    heartbeat: u32,
    in_flight: bool,
    /// When that heartbeat began.
    began: Timestamp,
    invalidated: bool,
    pub(super) numbers: Numbers,
    /// Device messages for machines of other servers, and whether some are being sent.
    pub(super) to_forward: Vec<DeviceMessageRow>,
    pub(super) forwarding: bool,
}

impl Member {
    pub fn new(node: NodeId, now: Timestamp) -> Self {
        let (sent, to_forward, numbers) = Default::default();
        let ownership = Ownership::shared(ClusterMetrics::default(), Duration::ZERO);
        let (paused_until, disturbed_until, began) = (now, now, now);
        let (leaving, heartbeat, in_flight, invalidated, forwarding) = Default::default();
        Self {
            node,
            ownership,
            leaving,
            paused_until,
            disturbed_until,
            sent,
            heartbeat,
            in_flight,
            began,
            invalidated,
            numbers,
            to_forward,
            forwarding,
        }
    }

    pub fn owns(&self, machine: usize) -> bool {
        self.ownership.owns(outlet(machine))
    }
}

impl<D: Devices> World<D> {
    pub(super) fn me(&mut self) -> &mut Member {
        self.server.member.as_mut().unwrap()
    }

    /// Starts its tasks.
    pub(super) fn member_begins(&mut self) {
        let incarnation = self.server.incarnation;
        self.among(0, ClusterHappens::Heartbeat { incarnation, number: 0 });
        let (reap_ms, take_ms, speak_ms, mirror_ms) = (self.up_to(300), self.up_to(300), self.up_to(300), self.up_to(1_000));
        self.after(reap_ms, Happening::Reap { incarnation, round: 0 });
        self.among(take_ms, ClusterHappens::Take { incarnation, look: Look::Round });
        self.among(speak_ms, ClusterHappens::Speak { incarnation, look: Look::Round });
        self.among(mirror_ms, ClusterHappens::Mirror { incarnation, look: Look::Round });
    }

    /// The fence of a change, as the actor sets it.
    pub fn fence(&self, machine: usize) -> Option<Fence> {
        match self.server.member.as_ref()?.ownership.of(outlet(machine)) {
            Owner::Alone => None,
            Owner::Here(fence) => Some(fence),
            Owner::Remote => Some(Fence::of_nobody()),
        }
    }

    /// Until then the actions of this server may be later than required.
    pub fn disturb(&mut self, ms: i64) {
        let until = self.now.plus_ms(ms);
        if let Some(member) = &mut self.server.member {
            member.disturbed_until = member.disturbed_until.max(until);
        }
    }

    pub(super) fn lookup_ms(&mut self) -> i64 {
        if self.troubled && self.chance(TROUBLE) { self.up_to(4_000) } else { self.up_to(20) }
    }

    /// Nothing is taken over while a heartbeat has no answer.
    pub(super) fn heartbeat_ms(&mut self) -> i64 {
        let ms = self.lookup_ms();
        if ms > 20 {
            self.troubled_for(ms);
        }
        ms
    }

    pub(super) fn fails(&mut self) -> bool {
        self.troubled && self.chance(TROUBLE)
    }

    pub(super) fn again(&mut self, after_ms: u128, what: ClusterHappens) {
        if self.is_busy() {
            self.among(i64::try_from(after_ms).unwrap(), what);
        }
    }

    pub(super) fn sends_heartbeat(&mut self, number: u32) {
        let (now, incarnation) = (self.now, self.server.incarnation);
        let member = self.me();
        if member.heartbeat != number {
            return;
        }
        (member.in_flight, member.began) = (true, now);
        let node = member.node;
        if self.fails() {
            return self.heartbeat_again(AGAIN_MS);
        }
        self.among(WITHIN_MS, ClusterHappens::HeartbeatFails { incarnation, number });
        let shards = &mut self.several.as_mut().unwrap().shards;
        let seen = shards.heartbeat(node, now);
        let owned = shards.owned(node);
        let after_ms = self.heartbeat_ms();
        match seen.claims(owned.len()) {
            Some(limit) => self.among(after_ms, ClusterHappens::Claim { incarnation, number, seen, limit }),
            None => self.among(after_ms, ClusterHappens::Learn { incarnation, number, seen, owned }),
        }
    }

    /// `OWNED`, after a claim.
    pub(super) fn reads_own(&mut self, number: u32, seen: ClusterView) {
        let (incarnation, node) = (self.server.incarnation, self.me().node);
        let owned = self.several.as_ref().unwrap().shards.owned(node);
        let after_ms = self.heartbeat_ms();
        self.among(after_ms, ClusterHappens::Learn { incarnation, number, seen, owned });
    }

    pub(super) fn learns(&mut self, number: u32, seen: ClusterView, owned: &[OwnedShard]) {
        let incarnation = self.server.incarnation;
        let member = self.me();
        if member.heartbeat != number {
            return;
        }
        let ShardChanges { acquired, lost } = member.ownership.replace(member.node, owned);
        let surplus: Vec<Shard> = owned.iter().rev().take(seen.surplus(owned.len())).map(|owned| owned.shard).collect();
        let is_over = member.leaving && seen.leaving && owned.is_empty();
        // The server first completes the work that it has begun.
        let is_over = is_over && !self.stands_still();
        if acquired + lost + surplus.len() > 0 {
            self.disturb(MOVED_MS);
        }
        if acquired > 0 {
            self.note("shards gained");
            let after_ms = self.lookup_ms();
            let shards = owned.iter().map(|owned| owned.shard).collect();
            self.among(after_ms, ClusterHappens::Resume { incarnation, shards });
        }
        if is_over {
            return self.has_left();
        }
        self.hands_over(number, surplus);
    }

    /// Transfers the shards one by one; then the heartbeat is over.
    pub(super) fn hands_over(&mut self, number: u32, mut shards: Vec<Shard>) {
        let (now, incarnation) = (self.now, self.server.incarnation);
        let member = self.me();
        if member.heartbeat != number {
            return;
        }
        let node = member.node;
        let Some(shard) = (!shards.is_empty()).then(|| shards.remove(0)) else {
            let rest_ms = i64::try_from(HEARTBEAT_MS).unwrap() - member.began.ms_until(now);
            let invalidated = std::mem::take(&mut member.invalidated);
            return self.heartbeat_again(if invalidated { INVALIDATED_MS } else { rest_ms });
        };
        member.ownership.release(shard);
        self.note("shard handed over");
        let after_ms = self.up_to(1);
        self.among(
            after_ms,
            ClusterHappens::Give { node, shard, then: Box::new(ClusterHappens::HandOver { incarnation, number, shards }) },
        );
    }

    /// The server opens a new connection. A statement that waits in the database continues to wait.
    pub(super) fn heartbeat_fails(&mut self, number: u32) {
        let member = self.me();
        if member.in_flight && member.heartbeat == number {
            self.note("heartbeat took too long");
            self.heartbeat_again(AGAIN_MS);
        }
    }

    fn heartbeat_again(&mut self, after_ms: i64) {
        let incarnation = self.server.incarnation;
        let member = self.me();
        member.in_flight = false;
        member.heartbeat += 1;
        let number = member.heartbeat;
        if self.is_busy() {
            self.among(after_ms, ClusterHappens::Heartbeat { incarnation, number });
        }
    }

    /// A fence did not match in a statement of that process.
    pub fn invalidate(&mut self, incarnation: u32) {
        if self.server.incarnation != incarnation {
            return;
        }
        let Some(member) = &mut self.server.member else { return };
        if member.in_flight {
            member.invalidated = true;
        } else {
            self.heartbeat_again(INVALIDATED_MS);
        }
    }
}
