//! One of the devices: where it stands, and when it is to be looked at.

use super::Key;
use super::fault::{Fault, Faults};
use super::line::Line;
use crate::device::mqtt::model::{Device, Saying};
use crate::device::mqtt::socket::Socket;
use crate::device::mqtt::word::Word;

/// What a device asks for as its keep-alive: it is never silent for longer.
pub(super) const KEEP_ALIVE_MS: i64 = 30_000;
/// After so much silence of the server it asks whether that is still there …
const QUIET_MS: i64 = 60_000;
/// … and waits so long for the answer.
const ANSWER_MS: i64 = 15_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not there: the second device with a key, which was taken away.
    Off,
    /// Without power.
    Dark,
    /// Waits before the next try.
    Resting,
    Queued,
    Connecting,
    LoggingIn,
    Subscribing,
    Live,
    /// It has a line, and nothing comes or goes on it.
    HalfOpen,
}

impl Stage {
    pub fn is_on_its_way(self) -> bool {
        matches!(self, Self::Connecting | Self::LoggingIn | Self::Subscribing)
    }
}

pub(super) struct Member {
    pub key: Key,
    /// It has another one's key, and its memory is nobody's.
    pub is_clone: bool,
    pub model: Device,
    pub booted_at: i64,
    pub faults: Faults,
    pub stage: Stage,
    /// When the stage ends, where it has an end.
    pub until: i64,
    /// Tries to connect, one after the other in vain.
    pub tries: u32,
    pub was_live: bool,
    pub line: Option<Line>,
    /// A line that nobody has closed: the power was cut, or the network between.
    pub ghost: Option<Socket>,
    pub beat_at: i64,
    pub sent_at: i64,
    pub heard_at: i64,
    /// When it asked whether the server is there.
    pub pinged_at: Option<i64>,
    /// When it loses its line or its power the next time.
    pub trouble_at: Option<i64>,
    /// Until then it keeps what it has to say of a start.
    pub late_until: i64,
    pub later: Vec<(i64, Saying)>,
    /// A word that waits for the next one to overtake it, until then at most.
    pub held: Option<(i64, Word)>,
    /// When it will be looked at.
    pub armed: Option<i64>,
    /// Runs that it began.
    pub starts: u64,
}

impl Member {
    pub fn new(key: Key, model: Device) -> Self {
        Self {
            key,
            is_clone: false,
            model,
            booted_at: 0,
            faults: Faults::default(),
            stage: Stage::Queued,
            until: 0,
            tries: 0,
            was_live: false,
            line: None,
            ghost: None,
            beat_at: 0,
            sent_at: 0,
            heard_at: 0,
            pinged_at: None,
            trouble_at: None,
            late_until: 0,
            later: Vec::new(),
            held: None,
            armed: None,
            starts: 0,
        }
    }

    pub fn up_ms(&self, now: i64) -> i64 {
        now - self.booted_at
    }

    pub fn has_power(&self) -> bool {
        !matches!(self.stage, Stage::Off | Stage::Dark)
    }

    /// Whether it is to have a line.
    pub fn is_expected(&self) -> bool {
        self.stage != Stage::Off && !self.faults.has(Fault::HalfOpen)
    }

    /// When there is something to do for it.
    pub fn due(&self) -> Option<i64> {
        let of_line = match self.stage {
            Stage::Off | Stage::Queued | Stage::HalfOpen => None,
            Stage::Live => Some(self.beat_at.min(self.sent_at + KEEP_ALIVE_MS).min(self.silent_at())),
            _ => Some(self.until),
        };
        let of_run = self.model.tick_at().filter(|_| self.has_power()).map(|up_ms| self.booted_at + up_ms);
        let said_later = self.later.first().map(|(at, _)| *at);
        let held = self.held.as_ref().map(|(at, _)| *at);
        [of_line, of_run, said_later, held, self.trouble_at].into_iter().flatten().min()
    }

    /// When the server has been silent for too long: to be asked, or after it was.
    pub fn silent_at(&self) -> i64 {
        self.pinged_at.map_or(self.heard_at + QUIET_MS, |at| at + ANSWER_MS)
    }
}
