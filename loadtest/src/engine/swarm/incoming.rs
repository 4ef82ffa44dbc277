//! What comes in: bytes, frames, ticks and other messages.

use std::io::{self, Read};

use super::super::Report;
use super::super::clock::Us;
use super::super::frame::{self, Opcode};
use super::super::heartbeat;
use super::super::session::{self, Message, Stage};
use super::super::watch::{Books, Heard};
use super::connect::Lost;
use super::{SILENCE_MARGIN, Swarm};

impl Swarm {
    pub(super) fn read(&mut self, i: usize, buffer: &mut [u8]) -> Result<(), Lost> {
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
            let drained = n < rest.len();
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
        self.second.counters.frames += 1;
        let Some(tick) = heartbeat::parse(payload) else {
            return self.second.errors.add("unreadable tick", 1);
        };
        let width = self.plan.topics_per_session;
        let session = &mut self.sessions[i];
        let mine = &mut self.watches[i * width..(i + 1) * width];
        // Ticks of a room come in one order, so the next is probably the next one's.
        let next = usize::from(session.next);
        let slot = match mine.get(next).filter(|w| w.idmesin == tick.idmesin) {
            Some(_) => Some(next),
            None => mine.iter().position(|w| w.idmesin == tick.idmesin),
        };
        let Some(slot) = slot else {
            if session.leaving != tick.idmesin {
                self.second.errors.add("tick of a machine that was not asked for", 1);
            }
            return;
        };
        session.next = u16::try_from(if slot + 1 < width { slot + 1 } else { 0 }).unwrap_or(0);
        let watch = &mut mine[slot];
        let is_first = self.plan.bare && !watch.subscribed;
        self.clock.heard(at, tick.server_time);
        let mut books = Books {
            counters: &mut self.second.counters,
            spans: &mut self.second.spans,
            clock: &self.clock,
            counting: self.counting,
        };
        let what = watch.heard(&tick, at, &mut self.phases[watch.group as usize], &mut books);
        if is_first {
            watch.subscribed = true;
            self.answered(i);
        }
        if what != Heard::Tick && self.told[i * width + slot] {
            self.tell(Report::Heard { session: i, idmesin: tick.idmesin, what });
        }
    }

    fn message(&mut self, i: usize, message: Message, at: Us) -> Result<(), Lost> {
        let mut out = Vec::new();
        match message {
            Message::Open { ping_interval_ms, ping_timeout_ms } => {
                self.silent_after = (ping_interval_ms + ping_timeout_ms) * 1000 + SILENCE_MARGIN;
                session::join(&mut out, &self.plan.tokens[i]);
            }
            Message::Joined if self.sessions[i].stage == Stage::Joining => {
                self.second.spans.connect.record(at - self.sessions[i].since);
                self.subscribe_all(i, &mut out);
            }
            Message::Ping => frame::text(&mut out, "3"),
            Message::Refused(why) => return Err(Lost::for_good(format!("join refused: {why}"))),
            Message::Answer { id, told } => self.subscribed(i, id, told, at),
            Message::Bye => return Err(Lost::again("ended by the server")),
            Message::Joined | Message::Noop => {}
            Message::Unreadable => self.second.errors.add("unreadable message", 1),
        }
        if out.is_empty() { Ok(()) } else { self.sessions[i].send(&out).map_err(|e| Lost::broken(&e)) }
    }

    fn subscribe_all(&mut self, i: usize, out: &mut Vec<u8>) {
        let width = self.plan.topics_per_session;
        let mut asked = 0;
        for (slot, watch) in self.watches[i * width..(i + 1) * width].iter().enumerate().filter(|(_, w)| w.idmesin != 0) {
            session::subscribe(out, slot, watch.idmesin);
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
        if slot == self.plan.topics_per_session {
            self.sessions[i].leaving = 0;
            return;
        }
        let place = i * self.plan.topics_per_session + slot;
        if slot > self.plan.topics_per_session || self.watches[place].idmesin == 0 {
            return self.second.errors.add("answer to nothing that was asked", 1);
        }
        let idmesin = self.watches[place].idmesin;
        if self.told[place] {
            self.tell(Report::Subscribed { session: i, idmesin, status: told.status, runs: told.ends_at.is_some() });
        }
        if told.status != 200 {
            self.second.errors.add(&format!("subscribe refused: {}", told.status), 1);
        }
        let asked = self.sessions[i].asked;
        if let Some(server_time) = told.server_time {
            self.clock.answered(asked, at, server_time);
        }
        self.second.spans.subscribe.record(at - asked);
        let watch = &mut self.watches[place];
        let is_first = !watch.subscribed;
        let mut books = Books {
            counters: &mut self.second.counters,
            spans: &mut self.second.spans,
            clock: &self.clock,
            counting: self.counting,
        };
        watch.acknowledged(&told, &self.phases[watch.group as usize], &mut books);
        if is_first {
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
