//! Invariants of several servers.

use nyala_cluster::OwnedShard;
use nyala_cluster::fence::Fence;
use nyala_core::domain::id::{OutletId, PurchaseId};
use nyala_core::domain::shard::{SHARDS, Shard};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::Outcome;
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Change;
use nyala_core::purchase::times::LOOK_EVERY_MS;

use super::super::devices::Devices;
use super::super::world::{MACHINES, World};
use super::SKEW_MS;

/// Events that each run of the histories must have met at least once.
pub const WORTH: [&str; 41] = [
    "paused",
    "paused for about its life",
    "paused for longer than its life",
    "killed",
    "asked to leave",
    "has left",
    "database frozen",
    "messages of the table lost",
    "message without a link",
    "messages through the table",
    "sent for another server",
    "shards gained",
    "shard handed over",
    "slow commit",
    "claim passed over a commit",
    "hand-over waited for a commit",
    "fence waited for a move",
    "heartbeat took too long",
    "taken over",
    "taken over in time",
    "fence did not stand",
    "fence did not match for a message",
    "no notifications",
    "notifications cut",
    "notification lost",
    "notification missed",
    "notification buffered",
    "notification after its purchase was over",
    "notification began a start",
    "notification sent a start",
    "finished by another server",
    "decided at its owner, answered by another server",
    "last tick received",
    "started",
    "stopped",
    "refused",
    "given up",
    "machine runs by coins",
    "end seen by its sensor",
    "end moved by its sensor",
    "never ran",
];

/// Extra time that reading takes.
const STATEMENTS_MS: i64 = 150;
const CALM_MS: i64 = 500;

impl<D: Devices> World<D> {
    /// Since when no server has had a fault.
    pub fn mended_at(&self) -> Timestamp {
        self.several.as_ref().map_or(self.server.up_since, |several| several.mended_at)
    }

    /// Maximum difference between the clocks of two servers.
    pub fn clock_error_ms(&self) -> i64 {
        if self.several.is_some() { 2 * SKEW_MS } else { 0 }
    }

    /// A change was committed.
    pub fn has_committed(&mut self, machine: usize, purchase: PurchaseId, change: Change, fence: Option<Fence>) {
        let now = self.now;
        let Some(several) = &mut self.several else { return };
        let stands = fence.is_none_or(|fence| several.shards.stands(&fence));
        assert!(stands, "committed under an old fence: {change:?} of purchase {purchase}");
        let p = self.store.purchase(purchase);
        if let Some(ends_at) = p.ends_at {
            several.ends.insert((machine, ends_at), (purchase.get(), p.moved));
            let is_early = change == Change::Finish && ends_at > now.plus_ms(SKEW_MS);
            assert!(!is_early, "finished {} ms before its end", now.ms_until(ends_at));
        }
        if !p.state.undecided() {
            several.decided.entry(purchase).or_insert(now);
        }
        if change == Change::Finish && !self.server.owns(machine) {
            self.note("finished by another server");
        }
    }

    /// A finished purchase runs again.
    pub fn has_come_back(&mut self, machine: usize) {
        let running = self.store.open().find(|(_, p)| p.order.machine == machine);
        if let (Some(several), Some((id, p))) = (&mut self.several, running)
            && let Some(ends_at) = p.ends_at
        {
            several.ends.insert((machine, ends_at), (id.get(), p.moved));
        }
    }

    /// A device's message was recorded.
    pub fn has_recorded(&mut self, machine: usize, fence: Option<Fence>) {
        let stands = self.several.as_ref().zip(fence).is_none_or(|(several, fence)| several.shards.stands(&fence));
        assert!(stands, "a former owner's message is on record: machine {machine}");
    }

    /// A request that waits at a server which does not own the machine gets its answer soon after the owner's decision.
    pub fn check_answered_soon(&mut self, request: usize, outcome: Outcome) {
        let (order, since) = (self.requests[request].order, self.requests[request].since);
        let answered = matches!(outcome, Outcome::Started | Outcome::NotStarted | Outcome::ReadAgain);
        if self.several.is_none() || self.server.owns(order.machine) || !answered {
            return;
        }
        let purchase = self.store.by_receipt(order.customer, order.receipt);
        let Some(decided) = purchase.and_then(|id| self.several.as_ref()?.decided.get(&id)).copied() else { return };
        let known_ms = decided.max(since).ms_until(self.now);
        if self.is_calm_since(decided.max(since).plus_ms(-CALM_MS)) {
            self.note("decided at its owner, answered by another server");
            assert!(known_ms <= LOOK_EVERY_MS + STATEMENTS_MS, "answered {known_ms} ms after it was decided");
        }
    }

    /// Checks the shards of a killed server: each has an owner that knows it, or had one and is being transferred.
    pub(super) fn check_taken_over(&mut self, trouble: u32, shards: &[OwnedShard]) {
        let several = self.several.as_ref().unwrap();
        if several.troubles != trouble || !self.troubled {
            return;
        }
        for OwnedShard { shard, epoch } in shards {
            let is_claimed = several.shards.epoch(*shard) > *epoch;
            assert!(is_claimed || self.is_owned(*shard), "shard {shard} is nobody's, two seconds after its server was killed");
        }
        self.note("taken over in time");
    }

    /// Whether a server that is up owns the shard, and knows it.
    fn is_owned(&self, shard: Shard) -> bool {
        let Some(fence) = self.several.as_ref().unwrap().shards.fence(shard) else { return false };
        let members = (0..self.servers()).filter_map(|server| self.of(server).member.as_ref());
        let mut owners = members.filter(|member| member.node == fence.node);
        owners.any(|member| member.ownership.of(OutletId::new(shard.get().into())) == nyala_cluster::Owner::Here(fence))
    }

    /// Whether every shard has an owner that knows it, and no server has more than its share.
    pub(super) fn all_is_shared(&self) -> bool {
        let share = SHARDS.unsigned_abs().div_ceil(u32::try_from(self.servers()).unwrap()) as usize;
        let owned = |server: usize| {
            self.of(server).member.as_ref().and_then(|member| member.ownership.shards()).map_or(0, |own| own.len())
        };
        Shard::all().all(|shard| self.is_owned(shard)) && (0..self.servers()).all(|server| owned(server) <= share)
    }

    /// Checks after all servers have come to rest.
    pub fn check_several(&mut self) {
        let Some(several) = &self.several else { return };
        assert!((0..self.servers()).all(|server| self.of(server).up), "all servers are up in the end");
        assert!(Shard::all().all(|shard| self.is_owned(shard)), "every shard has an owner in the end");
        let waiting: Vec<_> = several.watchers.iter().filter(|watcher| watcher.is_waiting()).collect();
        assert!(waiting.is_empty(), "a run without a last tick: {waiting:?}");
        for machine in 0..MACHINES {
            let runs = self.devices.runs(machine);
            for (n, run) in runs.iter().enumerate() {
                let before = runs[..n].iter().any(|before| before.cmd_id == run.cmd_id && !before.forgotten);
                assert!(!before, "one command ran twice: {run:?}");
            }
        }
        let stuck = self.store.purchases.iter().find(|p| matches!(p.state, PurchaseState::Held | PurchaseState::Sent));
        assert!(stuck.is_none(), "undecided: {stuck:?}");
        self.check_edge();
    }
}
