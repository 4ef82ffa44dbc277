//! Passwords are hashed on dedicated threads. They use a bounded share of the cores at a lower priority, so that neither ticks nor other
//! requests wait for them. The order is fair (`fair_queue`). A flood is refused, not queued.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use actix_socketio::host::vital;
use argon2::password_hash::Error as HashError;
use nyala_core::domain::password::composed;
use nyala_core::domain::secret::Secret;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::oneshot;

use super::Auth;
use super::argon::Argon;
use super::error::AuthError;
use super::fair_queue::{Bounds, FairQueue};
use super::lane::Lane;

/// About three seconds of one thread's work. One group may take a quarter; the last quarter is reserved for known phones.
const BOUNDS: Bounds = Bounds { total: 128, strangers: 96, per_group: 32 };
/// About the time in which a full group is processed.
const RETRY_S: u32 = 2;
/// Cores for each hashing thread.
const CORES_PER_THREAD: usize = 4;
/// How much lower than others the threads' priority is (nice(2)).
const NICE: i32 = 10;

/// Reserves a place in the queue. Call it before spending anything that a refusal would waste.
///
/// # Errors
/// `TooMany` when the lane's group has its share or too many requests wait.
pub fn reserve(auth: &Auth, lane: Lane) -> Result<QueuePlace, AuthError> {
    let shared = &auth.passwords.shared;
    let lost = shared.lock().queue.take_place(lane).map_err(|_| shared.refuse())?;
    if lost.is_some() {
        shared.waiting.dec();
    }
    // Dropped after the lock is released: dropping the job releases its place.
    drop(lost);
    Ok(QueuePlace(Arc::new(Held { shared: shared.clone(), lane })))
}

/// A reserved place; it may hash several passwords, one after the other.
pub struct QueuePlace(Arc<Held>);

impl QueuePlace {
    /// The hash of `password` as a PHC string.
    ///
    /// # Errors
    /// `TooMany` when the place was lost to a lane with fewer places.
    pub async fn hash(&self, password: &str) -> Result<String, AuthError> {
        self.ask(|reply| Work::Hash { password: Secret::new(password), reply }).await
    }

    /// Returns whether `hash` belongs to `password`.
    ///
    /// # Errors
    /// As [`QueuePlace::hash`].
    pub async fn verify(&self, password: &str, hash: &str) -> Result<bool, AuthError> {
        self.ask(|reply| Work::Verify { password: Secret::new(password), hash: hash.to_owned(), reply }).await
    }

    /// Compares `typed` with `hash`. A second hash is computed only for a text that is not in composed form.
    ///
    /// # Errors
    /// As [`QueuePlace::hash`].
    pub async fn compare(&self, typed: &str, hash: &str) -> Result<Compared, AuthError> {
        let composed = composed(typed);
        if self.verify(&composed, hash).await? {
            return Ok(Compared::Right);
        }
        let older = *composed != *typed && self.verify(typed, hash).await?;
        Ok(if older { Compared::Older } else { Compared::Wrong })
    }

    async fn ask<T>(&self, work: impl FnOnce(Reply<T>) -> Work) -> Result<T, AuthError> {
        let (reply, answer) = oneshot::channel();
        let job = Job { work: work(reply), place: self.0.clone() };
        self.0.shared.push(self.0.lane, job)?;
        let answer = answer.await.map_err(|_| self.0.shared.refuse())?;
        answer.map_err(|e| AuthError::broken(e.to_string()))
    }
}

/// Result of comparing a typed password with a stored hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    Wrong,
    Right,
    /// Right; but the hash is of the text as it was typed, as older hashes are.
    Older,
}

/// The place itself; a job holds it until it is done, even when its caller has disconnected.
struct Held {
    shared: Arc<Shared>,
    lane: Lane,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shared.lock().queue.give_up_place(self.lane);
    }
}

type Reply<T> = oneshot::Sender<Result<T, HashError>>;

enum Work {
    Hash { password: Secret, reply: Reply<String> },
    Verify { password: Secret, hash: String, reply: Reply<bool> },
}

struct Job {
    work: Work,
    place: Arc<Held>,
}

struct Shared {
    state: Mutex<JobQueue>,
    changed: Condvar,
    waiting: Gauge,
    refused: Counter,
}

struct JobQueue {
    queue: FairQueue<Job>,
    /// The server stops, or a thread has ended.
    closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, JobQueue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refuse(&self) -> AuthError {
        self.refused.inc();
        AuthError::TooMany { retry_s: RETRY_S }
    }

    fn push(&self, lane: Lane, job: Job) -> Result<(), AuthError> {
        let mut state = self.lock();
        if state.closed {
            drop(state); // before the job: dropping the job takes this lock
            return Err(AuthError::broken("the password threads are gone"));
        }
        self.waiting.inc();
        state.queue.push(lane, job);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for the next job; `None` when no more will come.
    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        while !state.closed {
            if let Some(job) = state.queue.pop() {
                self.waiting.dec();
                return Some(job);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let left: Vec<Job> = std::iter::from_fn(|| state.queue.pop()).collect();
        drop(state);
        drop(left);
        self.changed.notify_all();
    }
}

/// The hashing threads; they end when this is dropped.
pub struct Workers {
    shared: Arc<Shared>,
}

impl Workers {
    /// Starts one thread for each four cores, at least one. `refused` counts the requests that got no place or lost it.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start(refused: Counter) -> std::io::Result<Self> {
        let state = Mutex::new(JobQueue { queue: FairQueue::new(BOUNDS), closed: false });
        let shared = Shared { state, changed: Condvar::new(), waiting: Gauge::default(), refused };
        let workers = Self { shared: Arc::new(shared) };
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        for _ in 0..(cores / CORES_PER_THREAD).max(1) {
            let shared = workers.shared.clone();
            std::thread::Builder::new()
                .name("argon2".to_owned())
                .spawn(move || vital::run("passwords", || work(&Ends(shared))))?;
        }
        Ok(workers)
    }

    /// Number of passwords that wait, for the metrics.
    pub fn waiting(&self) -> &Gauge {
        &self.shared.waiting
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.close();
    }
}

/// Ensures that a thread that ends for any reason leaves no caller waiting.
struct Ends(Arc<Shared>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The place is released before the answer is sent: the receiver may ask for the next one at once.
fn answer<T>(reply: Reply<T>, result: Result<T, HashError>, place: Arc<Held>) {
    drop(place);
    let _ = reply.send(result);
}

fn work(of: &Ends) {
    // Linux keeps the priority per thread. If the kernel refuses the call, hashing works all the same.
    let _ = rustix::process::nice(NICE);
    let mut argon = Argon::default();
    while let Some(Job { work, place }) = of.0.next() {
        // A caller that has disconnected needs no answer, also when it disconnects during the hash.
        match work {
            Work::Hash { password, reply } if !reply.is_closed() => answer(reply, argon.hash(&password), place),
            Work::Verify { password, hash, reply } if !reply.is_closed() => answer(reply, argon.verify(&password, &hash), place),
            Work::Hash { .. } | Work::Verify { .. } => {}
        }
    }
}
