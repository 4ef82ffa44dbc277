//! Connections that have not logged in: how many there may be, and who is let in.

use nyala_mqtt::Refusal;
use nyala_mqtt::server::Connect;
use tokio::time::{Duration, Instant};

use super::line::{Line, Seat, Stage};
use super::login::{self, Knock};
use super::shared::{LineKey, Order, Place, Verdict};
use super::thread::Thread;
use crate::domain::timestamp::Timestamp;
use crate::machine::device::mqtt::logins::DeviceKey;
use crate::machine::device::mqtt::metrics::Refused;
use crate::machine::device::mqtt::socket::Socket;

/// How long a connection has to send its CONNECT and to be judged.
const LOGIN_WITHIN_MS: i64 = 5_000;
/// Connections of a thread that have not logged in; when more come, how old one must be to be given up for another.
const FRESH: usize = 256;
const FRESH_FOR_MS: i64 = 1_000;
/// Accepted connections that wait for one of these places.
const WAITING: usize = 4_096;
/// Logins are gathered for so long.
const GATHER: Duration = Duration::from_millis(10);

impl Thread {
    pub(super) fn accepted(&mut self, stream: std::net::TcpStream) {
        match self.shared.place().filter(|_| self.waiting.len() < WAITING) {
            Some(place) => self.waiting.push_back((stream, place)),
            None => self.shared.reports.metrics.refused(Refused::Crowded),
        }
    }

    /// Gives free places to those that wait for one.
    pub(super) fn admit(&mut self) {
        if self.waiting.is_empty() || !self.shared.is_open() {
            return;
        }
        let now = self.now();
        while !self.waiting.is_empty() && (self.unseated < FRESH || self.give_up_oldest(now)) {
            if let Some((stream, place)) = self.waiting.pop_front() {
                self.begin(stream, place, now);
            }
        }
    }

    fn begin(&mut self, stream: std::net::TcpStream, place: Place, now: Timestamp) {
        // One that is gone already, or that the kernel does not take, is nobody's loss: its device comes again.
        let Ok(peer) = stream.peer_addr() else { return };
        let Ok(socket) = Socket::new(stream, self.shared.tls.as_ref()) else { return };
        let line = Line::new(socket, self.shared.next_link(), peer.ip().into(), place, now, LOGIN_WITHIN_MS);
        if let Some(key) = self.insert(line) {
            self.unseated += 1;
            self.forget_seated();
            self.fresh.push_back(key);
        }
    }

    /// So that those who have logged in or are gone do not pile up: none before them is older than it has to log in.
    fn forget_seated(&mut self) {
        while let Some(key) = self.fresh.front().copied()
            && self.line(key).is_none_or(|line| line.seat().is_some())
        {
            self.fresh.pop_front();
        }
    }

    /// Makes room for one that waits: whether the oldest was old enough.
    fn give_up_oldest(&mut self, now: Timestamp) -> bool {
        self.forget_seated();
        let Some(key) = self.fresh.front().copied() else { return false };
        if self.line(key).is_none_or(|line| line.heard_at.ms_until(now) < FRESH_FOR_MS) {
            return false;
        }
        self.fresh.pop_front();
        self.shared.reports.metrics.refused(Refused::Crowded);
        self.remove(key).is_some()
    }

    pub(super) fn knock(&mut self, key: LineKey, connect: &Connect, now: Timestamp) {
        let Some(claim) = login::claim(connect) else { return self.refuse(key, Refusal::Login, Refused::Wrong) };
        let shared = self.shared.clone();
        let Some(line) = self.line(key) else { return };
        if !shared.may_log_in(claim.idmesin, line.from, now) {
            return self.refuse(key, Refusal::NotAuthorized, Refused::Limited);
        }
        line.stage = Stage::Judged(login::login(connect, claim.idmesin));
        if self.knocks.len() >= FRESH {
            self.forget_gone();
        }
        self.knocks.push(Knock { key, claim });
        self.ask_at.get_or_insert_with(|| Instant::now() + GATHER);
    }

    /// When the logins that wait are to be asked for. One statement at a time: while it runs the next ones gather.
    pub fn is_to_ask_at(&self) -> Option<Instant> {
        self.ask_at.filter(|_| !self.asking)
    }

    /// Who has gone needs no answer: as many wait for one as there may be.
    fn forget_gone(&mut self) {
        let mut knocks = std::mem::take(&mut self.knocks);
        knocks.retain(|knock| self.line(knock.key).is_some());
        self.knocks = knocks;
    }

    pub fn ask(&mut self) {
        self.ask_at = None;
        self.forget_gone();
        self.asking = self.to_judge.try_send(std::mem::take(&mut self.knocks)).is_ok();
    }

    pub(super) fn judged(&mut self, verdicts: Vec<(LineKey, Verdict)>) {
        self.asking = false;
        let now = self.now();
        for (key, verdict) in verdicts {
            match verdict {
                Verdict::Yes(found) => self.let_in(key, found),
                Verdict::Unavailable => self.refuse(key, Refusal::Unavailable, Refused::Unavailable),
                Verdict::Wrong => {
                    let shared = self.shared.clone();
                    if let Some(Line { from, stage: Stage::Judged(login), .. }) = self.line(key) {
                        shared.was_wrong(login.idmesin, *from, now);
                    }
                    self.refuse(key, Refusal::Login, Refused::Wrong);
                }
            }
        }
    }

    /// Has the connection's device let in, on the thread where it lives.
    fn let_in(&mut self, key: LineKey, found: DeviceKey) {
        if self.shared.is_revoked(found.id) {
            return self.refuse(key, Refusal::Login, Refused::Wrong);
        }
        let prefix = login::prefix(found.idoutlet, found.idmesin);
        let Some(Stage::Judged(login)) = self.line(key).map(|line| &line.stage) else { return };
        if !login::has_own_will(login, &prefix) {
            return self.refuse(key, Refusal::NotAuthorized, Refused::Foreign);
        }
        let Some(mut line) = self.remove(key) else { return };
        let Stage::Judged(login) = std::mem::replace(&mut line.stage, Stage::Fresh) else { return };
        line.silence_ms = login.silence_ms;
        line.stage = Stage::Seated(Seat {
            idmesin: found.idmesin,
            key: found.id,
            client: login.client,
            prefix: prefix.into(),
            commands: false,
            states: false,
        });
        if self.shared.is_home(found.idoutlet, &self.me) {
            self.arrive(line, found);
        } else if self.shared.order(found.idoutlet, Order::Seat(Box::new(line), found)).is_err() {
            self.shared.reports.metrics.refused(Refused::Crowded);
        }
    }

    /// Answers a login with no; then the connection is closed.
    fn refuse(&mut self, key: LineKey, answer: Refusal, why: Refused) {
        self.shared.reports.metrics.refused(why);
        if let Some(line) = self.line(key) {
            let _ = line.mqtt.refuse(answer, &mut line.out);
            self.send(key);
        }
        self.doom(key, None);
    }
}
