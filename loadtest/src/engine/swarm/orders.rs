//! What the scenario asks for, and what is looked after once a second.

use super::super::clock::Us;
use super::super::phase::Phase;
use super::super::session::{self, Stage};
use super::super::watch::{Books, Counting, Watch};
use super::super::{Command, Report, Topic};
use super::connect::Lost;
use super::{JOIN_WITHIN, PROBES, SECOND, Swarm};

impl Swarm {
    pub(super) fn obey(&mut self, command: Command) {
        match command {
            Command::OpenWindow { ms } => {
                self.counting = Counting::Window { ms };
                self.phases.iter_mut().for_each(Phase::settle);
                let now = self.server_ms();
                for watch in self.watches.iter_mut().filter(|w| w.idmesin != 0) {
                    watch.open_window(now, ms, &self.phases[watch.group as usize]);
                }
            }
            Command::CloseWindow => {
                let now = self.server_ms();
                self.for_watches(|watch, phase, books| watch.close_window(now, phase, books));
                self.counting = Counting::Not;
            }
            Command::CountRuns => self.counting = Counting::Runs,
            Command::Storm => self.storm(),
            Command::Subscribe { session, topic } => self.subscribe_one(session, topic),
            Command::Unsubscribe { session, idmesin } => self.unsubscribe_one(session, idmesin),
            Command::Stop => {}
        }
    }

    /// Epoch milliseconds of the server; 0 while nothing was heard of it.
    fn server_ms(&self) -> i64 {
        self.clock.server_us(self.clock.now()).unwrap_or(0) / 1000
    }

    fn for_watches(&mut self, mut act: impl FnMut(&mut Watch, &Phase, &mut Books<'_>)) {
        let mut books = Books {
            counters: &mut self.second.counters,
            spans: &mut self.second.spans,
            clock: &self.clock,
            counting: self.counting,
        };
        for watch in self.watches.iter_mut().filter(|w| w.idmesin != 0) {
            act(watch, &self.phases[watch.group as usize], &mut books);
        }
    }

    fn storm(&mut self) {
        self.gathering = Some(self.clock.now());
        for i in 0..self.sessions.len() {
            if self.sessions[i].stage == Stage::GivenUp {
                continue;
            }
            self.sessions[i].hang_up();
            self.stage(i, Stage::Queued);
            self.unsubscribe_all(i);
        }
        self.queue = (0..self.sessions.len()).collect();
    }

    fn subscribe_one(&mut self, i: usize, topic: Topic) {
        let width = self.plan.topics_per_session;
        let free = self.watches[i * width..(i + 1) * width].iter().position(|w| w.idmesin == 0);
        let Some(slot) = free.filter(|_| self.sessions[i].stage == Stage::Live) else {
            return self.tell(Report::Subscribed { session: i, idmesin: topic.idmesin, status: 0, runs: false });
        };
        let place = i * width + slot;
        self.watches[place] = Watch::new(topic.idmesin, topic.group);
        self.told[place] = true;
        self.ask_again(i, slot);
    }

    fn unsubscribe_one(&mut self, i: usize, idmesin: i64) {
        let width = self.plan.topics_per_session;
        let Some(slot) = self.watches[i * width..(i + 1) * width].iter().position(|w| w.idmesin == idmesin) else { return };
        self.watches[i * width + slot] = Watch::new(0, 0);
        self.told[i * width + slot] = false;
        let mut out = Vec::new();
        // An id that no subscription has.
        session::unsubscribe(&mut out, width, idmesin);
        self.sessions[i].leaving = idmesin;
        self.send(i, &out);
    }

    /// Subscribes, again perhaps: a second time is answered like the first.
    fn ask_again(&mut self, i: usize, slot: usize) {
        let mut out = Vec::new();
        session::subscribe(&mut out, slot, self.watches[i * self.plan.topics_per_session + slot].idmesin);
        self.sessions[i].asked = self.clock.now();
        self.send(i, &out);
    }

    fn send(&mut self, i: usize, bytes: &[u8]) {
        if let Err(e) = self.sessions[i].send(bytes) {
            self.lose(i, &Lost::broken(&e));
        }
    }

    /// Once a second: who waits too long, who may try again, which final ticks are overdue.
    pub(super) fn sweep(&mut self, now: Us) {
        self.clock.age(1);
        for i in 0..self.sessions.len() {
            let session = &mut self.sessions[i];
            match session.stage {
                Stage::Resting if session.since <= now => {
                    self.stage(i, Stage::Queued);
                    self.queue.push_back(i);
                }
                Stage::Live if now - session.heard > self.silent_after => {
                    self.lose(i, &Lost::again("the server's pings stay away"));
                }
                stage if stage.is_on_its_way() && now - session.since > JOIN_WITHIN => {
                    self.lose(i, &Lost::again(format!("not joined within {} s ({stage:?})", JOIN_WITHIN / SECOND)));
                }
                _ => {}
            }
        }
        let server = self.server_ms();
        self.for_watches(|watch, phase, books| watch.check(server, phase, books));
        if !self.plan.bare {
            self.compare_clocks();
        }
    }

    fn compare_clocks(&mut self) {
        let width = self.plan.topics_per_session;
        for _ in 0..PROBES.min(self.sessions.len()) {
            self.probe = (self.probe + 1) % self.sessions.len();
            let i = self.probe;
            let known = self.watches[i * width..(i + 1) * width].iter().position(|w| w.subscribed && w.idmesin != 0);
            if let Some(slot) = known.filter(|slot| self.sessions[i].stage == Stage::Live && !self.told[i * width + slot]) {
                self.ask_again(i, slot);
            }
        }
    }
}
