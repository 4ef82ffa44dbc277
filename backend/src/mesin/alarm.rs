//! The alarm clock of a worker thread: one wheel and one sleeping task for all its machines and sessions (design: realtime,
//! timers).

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use actix::Addr;
use actix_socketio::{Closer, vital};
use tokio::sync::Notify;

use super::actor::MesinActor;
use super::messages::Ring;
use super::ticker::Ticker;
use super::wheel::{Key, Wheel};
use crate::domain::waktu::{Jam, Waktu};
use crate::health::threads::Turning;

/// How long the task sleeps at most, so that a clock that jumped (a suspend, a test) is noticed.
const MAX_SLEEP: Duration = Duration::from_millis(250);

/// Whom an alarm wakes.
pub enum Wakes {
    Mesin(Addr<MesinActor>),
    Ticker(Weak<Ticker>),
    /// A socket whose token runs out.
    Tutup(Closer),
}

struct Clock {
    wheel: Wheel<Wakes>,
    jam: Jam,
    /// When the task will wake; an earlier alarm has to call it.
    sleeps_until_ms: i64,
    sooner: Rc<Notify>,
}

thread_local! {
    static CLOCK: RefCell<Option<Clock>> = const { RefCell::new(None) };
}

/// Starts this thread's alarm clock, whose every round is a turn of the thread. Once on each worker thread, before anything is set.
pub fn start(jam: &Jam, turning: Turning) {
    let sooner = Rc::new(Notify::new());
    let clock = Clock { wheel: Wheel::new(jam.now().ms()), jam: jam.clone(), sleeps_until_ms: i64::MAX, sooner: sooner.clone() };
    CLOCK.set(Some(clock));
    vital::spawn("alarm", run(sooner, turning));
}

/// Wakes `whom` at `at` or within a step after it. `None` on a thread without an alarm clock.
pub fn set(at: Waktu, whom: Wakes) -> Option<Key> {
    with(|clock| {
        let key = clock.wheel.insert(at.ms(), whom);
        if at.ms() < clock.sleeps_until_ms {
            clock.sooner.notify_one();
        }
        key
    })
}

pub fn cancel(key: Key) {
    with(|clock| clock.wheel.cancel(key));
}

fn with<R>(f: impl FnOnce(&mut Clock) -> R) -> Option<R> {
    CLOCK.with_borrow_mut(|clock| clock.as_mut().map(f))
}

async fn run(sooner: Rc<Notify>, turning: Turning) {
    let mut due = Vec::new();
    loop {
        turning.turned();
        let sleep = with(|clock| {
            let now = clock.jam.now();
            clock.wheel.advance(now.ms(), |whom| due.push(whom));
            let next = clock.wheel.next_visit_ms().unwrap_or(i64::MAX);
            let wait = Duration::from_millis(u64::try_from(next.saturating_sub(now.ms())).unwrap_or(0));
            clock.sleeps_until_ms = next;
            wait.min(MAX_SLEEP)
        });
        // Woken outside the borrow: whoever wakes may set its next alarm at once.
        for whom in due.drain(..) {
            match whom {
                Wakes::Mesin(addr) => addr.do_send(Ring),
                Wakes::Ticker(ticker) => ticker.upgrade().iter().for_each(Ticker::ring),
                Wakes::Tutup(closer) => closer.close(),
            }
        }
        tokio::select! {
            () = tokio::time::sleep(sleep.unwrap_or(MAX_SLEEP)) => {}
            () = sooner.notified() => {}
        }
    }
}
