//! Admission of sessions. From its handshake to its end, a session counts either as not joined or as one of `max_sessions`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::caller::{Caller, Share};
use super::error::EngineError;
use super::sid::Sid;
use super::unjoined::{Pool, PoolLimits, Taken};
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

/// Admission of one session. Dropping it removes the session from the counts.
#[derive(Debug)]
pub(crate) struct Admission {
    admissions: Arc<Admissions>,
    share: Share,
    sid: Sid,
    stage: AdmissionStage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AdmissionStage {
    /// Not joined, with the place of this number.
    Unjoined(u64),
    Joined,
    Over,
}

impl Admissions {
    pub fn new(limits: &Limits, metrics: Arc<Metrics>) -> Self {
        let pool = |per_share| Mutex::new(Pool::new(PoolLimits { per_share, in_all: limits.max_unjoined }));
        Self {
            addresses: pool(limits.unjoined_per_address),
            known: pool(limits.unjoined_per_known),
            max_sessions: limits.max_sessions as u64,
            metrics,
        }
    }

    /// Admits a new session. Also returns the session that it displaces, which must end.
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
        Ok((Admission { admissions: self.clone(), share, sid, stage: AdmissionStage::Unjoined(number) }, displaced))
    }

    /// Locks the pool, for a few map operations at a handshake, a join and an end.
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

    /// Whether another session got its place.
    pub fn is_displaced(&self) -> bool {
        matches!(self.stage, AdmissionStage::Unjoined(number) if !self.pool().holds(self.share, number))
    }

    /// Counts the session as one of `max_sessions`. False: that limit is reached.
    pub fn join(&mut self) -> bool {
        if let AdmissionStage::Unjoined(number) = self.stage {
            let metrics = &self.admissions.metrics;
            if !metrics.sessions_joined.add_below(self.admissions.max_sessions) {
                metrics.sessions_refused.add(1);
                return false;
            }
            metrics.sessions_unjoined.sub(1);
            self.pool().remove(self.share, number);
            self.stage = AdmissionStage::Joined;
        }
        self.stage == AdmissionStage::Joined
    }

    /// Counts the session as not joined again. False: no place is free.
    pub fn leave(&mut self) -> bool {
        if self.stage == AdmissionStage::Joined {
            let Some(number) = self.pool().take_free(self.share, self.sid) else {
                return false;
            };
            self.admissions.metrics.sessions_joined.sub(1);
            self.admissions.metrics.sessions_unjoined.add(1);
            self.stage = AdmissionStage::Unjoined(number);
        }
        matches!(self.stage, AdmissionStage::Unjoined(_))
    }

    /// The session is over.
    pub fn end(&mut self) {
        let metrics = &self.admissions.metrics;
        match self.stage {
            AdmissionStage::Over => return,
            AdmissionStage::Joined => metrics.sessions_joined.sub(1),
            AdmissionStage::Unjoined(number) => {
                metrics.sessions_unjoined.sub(1);
                self.pool().remove(self.share, number);
            }
        }
        metrics.sessions_open.sub(1);
        self.stage = AdmissionStage::Over;
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
