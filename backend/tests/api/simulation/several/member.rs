//! A server among others, and its own statements: it beats, looks, mirrors, and brings words and commands on their way.

use nyala::cluster::fence::Fence;
use nyala::cluster::membership::{BEAT_MS, Seen};
use nyala::cluster::metrics::ClusterMetrics;
use nyala::cluster::{Owner, Ownership, shard_of};
use nyala::domain::driver_kind::DriverKind;
use nyala::domain::timestamp::Timestamp;
use nyala::ledger::facts::OpenPurchase;
use nyala::machine::device::relay::{EVERY, Said, WORD_LIFE_MS};
use nyala::machine::recovery::{MIRROR_EVERY, SAFETY_NET_EVERY};
use nyala::machine_core::{Input, Machine};
use nyala::purchase::device::DeviceEvent;
use nyala::purchase::state::PurchaseState;
use nyala::purchase::step::Purchase;

use super::super::devices::Devices;
use super::super::server::idmesin;
use super::super::world::{Happening, MACHINES, World};
use super::shards::WordRow;
use super::{Happens, outlet};

/// How often a statement that is made again and again is slow, or its answer lost.
const TROUBLE: f64 = 0.003;
/// `cluster::node`: after a beat that failed, and when a fence did not stand.
const AGAIN_MS: i64 = 100;
const DOUBT_MS: i64 = 20;
/// Its machines are read again by then.
const MOVED_MS: i64 = 1_000;

/// What a server knows of itself among others.
#[derive(Debug)]
pub struct Member {
    pub node: i64,
    pub ownership: Ownership,
    pub leaving: bool,
    /// Stopped until then (SIGSTOP).
    pub paused_until: Timestamp,
    /// Until then what it does may be later than it ought to be.
    pub disturbed_until: Timestamp,
    said: Said,
    /// Number of its next beat, whether it is under way, and whether somebody doubted meanwhile.
    beat: u32,
    beating: bool,
    doubted: bool,
    /// Words for others' machines, and whether some are on their way.
    away: Vec<WordRow>,
    passing: bool,
}

impl Member {
    pub fn new(node: i64, now: Timestamp) -> Self {
        let (said, away) = Default::default();
        let (ownership, paused_until, disturbed_until) = (Ownership::shared(ClusterMetrics::default()), now, now);
        let (leaving, beat, beating, doubted, passing) = Default::default();
        Self { node, ownership, leaving, paused_until, disturbed_until, said, beat, beating, doubted, away, passing }
    }

    pub fn owns(&self, machine: usize) -> bool {
        self.ownership.owns(outlet(machine))
    }
}

impl<D: Devices> World<D> {
    pub(super) fn me(&mut self) -> &mut Member {
        self.server.member.as_mut().unwrap()
    }

    /// Its tasks begin.
    pub(super) fn member_begins(&mut self) {
        let life = self.server.life;
        self.among(0, Happens::Beat { life, number: 0 });
        let (reap_ms, take_ms, speak_ms, mirror_ms) = (self.up_to(300), self.up_to(300), self.up_to(300), self.up_to(1_000));
        self.after(reap_ms, Happening::Reap { life, round: 0 });
        self.among(take_ms, Happens::Take { life });
        self.among(speak_ms, Happens::Speak { life });
        self.among(mirror_ms, Happens::Mirror { life });
    }

    /// What stands before a change, as the actor puts it there.
    pub fn fence(&self, machine: usize) -> Option<Fence> {
        match self.server.member.as_ref()?.ownership.of(outlet(machine)) {
            Owner::Alone => None,
            Owner::Here(fence) => Some(fence),
            Owner::Elsewhere => Some(Fence::of_nobody()),
        }
    }

    /// Until then what this server does may be later than it ought to be.
    pub fn disturb(&mut self, ms: i64) {
        let until = self.now.plus_ms(ms);
        if let Some(member) = &mut self.server.member {
            member.disturbed_until = member.disturbed_until.max(until);
        }
    }

    fn lookup_ms(&mut self) -> i64 {
        if self.troubled && self.chance(TROUBLE) { self.up_to(4_000) } else { self.up_to(20) }
    }

    /// While a beat has no answer, nothing is taken over.
    fn beat_ms(&mut self) -> i64 {
        let ms = self.lookup_ms();
        if ms > 20 {
            self.troubled_for(ms);
        }
        ms
    }

    fn fails(&mut self) -> bool {
        self.troubled && self.chance(TROUBLE)
    }

    fn again(&mut self, after_ms: u128, what: Happens) {
        if self.is_busy() {
            self.among(i64::try_from(after_ms).unwrap(), what);
        }
    }

    // --- beats ---

    pub(super) fn beats(&mut self, number: u32) {
        let (now, life) = (self.now, self.server.life);
        let member = self.me();
        if member.beat != number {
            return;
        }
        member.beating = true;
        let node = member.node;
        if self.fails() {
            return self.beat_again(AGAIN_MS);
        }
        let shards = &mut self.several.as_mut().unwrap().shards;
        let seen = shards.beat(node, now);
        let owned = shards.owned(node);
        let after_ms = self.beat_ms();
        match seen.claims(owned.len()) {
            Some(most) => self.among(after_ms, Happens::Claim { life, seen, most, began: now }),
            None => self.among(after_ms, Happens::Learn { life, seen, owned, began: now }),
        }
    }

    pub(super) fn claims(&mut self, seen: Seen, most: i64, began: Timestamp) {
        let (now, life, node) = (self.now, self.server.life, self.me().node);
        let shards = &mut self.several.as_mut().unwrap().shards;
        shards.claim(node, most, now, &mut self.rng);
        let owned = shards.owned(node);
        let after_ms = self.beat_ms();
        self.among(after_ms, Happens::Learn { life, seen, owned, began });
    }

    pub(super) fn learns(&mut self, seen: Seen, owned: &[(i32, i64)], began: Timestamp) {
        let (life, rest_ms) = (self.server.life, i64::try_from(BEAT_MS).unwrap() - began.ms_until(self.now));
        let member = self.me();
        let (gained, lost) = member.ownership.learn(member.node, owned);
        let surplus: Vec<i32> = owned.iter().rev().take(seen.surplus(owned.len())).map(|(shard, _)| *shard).collect();
        surplus.iter().for_each(|shard| member.ownership.let_go(*shard));
        let (is_over, doubted) = (member.leaving && seen.leaving && owned.is_empty(), std::mem::take(&mut member.doubted));
        if gained + lost + surplus.len() > 0 {
            self.disturb(MOVED_MS);
        }
        if gained > 0 {
            self.note("shards gained");
            let after_ms = self.lookup_ms();
            let shards = owned.iter().map(|(shard, _)| *shard).collect();
            self.among(after_ms, Happens::Resume { life, shards });
        }
        for shard in surplus {
            self.note("shard handed over");
            let after_ms = self.up_to(5);
            self.among(after_ms, Happens::HandOver { life, shard });
        }
        if is_over {
            return self.has_left();
        }
        self.beat_again(if doubted { DOUBT_MS } else { rest_ms });
    }

    fn beat_again(&mut self, after_ms: i64) {
        let life = self.server.life;
        let member = self.me();
        member.beating = false;
        member.beat += 1;
        let number = member.beat;
        if self.is_busy() {
            self.among(after_ms, Happens::Beat { life, number });
        }
    }

    /// A fence did not stand in a statement of that process.
    pub fn doubt(&mut self, life: u32) {
        if self.server.life != life {
            return;
        }
        let Some(member) = &mut self.server.member else { return };
        if member.beating {
            member.doubted = true;
        } else {
            self.beat_again(DOUBT_MS);
        }
    }

    pub(super) fn hands_over(&mut self, shard: i32) {
        let node = self.me().node;
        self.several.as_mut().unwrap().shards.hand_over(node, shard);
    }

    // --- recovery ---

    pub(super) fn resumes(&mut self, shards: Vec<i32>) {
        let life = self.server.life;
        if self.fails() {
            return self.among(i64::try_from(SAFETY_NET_EVERY.as_millis()).unwrap(), Happens::Resume { life, shards });
        }
        let own = |machine: usize| shards.contains(&shard_of(outlet(machine)));
        let open = (0..MACHINES).filter(|m| own(*m)).filter_map(|m| self.store.load(m).map(|p| (m, p))).collect();
        let after_ms = self.lookup_ms();
        self.among(after_ms, Happens::Resumed { life, open });
    }

    pub(super) fn resumed(&mut self, open: Vec<(usize, Purchase)>) {
        for (machine, p) in open {
            if self.server.actors[machine].present {
                self.tell(machine, Input::LookAgain);
            } else {
                self.note("taken over");
                self.bring_back(machine, p);
            }
        }
    }

    pub(super) fn mirrors(&mut self) {
        let life = self.server.life;
        self.idle_ones_leave();
        let foreign = |m: &usize| self.server.actors[*m].present && !self.server.owns(*m);
        let foreign: Vec<usize> = (0..MACHINES).filter(foreign).collect();
        if !foreign.is_empty() && !self.fails() {
            let stored = foreign.into_iter().map(|machine| (machine, self.store.load(machine))).collect();
            let after_ms = if self.troubled && self.chance(0.02) { self.up_to(4_000) } else { self.up_to(20) };
            self.among(after_ms, Happens::Mirrored { life, stored });
        }
        self.again(MIRROR_EVERY.as_millis(), Happens::Mirror { life });
    }

    pub(super) fn mirrored(&mut self, stored: Vec<(usize, Option<Purchase>)>) {
        for (machine, stored) in stored {
            if self.server.actors[machine].present {
                self.tell(machine, Input::Stored(stored));
            }
        }
    }

    /// Now and then an actor that has nothing to do leaves memory, unless somebody watches.
    fn idle_ones_leave(&mut self) {
        for machine in 0..MACHINES {
            let idle = self.server.actors[machine].present && self.server.actors[machine].machine.is_idle();
            if idle && !self.is_watched(machine) && self.chance(0.1) {
                let actor = &mut self.server.actors[machine];
                (actor.machine, actor.present) = (Machine::new(idmesin(machine)), false);
            }
        }
    }

    // --- words and commands of others' machines ---

    /// The device of a machine says something to the server that it is linked to.
    pub fn linked_server_hears(&mut self, machine: usize, event: DeviceEvent, said_at: Timestamp) {
        match self.several.as_ref().unwrap().links[machine] {
            Some(life) => self.among(0, Happens::Word { life, word: WordRow { machine, event, heard_at: said_at, said_at } }),
            None => self.note("word without a link"),
        }
    }

    pub(super) fn word_is_here(&mut self, word: WordRow) {
        let word = WordRow { heard_at: self.clock(), ..word };
        if let DeviceEvent::State { online, .. } = word.event {
            // Who is there is written by the server that it is linked to, until that is stored.
            self.store.machines[word.machine].online = online;
            if !online {
                return;
            }
        }
        if self.server.owns(word.machine) {
            return self.deliver(word);
        }
        self.me().away.push(word);
        self.pass_on();
    }

    fn pass_on(&mut self) {
        let life = self.server.life;
        let member = self.me();
        if !member.passing && !member.away.is_empty() {
            member.passing = true;
            let words = std::mem::take(&mut member.away);
            let after_ms = self.lookup_ms();
            self.among(after_ms, Happens::PassOn { life, words });
        }
    }

    pub(super) fn passed_on(&mut self, life: u32, words: Vec<WordRow>) {
        if self.carried_out(life) {
            self.note("words through the table");
            self.several.as_mut().unwrap().shards.words.extend(words);
        }
        if self.server.life == life {
            self.me().passing = false;
            self.pass_on();
        }
    }

    pub(super) fn takes(&mut self) {
        let life = self.server.life;
        let (own, since) = (self.me().ownership.shards().unwrap(), self.clock().plus_ms(-WORD_LIFE_MS));
        let words = self.several.as_mut().unwrap().shards.take(&own, since);
        if !words.is_empty() && !self.fails() {
            let after_ms = self.lookup_ms();
            self.among(after_ms, Happens::Taken { life, words });
        }
        self.again(EVERY.as_millis(), Happens::Take { life });
    }

    pub(super) fn taken(&mut self, words: Vec<WordRow>) {
        let now = self.clock();
        for word in words {
            let event = word.event.heard_before(word.heard_at.ms_until(now).max(0));
            self.tell(word.machine, Input::LookAgain);
            self.deliver(WordRow { event, ..word });
        }
    }

    /// `device::deliver`.
    fn deliver(&mut self, word: WordRow) {
        let present = self.server.actors[word.machine].present;
        if present || matches!(word.event, DeviceEvent::State { .. }) {
            self.decider_hears(word.machine, word.event, word.said_at);
        }
    }

    pub(super) fn speaks(&mut self) {
        let (life, now) = (self.server.life, self.clock());
        let foreign: Vec<usize> = (0..MACHINES).filter(|m| !self.server.owns(*m)).collect();
        let unsettled = |p: &Purchase| p.state != PurchaseState::Running || p.exchange.stop_requested;
        let mut open: Vec<(usize, Purchase)> =
            foreign.iter().filter_map(|m| Some((*m, self.store.load(*m).filter(unsettled)?))).collect();
        if self.me().said.asks_for_staff(now) {
            open.extend(foreign.iter().filter_map(|m| Some((*m, self.store.given_back(*m)?))));
        }
        if !self.fails() {
            let after_ms = self.lookup_ms();
            self.among(after_ms, Happens::Spoken { life, open });
        }
        self.again(EVERY.as_millis(), Happens::Speak { life });
    }

    pub(super) fn spoken(&mut self, open: Vec<(usize, Purchase)>) {
        let (life, now) = (self.server.life, self.clock());
        let links = &self.several.as_ref().unwrap().links;
        let linked = |(machine, purchase): (usize, Purchase)| {
            let idoutlet = outlet(machine);
            (links[machine] == Some(life)).then(|| OpenPurchase {
                idmesin: idmesin(machine),
                idoutlet,
                driver: DriverKind::Sim,
                purchase,
            })
        };
        let open: Vec<OpenPurchase> = open.into_iter().filter_map(linked).collect();
        let said = &mut self.me().said;
        said.forget_all_but(&open);
        let commands: Vec<_> = open.iter().filter_map(|t| said.next(t, now)).collect();
        for cmd in commands {
            self.note("said for another server");
            D::command(self, cmd);
        }
    }
}
