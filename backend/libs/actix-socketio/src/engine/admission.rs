//! Where a session counts from its handshake to its end: among those that have not joined, or with one of `max_sessions`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::caller::{Caller, Share};
use super::error::EngineError;
use super::sid::Sid;
use super::unjoined::{Pool, Taken};
use crate::limits::Limits;
use crate::metrics::Metrics;

/// Admits the sessions of a server.
#[derive(Debug)]
pub(crate) struct Admissions {
    addresses: Mutex<Pool>,
    known: Mutex<Pool>,
    max_sessions: u64,
    metrics: Arc<Metrics>,
}

/// One session's. Dropping it counts the session out.
#[derive(Debug)]
pub(crate) struct Admission {
    admissions: Arc<Admissions>,
    share: Share,
    sid: Sid,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// With a place of this number.
    Unjoined(u64),
    Joined,
    Over,
}

impl Admissions {
    pub fn new(limits: &Limits, metrics: Arc<Metrics>) -> Self {
        let pool = |per_caller| Mutex::new(Pool::new(per_caller, limits.max_unjoined));
        Self {
            addresses: pool(limits.unjoined_per_address),
            known: pool(limits.unjoined_per_known),
            max_sessions: limits.max_sessions as u64,
            metrics,
        }
    }

    /// A new session, and the one that has to end for it.
    pub fn admit(self: &Arc<Self>, caller: Caller) -> Result<(Admission, Option<Sid>), EngineError> {
        if self.metrics.sessions_joined.get() >= self.max_sessions {
            self.metrics.sessions_refused.add(1);
            return Err(EngineError::TooManySessions);
        }
        let sid = Sid::random();
        let taken = caller.shares().find_map(|share| Some((share, self.pool(share).take(share, sid)?)));
        let Some((share, Taken { number, displaced })) = taken else {
            self.metrics.unjoined_refused.add(1);
            return Err(EngineError::TooManyUnjoined);
        };
        self.metrics.unjoined_displaced.add(u64::from(displaced.is_some()));
        for counter in [&self.metrics.sessions_opened, &self.metrics.sessions_open, &self.metrics.sessions_unjoined] {
            counter.add(1);
        }
        Ok((Admission { admissions: self.clone(), share, sid, stage: Stage::Unjoined(number) }, displaced))
    }

    /// Locked for a few steps in maps, at a handshake, a join and an end.
    fn pool(&self, share: Share) -> MutexGuard<'_, Pool> {
        let pool = match share {
            Share::Address(_) => &self.addresses,
            Share::Known(_) => &self.known,
        };
        pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admission {
    pub fn sid(&self) -> Sid {
        self.sid
    }

    /// Whether its place went to another session.
    pub fn is_displaced(&self) -> bool {
        matches!(self.stage, Stage::Unjoined(number) if !self.pool().holds(self.share, number))
    }

    /// From now on it is one of `max_sessions`. False: there are so many.
    pub fn join(&mut self) -> bool {
        if let Stage::Unjoined(number) = self.stage {
            let metrics = &self.admissions.metrics;
            if !metrics.sessions_joined.add_below(self.admissions.max_sessions) {
                metrics.sessions_refused.add(1);
                return false;
            }
            metrics.sessions_unjoined.sub(1);
            self.pool().remove(self.share, number);
            self.stage = Stage::Joined;
        }
        self.stage == Stage::Joined
    }

    /// Back among those that have not joined. False: there is no place.
    pub fn leave(&mut self) -> bool {
        if self.stage == Stage::Joined {
            let Some(number) = self.pool().take_free(self.share, self.sid) else {
                return false;
            };
            self.admissions.metrics.sessions_joined.sub(1);
            self.admissions.metrics.sessions_unjoined.add(1);
            self.stage = Stage::Unjoined(number);
        }
        matches!(self.stage, Stage::Unjoined(_))
    }

    /// The session is over.
    pub fn end(&mut self) {
        let metrics = &self.admissions.metrics;
        match self.stage {
            Stage::Over => return,
            Stage::Joined => metrics.sessions_joined.sub(1),
            Stage::Unjoined(number) => {
                metrics.sessions_unjoined.sub(1);
                self.pool().remove(self.share, number);
            }
        }
        metrics.sessions_open.sub(1);
        self.stage = Stage::Over;
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.admissions.pool(self.share)
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.end();
    }
}
