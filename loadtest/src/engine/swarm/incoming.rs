//! What comes in: bytes, frames, ticks and other messages.

use std::io::{self, Read};

use super::super::Told;
use super::super::clock::Us;
use super::super::frame::{self, Opcode};
use super::super::heartbeat;
use super::super::session::{self, ServerMessage, Stage};
use super::super::subscriptions::Ticked;
use super::super::watch::TickKind;
use super::connect::Lost;
use super::{SILENCE_MARGIN, Swarm};

impl Swarm {
    /// Reads what has come. When the session has ended, to its end: the system tells of that only once.
    pub(super) fn read(&mut self, i: usize, buffer: &mut [u8], ended: bool) -> Result<(), Lost> {
        loop {
            let session = &mut self.sessions[i];
            let Some(stream) = &mut session.stream else { return Ok(()) };
            let kept = session.tail.len();
            let Some((before, rest)) = buffer.split_at_mut_checked(kept).filter(|(_, rest)| !rest.is_empty()) else {
                return Err(Lost::again("frame of more than 256 KiB"));
            };
            let n = match stream.read(rest) {
                Ok(0) => return Err(Lost::again("closed by the server")),
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(Lost::broken(&e)),
            };
            let at = self.clock.now();
            let drained = n < rest.len() && !ended;
            before.copy_from_slice(&session.tail);
            session.tail.clear();
            session.heard = at;
            self.take(i, &buffer[..kept + n], at)?;
            if drained {
                return Ok(());
            }
        }
    }

    /// Everything whole in `bytes`; the rest is kept for the next time.
    fn take(&mut self, i: usize, mut bytes: &[u8], at: Us) -> Result<(), Lost> {
        if self.sessions[i].stage == Stage::Upgrading {
            match session::upgrade_answer(bytes).map_err(Lost::for_good)? {
                None => {
                    self.sessions[i].tail.extend_from_slice(bytes);
                    return Ok(());
                }
                Some((used, 101)) => {
                    bytes = &bytes[used..];
                    self.stage(i, Stage::Joining);
                }
                Some((_, status)) => return Err(Lost::again(format!("websocket refused: HTTP {status}"))),
            }
        }
        while let Some(frame) = frame::next(bytes).map_err(|broken| Lost::again(broken.0))? {
            bytes = &bytes[frame.bytes..];
            match frame.opcode {
                Opcode::Text if heartbeat::is(frame.payload) => self.tick(i, frame.payload, at),
                Opcode::Text => self.message(i, session::message(frame.payload), at)?,
                Opcode::Ping => {
                    let mut out = Vec::new();
                    frame::pong(&mut out, frame.payload);
                    self.sessions[i].send(&out).map_err(|e| Lost::broken(&e))?;
                }
                Opcode::Close => return Err(Lost::again("closed by the server")),
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
            Ticked::Of { idmesin, what, is_answer, is_told } => {
                if is_answer {
                    self.answered(i);
                }
                if is_told && what != TickKind::Tick {
                    self.tell(Told::Heard { session: i, idmesin, what });
                }
            }
        }
    }

    fn message(&mut self, i: usize, message: ServerMessage, at: Us) -> Result<(), Lost> {
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
            ServerMessage::Refused(why) => return Err(Lost::for_good(format!("join refused: {why}"))),
            ServerMessage::Answer { id, told } => self.subscribed(i, id, told, at),
            ServerMessage::Bye => return Err(Lost::again("ended by the server")),
            ServerMessage::Joined | ServerMessage::Noop => {}
            ServerMessage::Unreadable => self.second.errors.add("unreadable message", 1),
        }
        if out.is_empty() { Ok(()) } else { self.sessions[i].send(&out).map_err(|e| Lost::broken(&e)) }
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

    /// The answer to a subscribe, to one that was repeated to compare the clocks, or to an unsubscribe.
    fn subscribed(&mut self, i: usize, slot: usize, told: heartbeat::Snapshot, at: Us) {
        if slot == self.watched.width() {
            self.sessions[i].leaving = 0;
            return;
        }
        let times = (self.sessions[i].asked, at);
        let Some(answer) = self.watched.answer(i, slot, &told, times, &mut self.clock, &mut self.second) else {
            return self.second.errors.add("answer to nothing that was asked", 1);
        };
        if answer.is_told {
            let runs = told.ends_at.is_some();
            self.tell(Told::Subscribed { session: i, idmesin: answer.idmesin, status: told.status, runs });
        }
        if answer.is_first {
            self.answered(i);
        }
    }

    /// One of the answers that a session waits for is here.
    fn answered(&mut self, i: usize) {
        let session = &mut self.sessions[i];
        session.waiting = session.waiting.saturating_sub(1);
        if session.waiting == 0 && session.stage == Stage::Subscribing {
            session.tries = 0;
            self.stage(i, Stage::Live);
        }
    }
}
