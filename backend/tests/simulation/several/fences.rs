//! Statements with a fence, and statements that move shards: each holds its row locks until it commits, as in PostgreSQL.

use nyala_cluster::fence::Fence;
use nyala_cluster::membership::ClusterView;
use nyala_core::domain::id::NodeId;
use nyala_core::domain::shard::Shard;

use super::super::devices::Devices;
use super::super::statements::{Begun, LOCKED_MS};
use super::super::world::{MACHINES, World};
use super::shards::Looked;
use super::{ClusterHappens, Without, outlet};

/// How often a commit is slow (its standby is slow, for example), how often one that moves a shard with machines is, and the maximum
/// delay.
const SLOW: f64 = 0.01;
const SLOW_MOVE: f64 = 0.03;
const SLOW_MS: i64 = 4_000;
const COMMIT_MS: i64 = 5;

impl<D: Devices> World<D> {
    fn commit_ms(&mut self, slow: f64) -> i64 {
        if !(self.troubled && self.chance(slow)) {
            return self.up_to(COMMIT_MS);
        }
        let ms = self.up_to(SLOW_MS);
        self.note("slow commit");
        self.disturb(ms);
        self.troubled_for(ms);
        ms
    }

    /// Whether a statement waits because the row of its fence is being transferred.
    pub fn waits_before(&mut self, fence: Option<Fence>) -> bool {
        let (Some(fence), Some(several)) = (fence, &self.several) else { return false };
        let waits = several.without != Without::Fence && several.shards.look(&fence) == Looked::Moves;
        if waits {
            self.note("fence waited for a move");
        }
        waits
    }

    /// Reads the row of the fence `FOR SHARE`.
    pub fn looks_at(&mut self, fence: Option<Fence>) -> Begun {
        let (Some(fence), Some(several)) = (fence, &mut self.several) else { return Begun::AtOnce { stands: true } };
        if several.without == Without::Fence {
            return Begun::AtOnce { stands: true };
        }
        if several.shards.look(&fence) != Looked::Stands {
            self.note("fence did not stand");
            return Begun::AtOnce { stands: false };
        }
        if several.without != Without::Share {
            several.shards.hold(&fence);
        }
        Begun::Held { commit_ms: self.commit_ms(SLOW) }
    }

    /// The statement behind the fence is committed, which releases its row at once.
    pub fn stood(&mut self, fence: Option<Fence>) {
        if let (Some(fence), Some(several)) = (fence, &mut self.several)
            && several.without == Without::Nothing
        {
            several.shards.let_go(&fence);
        }
    }

    /// `CLAIM` begins: it sees which nodes are alive by what is committed now.
    pub(super) fn claims(&mut self, number: u32, seen: ClusterView, limit: i64) {
        let (now, incarnation, node) = (self.now, self.server.incarnation, self.me().node);
        let then = Box::new(ClusterHappens::Own { incarnation, number, seen });
        match self.several.as_ref().unwrap().shards.may_claim_now(node, now) {
            Some(alive) => {
                let after_ms = self.heartbeat_ms();
                self.among(after_ms, ClusterHappens::Lock { node, limit, alive, then });
            }
            None => self.among(0, *then),
        }
    }

    /// Locks free shards. It skips rows with a pending commit behind their fence, and rows that another server is claiming.
    pub(super) fn locks(&mut self, node: NodeId, limit: i64, alive: &[NodeId], then: Box<ClusterHappens>) {
        let shards = &mut self.several.as_mut().unwrap().shards;
        let (idshards, passed_over) = shards.lock_free(limit, alive, &mut self.rng);
        if passed_over {
            self.note("claim passed over a commit");
        }
        self.commits_move(idshards, Some(node), then);
    }

    /// `RELEASE_SHARD` waits until no commit behind the fence is pending.
    pub(super) fn gives(&mut self, node: NodeId, shard: Shard, then: Box<ClusterHappens>) {
        match self.several.as_mut().unwrap().shards.lock_own(node, shard) {
            Looked::Stands => {
                self.commits_move(vec![shard], None, then);
            }
            Looked::Moves => {
                self.note("hand-over waited for a commit");
                self.among(LOCKED_MS, ClusterHappens::Give { node, shard, then });
            }
            Looked::Fallen => self.among(0, *then),
        }
    }

    fn commits_move(&mut self, idshards: Vec<Shard>, to: Option<NodeId>, then: Box<ClusterHappens>) {
        let matters = (0..MACHINES).any(|machine| idshards.contains(&Shard::of(outlet(machine))));
        let after_ms = self.commit_ms(if matters { SLOW_MOVE } else { 0.0 });
        self.among(after_ms, ClusterHappens::Move { idshards, to, then });
    }

    pub(super) fn moves(&mut self, idshards: &[Shard], to: Option<NodeId>, then: ClusterHappens) {
        self.several.as_mut().unwrap().shards.give(idshards, to);
        if let Some(node) = to {
            self.are_taken_over(idshards, node);
        }
        let after_ms = self.up_to(3);
        self.among(after_ms, then);
    }
}
