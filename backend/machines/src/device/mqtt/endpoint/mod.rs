//! Endpoint of `serve` for devices (docs/contract.md §6): all I/O and its limits. `conversation` decides what messages mean.

mod connection;
mod fresh;
mod login;
mod login_pool;
mod session;
mod shared;
mod thread;

use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use actix_socketio::host::vital;
use mio::{Events, Poll};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep_until};

use self::shared::MAX_COMMANDS;
pub use self::shared::{Shared, ThreadCommand};
use self::thread::Thread;

/// Interval of the search for dead connections and silent devices.
const SWEEP: Duration = Duration::from_millis(500);
/// Maximum number of kernel events, and of commands, that are processed before other tasks of this thread run.
const EVENTS: usize = 256;
const COMMANDS_A_TURN: usize = 256;

/// Kernel events of a thread's connections.
struct KernelEvents(Poll);

impl AsRawFd for KernelEvents {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Starts this worker thread's part of the endpoint. The returned sender takes connections that are accepted on it.
///
/// # Errors
/// When the kernel has no free descriptor.
pub fn start_thread(shared: Arc<Shared>) -> std::io::Result<mpsc::Sender<ThreadCommand>> {
    let poll = Poll::new()?;
    let registry = poll.registry().try_clone()?;
    let kernel_events = watch(KernelEvents(poll))?;
    let (me, orders) = mpsc::channel(MAX_COMMANDS);
    let (to_judge, logins) = mpsc::channel(1);
    shared.add_thread(me.clone());
    vital::spawn("logins", login::check_loop(shared.clone(), logins, me.clone()));
    vital::spawn("endpoint", run(Thread::new(shared, registry, me.clone(), to_judge), kernel_events, orders));
    Ok(me)
}

/// Waits, by the runtime, until the kernel has events.
#[allow(unsafe_code)]
fn watch(kernel_events: KernelEvents) -> std::io::Result<AsyncFd<KernelEvents>> {
    // SAFETY: `Poll` owns this descriptor: it stays the same, and open until the `AsyncFd` and the `Poll` in it are dropped.
    let watched = unsafe { AsyncFd::register_with_interest(kernel_events, Interest::READABLE) };
    Ok(watched?)
}

async fn run(mut thread: Thread, mut kernel_events: AsyncFd<KernelEvents>, mut orders: mpsc::Receiver<ThreadCommand>) {
    let mut events = Events::with_capacity(EVENTS);
    let mut sweep = interval(SWEEP);
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let ask_at = thread.is_to_ask_at();
        tokio::select! {
            ready = kernel_events.readable_mut() => match ready {
                Ok(mut ready) => {
                    let polled = ready.get_inner_mut().0.poll(&mut events, Some(Duration::ZERO));
                    if polled.is_err() || events.is_empty() {
                        ready.clear_ready();
                    }
                    drop(ready);
                    for event in &events {
                        thread.ready(event.token(), event.is_readable() || event.is_read_closed() || event.is_error());
                    }
                    events.clear();
                }
                // The runtime is shutting down.
                Err(_) => return,
            },
            Some(order) = orders.recv() => {
                thread.order(order);
                for _ in 1..COMMANDS_A_TURN {
                    let Ok(order) = orders.try_recv() else { break };
                    thread.order(order);
                }
            }
            _ = sweep.tick() => thread.sweep(),
            () = sleep_until(ask_at.unwrap_or_else(tokio::time::Instant::now)), if ask_at.is_some() => thread.ask(),
            () = tokio::task::yield_now(), if thread.has_more() => {}
        }
        thread.settle();
    }
}
