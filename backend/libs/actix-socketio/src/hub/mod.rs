//! Publishing between threads: each thread has a value, which receives messages ([`Local::Message`]). Sockets stay on their threads. A
//! broadcast is encoded once, and each thread delivers it to its sockets.
//!
//! All messages for another thread in one event-loop turn travel as one batch. A stalled thread loses volatile messages, which are
//! counted. It never loses other messages silently: past [`MAX_WAITING`], [`Local::lost`] notifies the thread when it runs again.

mod thread;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::mpsc;

use thread::ThreadState;

/// Maximum number of batches in the inbox of a thread.
pub const MAX_BATCHES: usize = 1024;

/// Maximum number of messages of one thread that wait for space in another thread's inbox.
pub const MAX_WAITING: usize = 65_536;

/// Value of a hub on each thread. It receives the messages.
pub trait Local: 'static {
    /// The message type.
    type Message: Clone + Send + 'static;

    /// Handles a message. It must not publish.
    fn deliver(&mut self, message: &Self::Message);

    /// Whether the message may be lost because a later one replaces it.
    fn is_volatile(message: &Self::Message) -> bool;

    /// Called after this thread stalled and messages that are not volatile were lost.
    fn lost(&mut self);
}

/// A hub. A clone is another handle to the same hub.
pub struct Hub<L: Local>(Arc<HubState<L>>);

struct HubState<L: Local> {
    number: usize,
    make: Box<dyn Fn() -> L + Send + Sync>,
    dropped: Box<dyn Fn(u64) + Send + Sync>,
    inboxes: RwLock<Vec<Arc<ThreadInbox<L>>>>,
}

/// Inbox of a thread, as other threads see it.
struct ThreadInbox<L: Local> {
    sender: mpsc::Sender<Vec<L::Message>>,
    lost: Arc<AtomicBool>,
}

impl<L: Local> Hub<L> {
    /// A hub that creates its value on each thread with `make`, and calls `dropped` with the number of lost volatile messages.
    pub fn new(make: impl Fn() -> L + Send + Sync + 'static, dropped: impl Fn(u64) + Send + Sync + 'static) -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let number = LAST.fetch_add(1, Relaxed);
        Self(Arc::new(HubState { number, make: Box::new(make), dropped: Box::new(dropped), inboxes: RwLock::default() }))
    }

    /// Runs `f` with this thread's value, which is created if needed: call it where an actix runtime runs. None: the call is inside
    /// another such call.
    pub fn here<R>(&self, f: impl FnOnce(&mut L) -> R) -> Option<R> {
        Some(f(&mut ThreadState::get_or_create(self).try_borrow_mut().ok()?.local))
    }

    /// The same, but only if this thread already has a value.
    pub fn if_here<R>(&self, f: impl FnOnce(&mut L) -> R) -> Option<R> {
        Some(f(&mut ThreadState::get(self)?.try_borrow_mut().ok()?.local))
    }

    /// The number of this thread in the hub, from 0 in the order of their first use. Creates the thread's value if needed.
    pub fn thread(&self) -> usize {
        ThreadState::get_or_create(self).try_borrow().map_or(0, |here| here.number)
    }

    /// Number of threads, including those that have ended; these receive no messages.
    pub fn threads(&self) -> usize {
        self.0.inboxes.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Number of threads that still receive messages.
    pub(crate) fn live_threads(&self) -> usize {
        self.0.inboxes.read().unwrap_or_else(PoisonError::into_inner).iter().filter(|target| !target.sender.is_closed()).count()
    }

    /// Delivers a message on each of `threads`: at once on this thread, soon on others, in the order in which this thread published.
    /// May be called anywhere; never blocks.
    pub fn publish(&self, message: &L::Message, threads: impl IntoIterator<Item = usize>) {
        let Some(here) = ThreadState::get(self) else {
            let inboxes = self.inboxes();
            return threads
                .into_iter()
                .filter_map(|thread| inboxes.get(thread))
                .for_each(|target| self.publish_without_runtime(target, message));
        };
        let Ok(mut here) = here.try_borrow_mut() else {
            return; // `deliver` must not publish
        };
        for thread in threads {
            if thread == here.number {
                here.local.deliver(message);
            } else {
                here.gather(thread, message);
            }
        }
    }

    /// Publishes from a thread without a runtime, which has no event-loop turns to gather messages in.
    fn publish_without_runtime(&self, target: &ThreadInbox<L>, message: &L::Message) {
        if let Err(mpsc::error::TrySendError::Full(_)) = target.sender.try_send(vec![message.clone()]) {
            self.drop_or_mark_lost(target, message);
        }
    }

    /// Handles a message that does not fit into the inbox.
    fn drop_or_mark_lost(&self, target: &ThreadInbox<L>, message: &L::Message) {
        if L::is_volatile(message) {
            (self.0.dropped)(1);
        } else {
            target.lost.store(true, Relaxed);
            // Wakes the thread to check `lost`: if its inbox is empty by now, no other message would.
            let _ = target.sender.try_send(Vec::new());
        }
    }

    fn inboxes(&self) -> Vec<Arc<ThreadInbox<L>>> {
        self.0.inboxes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn inbox(&self, thread: usize) -> Option<Arc<ThreadInbox<L>>> {
        self.0.inboxes.read().unwrap_or_else(PoisonError::into_inner).get(thread).cloned()
    }
}

impl<L: Local> Clone for Hub<L> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<L: Local> fmt::Debug for Hub<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").field("threads", &self.threads()).finish_non_exhaustive()
    }
}
