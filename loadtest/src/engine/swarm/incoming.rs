//! Received data: bytes, frames, ticks and other messages.

use std::io::{self, Read};

use super::super::EngineReport;
use super::super::clock::Us;
use super::super::frame::{self, Opcode};
use super::super::heartbeat;
use super::super::session::{self, ServerMessage, Stage};
use super::super::subscriptions::Ticked;
use super::super::watch::TickKind;
use super::connect::LostConnection;
use super::{SILENCE_MARGIN, Swarm};

impl Swarm {
    /// Reads what has arrived. A connection that has ended is read to its end: the system reports that only once.
    pub(super) fn read(&mut self, i: usize, buffer: &mut [u8], ended: bool) -> Result<(), LostConnection> {
        loop {
            let session = &mut self.sessions[i];
            let Some(stream) = &mut session.stream else { return Ok(()) };
            let kept = session.tail.len();
            let Some((before, rest)) = buffer.split_at_mut_checked(kept).filter(|(_, rest)| !rest.is_empty()) else {
                return Err(LostConnection::again("frame of more than 256 KiB"));
            };
            let n = match stream.read(rest) {
                Ok(0) => return Err(LostConnection::again("closed by the server")),
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(LostConnection::broken(&e)),
            };
            let at = self.clock.now();
            let drained = n < rest.len() && !ended;
            before.copy_from_slice(&session.tail);
            session.tail.clear();
            session.received_at = at;
            self.take(i, &buffer[..kept + n], at)?;
            if drained {
                return Ok(());
            }
        }
    }

    /// Processes the complete frames in `bytes`, and keeps the rest for the next call.
    fn take(&mut self, i: usize, mut bytes: &[u8], at: Us) -> Result<(), LostConnection> {
        if self.sessions[i].stage == Stage::Upgrading {
            match session::upgrade_answer(bytes).map_err(LostConnection::for_good)? {
                None => {
                    self.sessions[i].tail.extend_from_slice(bytes);
                    return Ok(());
                }
                Some((used, 101)) => {
                    bytes = &bytes[used..];
                    self.stage(i, Stage::Joining);
                }
                Some((_, status)) => return Err(LostConnection::again(format!("websocket refused: HTTP {status}"))),
            }
        }
        while let Some(frame) = frame::next(bytes).map_err(|broken| LostConnection::again(broken.0))? {
            bytes = &bytes[frame.bytes..];
            match frame.opcode {
                Opcode::Text if heartbeat::is(frame.payload) => self.tick(i, frame.payload, at),
                Opcode::Text => self.message(i, session::message(frame.payload), at)?,
                Opcode::Ping => {
                    let mut out = Vec::new();
                    frame::pong(&mut out, frame.payload);
                    self.sessions[i].send(&out).map_err(|e| LostConnection::broken(&e))?;
                }
                Opcode::Close => return Err(LostConnection::again("closed by the server")),
                Opcode::Binary | Opcode::Pong => {}
            }
        }
        if !bytes.is_empty() {
            self.sessions[i].tail.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn tick(&mut self, i: usize, payload: &[u8], at: Us) {
        match self.watched.tick(i, payload, at, &mut self.clock, &mut self.second) {
            Ticked::Unreadable => self.second.errors.add("unreadable tick", 1),
            Ticked::NotAsked { idmesin } if self.sessions[i].leaving == idmesin => {}
            Ticked::NotAsked { .. } => self.second.errors.add("tick of a machine that was not asked for", 1),
            Ticked::Of { idmesin, what, is_answer, is_reported } => {
                if is_answer {
                    self.answered(i);
                }
                if is_reported && what != TickKind::Tick {
                    self.report(EngineReport::Tick { session: i, idmesin, what });
                }
            }
        }
    }

    fn message(&mut self, i: usize, message: ServerMessage, at: Us) -> Result<(), LostConnection> {
        let mut out = Vec::new();
        match message {
            ServerMessage::Open { ping_interval_ms, ping_timeout_ms } => {
                self.silent_after = (ping_interval_ms + ping_timeout_ms) * 1000 + SILENCE_MARGIN;
                session::join(&mut out, &self.plan.tokens[i]);
            }
            ServerMessage::Joined if self.sessions[i].stage == Stage::Joining => {
                self.second.spans.connect.record(at - self.sessions[i].since);
                self.subscribe_all(i, &mut out);
            }
            ServerMessage::Ping => frame::text(&mut out, "3"),
            ServerMessage::Refused(why) => return Err(LostConnection::for_good(format!("join refused: {why}"))),
            ServerMessage::Answer { id, snapshot } => self.subscribed(i, id, snapshot, at),
            ServerMessage::Bye => return Err(LostConnection::again("ended by the server")),
            ServerMessage::Joined | ServerMessage::Noop => {}
            ServerMessage::Unreadable => self.second.errors.add("unreadable message", 1),
        }
        if out.is_empty() { Ok(()) } else { self.sessions[i].send(&out).map_err(|e| LostConnection::broken(&e)) }
    }

    fn subscribe_all(&mut self, i: usize, out: &mut Vec<u8>) {
        let mut asked = 0;
        for (slot, idmesin) in self.watched.of(i) {
            session::subscribe(out, slot, idmesin);
            asked += 1;
        }
        let session = &mut self.sessions[i];
        (session.waiting, session.asked) = (asked, self.clock.now());
        self.stage(i, if asked == 0 { Stage::Live } else { Stage::Subscribing });
        if asked == 0 {
            self.sessions[i].tries = 0;
        }
    }

    /// Processes the answer to a subscribe, to a repeated one that compares the clocks, or to an unsubscribe.
    fn subscribed(&mut self, i: usize, slot: usize, snapshot: heartbeat::Snapshot, at: Us) {
        if slot == self.watched.width() {
            self.sessions[i].leaving = 0;
            return;
        }
        let times = (self.sessions[i].asked, at);
        let Some(answer) = self.watched.answer(i, slot, &snapshot, times, &mut self.clock, &mut self.second) else {
            return self.second.errors.add("answer to nothing that was asked", 1);
        };
        if answer.is_reported {
            let runs = snapshot.ends_at.is_some();
            self.report(EngineReport::Subscribed { session: i, idmesin: answer.idmesin, status: snapshot.status, runs });
        }
        if answer.is_first {
            self.answered(i);
        }
    }

    /// Counts one of the answers for which a session waits.
    fn answered(&mut self, i: usize) {
        let session = &mut self.sessions[i];
        session.waiting = session.waiting.saturating_sub(1);
        if session.waiting == 0 && session.stage == Stage::Subscribing {
            session.tries = 0;
            self.stage(i, Stage::Live);
        }
    }
}
