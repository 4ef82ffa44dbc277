//! What it says: which words are believed, and what they mean.

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{DeviceEvent, DeviceRun};
use nyala_core::purchase::step::AckResult;

use super::open::{EARLY_MS, Open};
use super::order::Place;
use super::say::nil_query;
use super::way::Way;
use super::{Conversation, EXCHANGE_MS, Effect, Grounds, LinkId, Trouble, Why};
use crate::device::mqtt::word::{Ack, Beat, BootId, Cmd, Stamp, State, Word};

/// A device keeps a clock that it was told by an exchange which took no longer.
const TAKEN_MS: i64 = 2_000;
/// The end of a run is told again when it is so much sooner.
const WORTH_MS: i64 = 100;

impl Conversation {
    /// The device says something on a connection; `from` need not be one that subscribed to `cmd`.
    pub fn hear(&mut self, from: LinkId, word: &Word, now: Timestamp) -> Vec<Effect> {
        match word {
            Word::Ack(ack) => self.hear_ack(from, ack, now),
            Word::Gone(stamp) => self.hear_gone(stamp),
            Word::State(state) => match self.believe(from, &state.stamp, now) {
                true => self.hear_state(state, now),
                false => self.out.push(Effect::Dropped(Why::Stale)),
            },
            Word::Beat(Beat { stamp, .. }) => match self.believe(from, stamp, now) {
                true => self.ask_for_the_time(now),
                false => self.out.push(Effect::Dropped(Why::Stale)),
            },
        }
        self.done()
    }

    /// What became of a command stays true however late it is heard.
    fn hear_ack(&mut self, from: LinkId, ack: &Ack, now: Timestamp) {
        self.spoke(now);
        self.lives(from, now);
        if self.order.is_current(&ack.stamp) {
            self.boot_word_at = Some(now);
            if let Some(up_ms) = ack.stamp.up_ms {
                self.arrived(up_ms, now);
            }
        }
        if let Some(open) = self.open.as_mut().filter(|open| open.is(ack.cmd_id)) {
            open.hear(ack.result);
        }
        // An ack does not say since when. Who asks although a state has told that was not reached by it.
        if ack.result == AckResult::Started && self.run.is_some_and(|(run, _)| run.cmd_id == ack.cmd_id) {
            return self.tell_run(now);
        }
        self.out.push(Effect::Tell(DeviceEvent::Ack { cmd_id: ack.cmd_id, result: ack.result }, Grounds::Ack));
    }

    fn hear_gone(&mut self, stamp: &Stamp) {
        if self.word_at.is_some() && self.order.is_last(stamp) {
            self.present(false);
        } else {
            self.out.push(Effect::Dropped(Why::Will));
        }
    }

    /// Whether a word is to be believed: the newest connection's, and newer than any before.
    fn believe(&mut self, from: LinkId, stamp: &Stamp, now: Timestamp) -> bool {
        if self.links.contains(&from) && self.link() != Some(from) {
            return false;
        }
        match self.order.take(stamp, now) {
            Place::Stale => return false,
            Place::Newest => {}
            Place::Boot { clone } => {
                if clone {
                    self.out.push(Effect::Trouble(Trouble::Clone));
                }
                // Another device in its place says nothing of what this one had left.
                if self.run.is_some() {
                    self.before_boot = self.boot_word_at;
                }
                self.boot = stamp.boot_id.as_ref().map(BootId::key);
                (self.way, self.run, self.clock_at) = (Way::default(), None, None);
            }
        }
        self.boot_word_at = Some(now);
        self.spoke(now);
        self.lives(from, now);
        if let Some(up_ms) = stamp.up_ms {
            self.arrived(up_ms, now);
        }
        true
    }

    /// Something that counts was heard. Who needs the time is waited for until it says a state.
    fn spoke(&mut self, now: Timestamp) {
        self.word_at = Some(now);
        if self.has_clock(now) {
            self.asked_at = None;
        }
    }

    /// A word has told its uptime. When ways were so much longer before, the end of a run is sooner than was told.
    fn arrived(&mut self, up_ms: i64, now: Timestamp) {
        if self.way.has_wrapped(up_ms) {
            self.run = None;
        }
        self.way.heard(up_ms, now);
        if self.ends_at(now).is_some_and(|ends_at| ends_at > now && ends_at.ms_until(self.told_end) > WORTH_MS) {
            self.tell_run(now);
        }
    }

    /// When what it runs ends, by its uptime and the shortest way.
    fn ends_at(&self, now: Timestamp) -> Option<Timestamp> {
        let (run, up_ms) = self.run?;
        let said_at = up_ms.and_then(|up_ms| self.way.said_at(up_ms)).map_or(now, |at| at.min(now));
        Some(said_at.plus_ms(run.left_ms()))
    }

    fn hear_state(&mut self, state: &State, now: Timestamp) {
        let said_at = state.stamp.up_ms.and_then(|up_ms| self.way.said_at(up_ms));
        self.remember_epoch(state.epoch);
        self.decide(state, said_at);
        self.run = state.run.map(|run| (run, state.stamp.up_ms));
        match state.run {
            Some(_) => self.tell_run(now),
            None => self.runs_nothing(said_at, now),
        }
        (self.echo, self.asked_at) = (state.stamp.up_ms, None);
        // Asked by the answer to that other state, it says this one: so it had the answer in time.
        if self.echo.zip(self.answered).is_some_and(|(up_ms, answered)| (0..TAKEN_MS).contains(&(up_ms - answered))) {
            self.clock_at = Some(now);
        }
        let first = self.answered_at.is_none();
        if self.answered_at.is_none_or(|at| at.ms_until(now) >= EXCHANGE_MS) {
            (self.answered_at, self.answered) = (Some(now), self.echo);
            // What the state did not decide, the answer to this does.
            let unsure = self.open.as_ref().filter(|open| open.is_unsure(now)).map(Open::query);
            self.write(unsure.map_or_else(|| nil_query(now), |query| Cmd::new(&query, now, None)), now);
        }
        if first && self.open.as_ref().is_some_and(|open| !open.answered) {
            self.start_if_due(now);
        }
    }

    fn remember_epoch(&mut self, epoch: Option<i64>) {
        if let Some((before, now)) = self.epoch.zip(epoch).filter(|(before, now)| now < before) {
            self.out.push(Effect::Trouble(Trouble::MemoryLost { before, now }));
            if let Some(open) = &mut self.open {
                open.forgotten = true;
            }
        }
        self.epoch = epoch.or(self.epoch);
    }

    /// What a state says of the open purchase beside what runs.
    fn decide(&mut self, state: &State, said_at: Option<Timestamp>) {
        let last = state.last.filter(|last| last.result != AckResult::Started);
        let Some(open) = &mut self.open else {
            // No command has told of a purchase yet; whose it was, if it is open, its actor knows.
            self.out.extend(last.map(|last| {
                let said = DeviceEvent::Ack { cmd_id: last.cmd_id, result: last.result };
                Effect::Tell(said, Grounds::Last)
            }));
            return;
        };
        if let Some(last) = last.filter(|last| open.is(last.cmd_id)) {
            open.hear(last.result);
            self.out.push(Effect::Tell(open.ack(last.result), Grounds::Last));
        } else if state.last.is_some_and(|last| open.is(last.cmd_id)) {
            // That it has started is told by what runs, with the time that is left; when nothing does, it is asked.
            open.ran = true;
        } else if let Some((epoch, said_at)) = state.epoch.zip(said_at)
            // Until a word has come in time nobody knows how long they are on their way: this one perhaps since before the start.
            && self.way.is_known_since(open.cmd.exp)
            && open.never_ran(epoch, said_at)
        {
            open.answered = true;
            self.out.push(Effect::Tell(open.ack(AckResult::Expired), Grounds::Epoch));
        }
    }

    /// Tells what runs, and how long still.
    fn tell_run(&mut self, now: Timestamp) {
        let Some(((run, _), ends_at)) = self.run.zip(self.ends_at(now)) else { return };
        if let Some(open) = self.open.as_mut().filter(|open| open.is(run.cmd_id)) {
            open.hear(AckResult::Started);
            open.ends_at = Some(ends_at);
        }
        self.told_end = ends_at;
        let left_ms = now.ms_until(ends_at).max(0);
        let (boot, before_boot) = (self.boot, self.before_boot);
        self.tell(Some(DeviceRun { cmd_id: run.cmd_id, left_ms, boot, before_boot }));
    }

    fn runs_nothing(&mut self, said_at: Option<Timestamp>, now: Timestamp) {
        let said_at = said_at.unwrap_or(now);
        if let Some(open) = &mut self.open {
            if open.stop_at.is_some_and(|stop| stop <= said_at) {
                open.hear(AckResult::Done);
                self.out.push(Effect::Tell(open.ack(AckResult::Done), Grounds::Run));
            } else if let Some(ends_at) = open.ends_at.take() {
                let left_ms = said_at.ms_until(ends_at);
                if left_ms > EARLY_MS {
                    self.out.push(Effect::Trouble(Trouble::EndedEarly { cmd_id: open.cmd.cmd_id, left_ms }));
                    // That it is free takes the flag off again: the next state says so, for which it is asked as long as staff are waited for.
                    return;
                }
            }
        }
        // While a start of that epoch may still come to it, it is not known to stay free.
        if !self.is_below_fence() && (self.wanted || self.told.is_some()) {
            self.tell(None);
        }
    }

    fn tell(&mut self, run: Option<DeviceRun>) {
        (self.told, self.wanted) = (run.map(|run| run.cmd_id), false);
        self.out.push(Effect::Tell(DeviceEvent::State { online: true, run }, Grounds::Run));
    }

    /// Whether it says that it has not seen the epoch of the last purchase.
    pub(super) fn is_below_fence(&self) -> bool {
        self.open.as_ref().is_some_and(|open| self.epoch.is_some_and(|epoch| epoch < open.cmd.epoch))
    }
}
