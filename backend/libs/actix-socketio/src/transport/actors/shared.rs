//! State that a session and its carrier share, also across threads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use actix_web_actors::ws::{CloseCode, Message};

use super::closer::ConnectionCloser;
use super::frames::Frames;
use crate::limits::Size;
use crate::metrics::Metrics;

/// Maximum bytes that a carrier takes at a time. actix-http holds a few such batches while the connection does not drain.
const MAX_TAKEN: usize = 16 * 1024;

/// Locked briefly: once per event-loop turn by the session, and once per write by the carrier.
pub(super) struct Shared {
    state: Mutex<CarrierState>,
    metrics: Arc<Metrics>,
    /// Exists as long as the connection.
    closer: Option<Weak<ConnectionCloser>>,
}

#[derive(Default)]
struct CarrierState {
    waiting: Frames,
    pace: CarrierProgress,
    ending: Option<Ending>,
    /// The response's body was dropped, together with its connection.
    connection_ended: bool,
    carrier: Option<Waker>,
    reader: Option<Waker>,
    session: Option<Waker>,
}

/// Progress of a carrier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum CarrierProgress {
    /// It waits, and runs as soon as it is woken.
    #[default]
    Idle,
    /// It has taken frames and not returned: its thread still writes them, or its connection does not drain.
    Busy,
    /// Its connection does not drain at the moment.
    Blocked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// Close with this code, after the waiting frames.
    Close(u16),
    BrokenOff,
    /// The carrier has received the end.
    Delivered,
}

/// Waiting frames, as the session saw them last.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueueView {
    pub waiting: Size,
    /// Bytes of the first frame.
    pub first: usize,
    pub blocked: bool,
}

/// Frames that a carrier takes at a time.
pub(super) struct Batch {
    pub frames: Frames,
    pub close: Option<u16>,
    /// No batch follows.
    pub last: bool,
}

/// State for the task that reads beside the carrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReaderState {
    Open,
    /// The carrier's connection has ended.
    ConnectionEnded,
    /// The session has ended the websocket.
    Over,
}

impl Shared {
    pub fn new(metrics: Arc<Metrics>, closer: Option<Weak<ConnectionCloser>>) -> Arc<Self> {
        metrics.websockets_open.add(1);
        Arc::new(Self { state: Mutex::default(), metrics, closer })
    }

    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    fn state(&self) -> MutexGuard<'_, CarrierState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called by the session: hands over the gathered frames.
    pub fn hand_over(&self, gathered: &mut Frames) -> QueueView {
        let mut state = self.state();
        state.waiting.append(gathered);
        match state.pace {
            CarrierProgress::Idle if !state.waiting.is_empty() => wake(&mut state.carrier),
            CarrierProgress::Busy => wake(&mut state.reader), // it checks whether the carrier is blocked
            CarrierProgress::Blocked => self.drop_volatile(&mut state),
            CarrierProgress::Idle => {}
        }
        if state.connection_ended {
            state.waiting = Frames::default();
        }
        QueueView {
            waiting: state.waiting.size(),
            first: state.waiting.first().unwrap_or_default(),
            blocked: state.pace == CarrierProgress::Blocked,
        }
    }

    /// Called by the session: ready when it may read on. It waits for a carrier that makes progress, but not for a blocked one.
    pub fn poll_pace(&self, max: Size, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state();
        let full = state.waiting.size().reaches(max);
        if !full || state.pace == CarrierProgress::Blocked || state.connection_ended {
            return Poll::Ready(());
        }
        state.session = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Called by the session: ends the websocket, in order with a code, or broken off without one. Only the first call counts.
    pub fn end(&self, code: Option<u16>) {
        let mut state = self.state();
        if state.ending.is_some() {
            return;
        }
        state.ending = Some(code.map_or(Ending::BrokenOff, Ending::Close));
        if code.is_none() {
            state.waiting = Frames::default();
        }
        wake(&mut state.carrier);
        wake(&mut state.reader);
    }

    /// The closer of the connection, if it has one.
    pub fn closer(&self) -> Option<Weak<ConnectionCloser>> {
        self.closer.clone()
    }

    /// Called by the carrier: takes the frames that it may send now.
    pub fn take(&self) -> Option<Batch> {
        let mut state = self.state();
        let frames = state.waiting.take(MAX_TAKEN);
        let mut batch = Batch { frames, close: None, last: false };
        match state.ending {
            Some(Ending::Close(code)) if state.waiting.is_empty() => batch.close = Some(code),
            Some(Ending::BrokenOff) => {}
            _ if batch.frames.is_empty() => return None,
            _ => {
                state.pace = CarrierProgress::Busy;
                wake(&mut state.session);
                return Some(batch);
            }
        }
        batch.last = true;
        state.ending = Some(Ending::Delivered);
        Some(batch)
    }

    /// Called by the carrier: it has no frames and waits to be woken. False: frames have arrived by now.
    pub fn rest(&self, cx: &Context<'_>) -> bool {
        let mut state = self.state();
        if !state.waiting.is_empty() || matches!(state.ending, Some(Ending::Close(_) | Ending::BrokenOff)) {
            return false;
        }
        state.pace = CarrierProgress::Idle;
        state.carrier = Some(cx.waker().clone());
        wake(&mut state.session);
        true
    }

    /// Called by the carrier: its connection has ended.
    pub fn connection_ended(&self) {
        let mut state = self.state();
        state.connection_ended = true;
        state.waiting = Frames::default();
        wake(&mut state.reader);
        wake(&mut state.session);
    }

    /// Called by the task beside the carrier, on the same thread, so the carrier does not run now. If it has not returned, its
    /// connection does not drain.
    pub fn look(&self, cx: &Context<'_>) -> ReaderState {
        let mut state = self.state();
        if state.pace == CarrierProgress::Busy {
            state.pace = CarrierProgress::Blocked;
            self.drop_volatile(&mut state);
            wake(&mut state.session);
        }
        state.reader = Some(cx.waker().clone());
        match (state.ending, state.connection_ended) {
            (Some(_), _) => ReaderState::Over,
            (None, true) => ReaderState::ConnectionEnded,
            (None, false) => ReaderState::Open,
        }
    }

    fn drop_volatile(&self, state: &mut CarrierState) {
        self.metrics.frames_dropped.add(state.waiting.drop_volatile());
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.metrics.websockets_open.sub(1);
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

/// A close frame with a code.
pub(super) fn close_message(code: u16) -> Message {
    Message::Close(Some(CloseCode::from(code).into()))
}
