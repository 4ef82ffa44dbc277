//! Commands of the scenario, and the checks of every second.

use super::super::clock::Us;
use super::super::session::{self, Stage};
use super::super::{EngineCommand, EngineReport, Topic};
use super::connect::LostConnection;
use super::{JOIN_WITHIN, PROBES, SECOND, Swarm};

impl Swarm {
    pub(super) fn carry_out(&mut self, command: EngineCommand) {
        match command {
            EngineCommand::OpenWindow { ms } => self.watched.open_window(self.server_ms(), ms),
            EngineCommand::CloseWindow => self.watched.close_window(self.server_ms(), &self.clock, &mut self.second),
            EngineCommand::CountRuns => self.watched.count_runs(),
            EngineCommand::Storm => self.storm(),
            EngineCommand::Subscribe { session, topic } => self.subscribe_one(session, topic),
            EngineCommand::Unsubscribe { session, idmesin } => self.unsubscribe_one(session, idmesin),
            EngineCommand::Stop => {}
        }
    }

    /// Server's time in epoch milliseconds; 0 before its first message.
    fn server_ms(&self) -> i64 {
        self.clock.server_us(self.clock.now()).unwrap_or(0) / 1000
    }

    fn storm(&mut self) {
        self.gathering = Some(self.clock.now());
        for i in 0..self.sessions.len() {
            if self.sessions[i].stage == Stage::GivenUp {
                continue;
            }
            self.sessions[i].hang_up();
            self.stage(i, Stage::Queued);
            self.watched.lost(i);
        }
        self.queue = (0..self.sessions.len()).collect();
    }

    fn subscribe_one(&mut self, i: usize, topic: Topic) {
        let is_live = self.sessions[i].stage == Stage::Live;
        let slot = if is_live { self.watched.add(i, topic) } else { None };
        match slot {
            Some(slot) => self.ask_again(i, slot, topic.idmesin),
            None => self.report(EngineReport::Subscribed { session: i, idmesin: topic.idmesin, status: 0, runs: false }),
        }
    }

    fn unsubscribe_one(&mut self, i: usize, idmesin: i64) {
        if !self.watched.remove(i, idmesin) {
            return;
        }
        let mut out = Vec::new();
        // The id is one that no subscription has.
        session::unsubscribe(&mut out, self.watched.width(), idmesin);
        self.sessions[i].leaving = idmesin;
        self.send(i, &out);
    }

    /// Sends a subscribe. The server answers a repeated one like the first.
    fn ask_again(&mut self, i: usize, slot: usize, idmesin: i64) {
        let mut out = Vec::new();
        session::subscribe(&mut out, slot, idmesin);
        self.sessions[i].asked = self.clock.now();
        self.send(i, &out);
    }

    fn send(&mut self, i: usize, bytes: &[u8]) {
        if let Err(e) = self.sessions[i].send(bytes) {
            self.lose(i, &LostConnection::broken(&e));
        }
    }

    /// Checks once a second for sessions that wait too long or may reconnect, and for final ticks that are overdue.
    pub(super) fn sweep(&mut self, now: Us) {
        self.clock.age(1);
        for i in 0..self.sessions.len() {
            let session = &mut self.sessions[i];
            match session.stage {
                Stage::Pausing if session.since <= now => {
                    self.stage(i, Stage::Queued);
                    self.queue.push_back(i);
                }
                Stage::Live if now - session.received_at > self.silent_after => {
                    self.lose(i, &LostConnection::again("the server's pings stay away"));
                }
                stage if stage.is_connecting() && now - session.since > JOIN_WITHIN => {
                    self.lose(i, &LostConnection::again(format!("not joined within {} s ({stage:?})", JOIN_WITHIN / SECOND)));
                }
                _ => {}
            }
        }
        let server = self.server_ms();
        self.watched.check(server, &self.clock, &mut self.second);
        if !self.plan.bare {
            self.compare_clocks();
        }
    }

    fn compare_clocks(&mut self) {
        for _ in 0..PROBES.min(self.sessions.len()) {
            self.probe = (self.probe + 1) % self.sessions.len();
            let i = self.probe;
            if self.sessions[i].stage == Stage::Live
                && let Some((slot, idmesin)) = self.watched.to_compare(i)
            {
                self.ask_again(i, slot, idmesin);
            }
        }
    }
}
