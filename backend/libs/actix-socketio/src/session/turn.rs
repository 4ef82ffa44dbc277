//! One write per session and event-loop turn. Packets that are sent to a session while other tasks of the thread run are gathered.
//! The flusher runs after these tasks and passes each session's packets to its transport at once. A client that watches eight
//! machines of an outlet gets eight ticks in one write.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use super::wire::Wire;
use crate::vital;

/// Number of sessions flushed before other tasks of the thread run.
const SLICE: usize = 256;

#[derive(Default)]
struct Turn {
    marked: RefCell<Vec<Rc<Wire>>>,
    running: Cell<bool>,
    waker: Cell<Option<Waker>>,
}

thread_local!(static TURN: Turn = Turn::default());

/// Schedules a flush of `wire` at the end of this turn.
pub(super) fn mark(wire: &Rc<Wire>) {
    if !wire.enter_turn() {
        return;
    }
    TURN.with(|turn| {
        turn.marked.borrow_mut().push(wire.clone());
        if !turn.running.replace(true) {
            vital::spawn("turn", flush_turns());
        } else if let Some(waker) = turn.waker.take() {
            waker.wake();
        }
    });
}

/// Clears the turn at the end of the runtime: the next runtime of this thread (tests start several) starts its own flusher.
struct TurnStopped;

impl Drop for TurnStopped {
    fn drop(&mut self) {
        let _ = TURN.try_with(|turn| {
            turn.running.set(false);
            turn.marked.take();
        });
    }
}

async fn flush_turns() {
    let _stopped = TurnStopped;
    loop {
        poll_fn(|cx| {
            TURN.with(|turn| {
                if !turn.marked.borrow().is_empty() {
                    return Poll::Ready(());
                }
                turn.waker.set(Some(cx.waker().clone()));
                Poll::Pending
            })
        })
        .await;
        // All tasks that are ready now run first and add packets to this turn.
        tokio::task::yield_now().await;
        let marked = TURN.with(|turn| turn.marked.take());
        for (i, wire) in marked.iter().enumerate() {
            wire.leave_turn();
            if i % SLICE == SLICE - 1 {
                tokio::task::yield_now().await;
            }
        }
    }
}
