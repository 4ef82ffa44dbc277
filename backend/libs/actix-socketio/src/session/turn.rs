//! One write per session and turn of the thread. Whatever is sent to a session while other tasks of the thread run is
//! gathered; the flusher runs after them and hands each session's packets to its transport at once. A client that
//! watches eight machines of an outlet gets eight ticks in one write.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use super::wire::Wire;
use crate::vital;

/// Sessions flushed before other tasks of the thread get their turn.
const SLICE: usize = 256;

#[derive(Default)]
struct Turn {
    marked: RefCell<Vec<Rc<Wire>>>,
    running: Cell<bool>,
    waker: Cell<Option<Waker>>,
}

thread_local!(static TURN: Turn = Turn::default());

/// Has `wire` flushed at the end of this turn.
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

/// The next runtime of this thread (tests start several) starts its own flusher.
struct Stopped;

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = TURN.try_with(|turn| {
            turn.running.set(false);
            turn.marked.take();
        });
    }
}

async fn flush_turns() {
    let _stopped = Stopped;
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
        // Everything that is ready now runs first and adds to this turn.
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
