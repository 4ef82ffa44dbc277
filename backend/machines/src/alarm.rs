//! The alarm clock of a worker thread: one wheel and one sleeping task for all its machines and sessions
//! (docs/decisions/0016-a-countdown-is-a-deadline.md).

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use actix::Addr;
use actix_socketio::Closer;
use actix_socketio::host::vital;
use actix_socketio::host::wheel::{TimerKey, Wheel};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::Input;
use nyala_store::clock::Clock;
use tokio::sync::Notify;

use super::actor::{ActorMessage, MachineActor};
use super::threads::Turning;
use super::ticker::Ticker;

/// Precision of alarms, in milliseconds.
pub const STEP_MS: i64 = 10;
pub const STEP: Duration = Duration::from_millis(STEP_MS.unsigned_abs());
/// Longest sleep of the task, so that it notices a clock that jumped (a suspend, a test).
const MAX_SLEEP: Duration = Duration::from_millis(250);

/// Target that an alarm wakes.
pub enum Wakes {
    Machine(Addr<MachineActor>),
    Ticker(Weak<Ticker>),
    /// A socket session whose token expires.
    Close(Closer),
}

struct Alarms {
    wheel: Wheel<Wakes>,
    clock: Clock,
    /// When the task wakes next; setting an earlier alarm must wake it.
    sleeps_until_ms: i64,
    sooner: Rc<Notify>,
}

thread_local! {
    static ALARMS: RefCell<Option<Alarms>> = const { RefCell::new(None) };
}

/// Starts this thread's alarm clock. Each of its rounds marks the thread as turning. Called once on each worker thread, before any alarm
/// is set.
pub fn start(clock: &Clock, turning: Turning) {
    let sooner = Rc::new(Notify::new());
    let alarms = Alarms {
        wheel: Wheel::new(STEP, clock.now().ms()),
        clock: clock.clone(),
        sleeps_until_ms: i64::MAX,
        sooner: sooner.clone(),
    };
    ALARMS.set(Some(alarms));
    vital::spawn("alarm", run(sooner, turning));
}

/// Wakes `whom` at `at` or within a step after it. `None` on a thread without an alarm clock.
pub fn set(at: Timestamp, whom: Wakes) -> Option<TimerKey> {
    with(|alarms| {
        let key = alarms.wheel.insert(at.ms(), whom);
        if at.ms() < alarms.sleeps_until_ms {
            alarms.sooner.notify_one();
        }
        key
    })
}

pub fn cancel(key: TimerKey) {
    with(|alarms| alarms.wheel.cancel(key));
}

fn with<R>(f: impl FnOnce(&mut Alarms) -> R) -> Option<R> {
    ALARMS.with_borrow_mut(|alarms| alarms.as_mut().map(f))
}

async fn run(sooner: Rc<Notify>, turning: Turning) {
    let mut due = Vec::new();
    loop {
        turning.turned();
        let sleep = with(|alarms| {
            let now = alarms.clock.now();
            alarms.wheel.advance(now.ms(), |whom| due.push(whom));
            let next = alarms.wheel.next_visit_ms().unwrap_or(i64::MAX);
            let wait = Duration::from_millis(u64::try_from(next.saturating_sub(now.ms())).unwrap_or(0));
            alarms.sleeps_until_ms = next;
            wait.min(MAX_SLEEP)
        });
        // Targets are woken outside the borrow, because they may set their next alarm at once.
        for whom in due.drain(..) {
            match whom {
                Wakes::Machine(addr) => addr.do_send(ActorMessage::Input(Input::Alarm)),
                Wakes::Ticker(ticker) => ticker.upgrade().iter().for_each(Ticker::ring),
                Wakes::Close(closer) => closer.close(),
            }
        }
        tokio::select! {
            () = tokio::time::sleep(sleep.unwrap_or(MAX_SLEEP)) => {}
            () = sooner.notified() => {}
        }
    }
}
