//! What threads tell each other: a value on each of them, and parcels that reach it. Sockets stay on their threads; whoever has
//! something for many of them encodes it once and has each thread hand it to its own.
//!
//! Parcels for another thread travel together, one message a turn. A thread that stalls loses volatile parcels, which are counted; it
//! loses no other one silently: past [`MAX_WAITING`] it is told so ([`Local::lost`]) when it goes on.

mod thread;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::mpsc;

use thread::Here;

/// Batches that may wait at the door of a thread.
pub const MAX_BATCHES: usize = 1024;

/// Parcels of one thread that may wait for another one's door.
pub const MAX_WAITING: usize = 65_536;

/// What a hub has on each thread.
pub trait Local: 'static {
    /// What reaches it.
    type Parcel: Clone + Send + 'static;

    /// A parcel has come. It must not publish.
    fn deliver(&mut self, parcel: &Self::Parcel);

    /// Whether a later parcel makes up for the loss of this one.
    fn is_volatile(parcel: &Self::Parcel) -> bool;

    /// This thread did not take its parcels, and some that are not volatile are lost.
    fn lost(&mut self);
}

/// A hub. Cloning gives another handle to the same one.
pub struct Hub<L: Local>(Arc<Shared<L>>);

struct Shared<L: Local> {
    number: usize,
    make: Box<dyn Fn() -> L + Send + Sync>,
    dropped: Box<dyn Fn(u64) + Send + Sync>,
    doors: RwLock<Vec<Arc<Door<L>>>>,
}

/// Where a thread takes its parcels in.
struct Door<L: Local> {
    inbox: mpsc::Sender<Vec<L::Parcel>>,
    lost: Arc<AtomicBool>,
}

impl<L: Local> Hub<L> {
    /// A hub that puts what `make` gives on each thread, and tells `dropped` how many volatile parcels were lost on their way.
    pub fn new(make: impl Fn() -> L + Send + Sync + 'static, dropped: impl Fn(u64) + Send + Sync + 'static) -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let number = LAST.fetch_add(1, Relaxed);
        Self(Arc::new(Shared { number, make: Box::new(make), dropped: Box::new(dropped), doors: RwLock::default() }))
    }

    /// Runs `f` with what is on this thread, which is made if need be: call it where a runtime of actix runs. None: inside of another
    /// such call.
    pub fn here<R>(&self, f: impl FnOnce(&mut L) -> R) -> Option<R> {
        Some(f(&mut Here::of(self).try_borrow_mut().ok()?.local))
    }

    /// The same, if there is something on this thread.
    pub fn if_here<R>(&self, f: impl FnOnce(&mut L) -> R) -> Option<R> {
        Some(f(&mut Here::if_there_is(self)?.try_borrow_mut().ok()?.local))
    }

    /// The number of this thread among those of the hub, from 0 on in the order in which they came. Makes what is on it if need be.
    pub fn thread(&self) -> usize {
        Here::of(self).try_borrow().map_or(0, |here| here.number)
    }

    /// How many threads there have been; those that are gone take nothing.
    pub fn threads(&self) -> usize {
        self.0.doors.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// How many of them take parcels.
    pub(crate) fn live_threads(&self) -> usize {
        self.0.doors.read().unwrap_or_else(PoisonError::into_inner).iter().filter(|door| !door.inbox.is_closed()).count()
    }

    /// Delivers a parcel on each of `threads`: at once on this one, on others soon, in the order in which this thread published. May
    /// be called anywhere; never waits.
    pub fn publish(&self, parcel: &L::Parcel, threads: impl IntoIterator<Item = usize>) {
        let Some(here) = Here::if_there_is(self) else {
            let doors = self.doors();
            return threads.into_iter().filter_map(|thread| doors.get(thread)).for_each(|door| self.throw(door, parcel));
        };
        let Ok(mut here) = here.try_borrow_mut() else {
            return; // `deliver` must not publish
        };
        for thread in threads {
            if thread == here.number {
                here.local.deliver(parcel);
            } else {
                here.gather(thread, parcel);
            }
        }
    }

    /// From a thread without a runtime, which has no turns to gather in.
    fn throw(&self, door: &Door<L>, parcel: &L::Parcel) {
        if let Err(mpsc::error::TrySendError::Full(_)) = door.inbox.try_send(vec![parcel.clone()]) {
            self.lose(door, parcel);
        }
    }

    /// A parcel that found no room.
    fn lose(&self, door: &Door<L>, parcel: &L::Parcel) {
        if L::is_volatile(parcel) {
            (self.0.dropped)(1);
        } else {
            door.lost.store(true, Relaxed);
            // If it has taken everything by now, nothing else would have it look.
            let _ = door.inbox.try_send(Vec::new());
        }
    }

    fn doors(&self) -> Vec<Arc<Door<L>>> {
        self.0.doors.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn door(&self, thread: usize) -> Option<Arc<Door<L>>> {
        self.0.doors.read().unwrap_or_else(PoisonError::into_inner).get(thread).cloned()
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
