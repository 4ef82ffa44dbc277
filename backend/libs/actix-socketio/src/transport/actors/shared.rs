//! What a session and its carrier have in common, on whichever threads they are.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use actix_web_actors::ws::{CloseCode, Message};

use super::brake::Brake;
use super::frames::Frames;
use crate::metrics::Metrics;

/// Bytes that a carrier takes at a time: of these actix-http holds a few while the kernel takes no more.
const MAX_TAKEN: usize = 16 * 1024;

/// Locked for a few steps, once a turn by the session and once a write by the carrier.
pub(super) struct Shared {
    state: Mutex<State>,
    metrics: Arc<Metrics>,
    /// Lives as long as the connection.
    brake: Option<Weak<Brake>>,
}

#[derive(Default)]
struct State {
    waiting: Frames,
    pace: Pace,
    ending: Option<Ending>,
    /// The response's body is gone, and its connection with it.
    let_go: bool,
    carrier: Option<Waker>,
    reader: Option<Waker>,
    session: Option<Waker>,
}

/// How a carrier comes along.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Pace {
    /// It comes as soon as it is woken.
    #[default]
    Idle,
    /// It has taken frames and not come back: its thread is at it, or its connection takes no more.
    Busy,
    /// Its connection takes no more at the moment.
    Blocked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// After what waits, with this code.
    Close(u16),
    BrokenOff,
    /// The carrier knows.
    Told,
}

/// How many frames wait, as far as their session knows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub frames: usize,
    pub bytes: usize,
    /// Bytes of the first one.
    pub first: usize,
    pub blocked: bool,
}

/// What a carrier takes at a time.
pub(super) struct Batch {
    pub frames: Frames,
    pub close: Option<u16>,
    /// Nothing follows.
    pub last: bool,
}

/// What the task beside the carrier has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Open,
    /// The carrier's connection is gone.
    LetGo,
    /// The session is done with it.
    Over,
}

impl Shared {
    pub fn new(metrics: Arc<Metrics>, brake: Option<Weak<Brake>>) -> Arc<Self> {
        metrics.websockets_open.add(1);
        Arc::new(Self { state: Mutex::default(), metrics, brake })
    }

    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session's: hands over what it has gathered.
    pub fn hand_over(&self, gathered: &mut Frames) -> Seen {
        let mut state = self.state();
        state.waiting.append(gathered);
        match state.pace {
            Pace::Idle if !state.waiting.is_empty() => wake(&mut state.carrier),
            Pace::Busy => wake(&mut state.reader), // is it blocked?
            Pace::Blocked => self.drop_volatile(&mut state),
            Pace::Idle => {}
        }
        if state.let_go {
            state.waiting = Frames::default();
        }
        Seen {
            frames: state.waiting.len(),
            bytes: state.waiting.bytes(),
            first: state.waiting.first().unwrap_or_default(),
            blocked: state.pace == Pace::Blocked,
        }
    }

    /// The session's: whether it may read on. It waits for a carrier that comes along, and not for one that cannot.
    pub fn poll_pace(&self, max_frames: usize, max_bytes: usize, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state();
        let full = state.waiting.len() >= max_frames || state.waiting.bytes() >= max_bytes;
        if !full || state.pace == Pace::Blocked || state.let_go {
            return Poll::Ready(());
        }
        state.session = Some(cx.waker().clone());
        Poll::Pending
    }

    /// The session's: it is done, in order with a code, or broken off without one. Only the first call counts.
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

    /// The connection, as far as it can be ended from here.
    pub fn brake(&self) -> Option<Weak<Brake>> {
        self.brake.clone()
    }

    /// The carrier's: what it may send now.
    pub fn take(&self) -> Option<Batch> {
        let mut state = self.state();
        let frames = state.waiting.take(MAX_TAKEN);
        let mut batch = Batch { frames, close: None, last: false };
        match state.ending {
            Some(Ending::Close(code)) if state.waiting.is_empty() => batch.close = Some(code),
            Some(Ending::BrokenOff) => {}
            _ if batch.frames.is_empty() => return None,
            _ => {
                state.pace = Pace::Busy;
                wake(&mut state.session);
                return Some(batch);
            }
        }
        batch.last = true;
        state.ending = Some(Ending::Told);
        Some(batch)
    }

    /// The carrier's: it has nothing to send and comes when it is woken. False: there is something by now.
    pub fn rest(&self, cx: &Context<'_>) -> bool {
        let mut state = self.state();
        if !state.waiting.is_empty() || matches!(state.ending, Some(Ending::Close(_) | Ending::BrokenOff)) {
            return false;
        }
        state.pace = Pace::Idle;
        state.carrier = Some(cx.waker().clone());
        wake(&mut state.session);
        true
    }

    /// The carrier's: its connection is gone.
    pub fn let_go(&self) {
        let mut state = self.state();
        state.let_go = true;
        state.waiting = Frames::default();
        wake(&mut state.reader);
        wake(&mut state.session);
    }

    /// The look of the task beside the carrier, on the same thread: now the carrier is at nothing. If it has not come back, its
    /// connection takes no more.
    pub fn look(&self, cx: &Context<'_>) -> Look {
        let mut state = self.state();
        if state.pace == Pace::Busy {
            state.pace = Pace::Blocked;
            self.drop_volatile(&mut state);
            wake(&mut state.session);
        }
        state.reader = Some(cx.waker().clone());
        match (state.ending, state.let_go) {
            (Some(_), _) => Look::Over,
            (None, true) => Look::LetGo,
            (None, false) => Look::Open,
        }
    }

    fn drop_volatile(&self, state: &mut State) {
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
