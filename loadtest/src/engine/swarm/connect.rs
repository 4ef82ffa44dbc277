//! Connections of sessions: a few are opened at once, and lost ones are opened again.

use std::io;

use mio::net::TcpStream;
use mio::{Interest, Token};

use super::super::session::{ClientSession, Stage};
use super::{MAX_TRIES, RETRY_STEP, Swarm};

/// Reason why a connection ended, and whether another attempt makes sense.
pub(super) struct LostConnection {
    pub kind: String,
    pub again: bool,
}

impl LostConnection {
    pub fn again(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), again: true }
    }

    pub fn for_good(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), again: false }
    }

    pub fn broken(e: &io::Error) -> Self {
        Self::again(format!("connection lost: {}", e.kind()))
    }
}

impl Swarm {
    pub(super) fn connect_some(&mut self) {
        while self.connecting < self.plan.in_flight {
            let Some(i) = self.queue.pop_front() else { return };
            if self.sessions[i].stage != Stage::Queued {
                continue;
            }
            let now = self.clock.now();
            let opened = TcpStream::connect(self.plan.address).and_then(|mut stream| {
                stream.set_nodelay(true)?;
                self.poll.registry().register(&mut stream, Token(i), Interest::READABLE | Interest::WRITABLE)?;
                Ok(stream)
            });
            let session = &mut self.sessions[i];
            (session.since, session.received_at) = (now, now);
            match opened {
                Ok(stream) => {
                    session.stream = Some(stream);
                    session.stage = Stage::Connecting;
                    self.connecting += 1;
                }
                Err(e) => self.lose(i, &LostConnection::again(format!("cannot connect: {e}"))),
            }
        }
    }

    pub(super) fn stage(&mut self, i: usize, stage: Stage) {
        let before = std::mem::replace(&mut self.sessions[i].stage, stage);
        self.connecting -= usize::from(before.is_connecting() && !stage.is_connecting());
        self.live = self.live + usize::from(stage == Stage::Live) - usize::from(before == Stage::Live);
        self.given_up = self.given_up + usize::from(stage == Stage::GivenUp) - usize::from(before == Stage::GivenUp);
    }

    pub(super) fn lose(&mut self, i: usize, why: &LostConnection) {
        let now = self.clock.now();
        self.second.errors.add(&why.kind, 1);
        self.second.counters.lost += u64::from(self.sessions[i].stage == Stage::Live);
        let session = &mut self.sessions[i];
        session.hang_up();
        session.tries = session.tries.saturating_add(1);
        let stage = if why.again && session.tries <= MAX_TRIES {
            session.since = now + RETRY_STEP * i64::from(session.tries);
            Stage::Pausing
        } else {
            self.second.counters.given_up += 1;
            Stage::GivenUp
        };
        self.stage(i, stage);
        self.watched.lost(i);
    }

    /// Processes a socket event of a session. `ended`: the server has closed the connection, and its last messages may still be unread.
    pub(super) fn ready(&mut self, i: usize, readable: bool, ended: bool, writable: bool) {
        let Some(session) = self.sessions.get_mut(i).filter(|s| s.stream.is_some()) else { return };
        let mut done = Ok(());
        if writable {
            done = if session.stage == Stage::Connecting { self.connected(i) } else { flushed(session) };
        }
        if readable && done.is_ok() && self.sessions[i].stage != Stage::Connecting {
            let mut buffer = std::mem::take(&mut self.buffer);
            done = self.read(i, &mut buffer, ended);
            self.buffer = buffer;
        }
        if let Err(why) = done {
            self.lose(i, &why);
        }
    }

    pub(super) fn connected(&mut self, i: usize) -> Result<(), LostConnection> {
        let session = &mut self.sessions[i];
        let Some(stream) = &session.stream else { return Ok(()) };
        match stream.take_error() {
            Ok(None) => {}
            Ok(Some(e)) | Err(e) => return Err(LostConnection::again(format!("cannot connect: {}", e.kind()))),
        }
        if stream.peer_addr().is_err() {
            return Ok(()); // not yet
        }
        session.stage = Stage::Upgrading;
        session.send(self.request.as_bytes()).map_err(|e| LostConnection::broken(&e))
    }
}

fn flushed(session: &mut ClientSession) -> Result<(), LostConnection> {
    session.flush().map_err(|e| LostConnection::broken(&e))
}
