//! Passwords are hashed on threads of their own, a bounded share of the cores below everything else, so that neither ticks nor
//! other requests wait for them. Who is hashed next is fair (`fair_queue`); a flood is refused and not queued.

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
use super::line::Line;

/// Some three seconds of one thread's work, of which one group has a quarter and known phones the last quarter.
const BOUNDS: Bounds = Bounds { total: 128, strangers: 96, per_group: 32 };
/// A full group is worked off in about this time.
const RETRY_S: u32 = 2;
/// Cores for each hashing thread.
const CORES_PER_THREAD: usize = 4;
/// How much less than others the threads get of a core that somebody else wants too (nice(2)).
const NICE: i32 = 10;

/// A place in the queue, before anything is given away that a refusal would waste.
///
/// # Errors
/// `TooMany` when the line's group has its share or too many wait.
pub fn reserve(auth: &Auth, line: Line) -> Result<QueuePlace, AuthError> {
    let shared = &auth.passwords.shared;
    let lost = shared.lock().queue.take_place(line).map_err(|_| shared.refuse())?;
    if lost.is_some() {
        shared.waiting.dec();
    }
    // Not under the lock: with the job its place goes.
    drop(lost);
    Ok(QueuePlace(Arc::new(Held { shared: shared.clone(), line })))
}

/// A reserved place, for one password after the other.
pub struct QueuePlace(Arc<Held>);

impl QueuePlace {
    /// The hash of `password` as a PHC string.
    ///
    /// # Errors
    /// `TooMany` when the place was lost to somebody with fewer.
    pub async fn hash(&self, password: &str) -> Result<String, AuthError> {
        self.ask(|reply| Work::Hash { password: Secret::new(password), reply }).await
    }

    /// Whether `hash` is of `password`.
    ///
    /// # Errors
    /// As [`QueuePlace::hash`].
    pub async fn verify(&self, password: &str, hash: &str) -> Result<bool, AuthError> {
        self.ask(|reply| Work::Verify { password: Secret::new(password), hash: hash.to_owned(), reply }).await
    }

    /// What `typed` is to `hash`. Hashed again is only what has another form than the composed one.
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
        self.0.shared.push(self.0.line, job)?;
        let answer = answer.await.map_err(|_| self.0.shared.refuse())?;
        answer.map_err(|e| AuthError::broken(e.to_string()))
    }
}

/// A typed password beside a stored hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    Wrong,
    Right,
    /// Right, and the hash is of the form in which it was typed, as hashes once were.
    Older,
}

/// The place itself; a job holds it until it is done, though its caller may have gone.
struct Held {
    shared: Arc<Shared>,
    line: Line,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shared.lock().queue.give_up_place(self.line);
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
    state: Mutex<State>,
    changed: Condvar,
    waiting: Gauge,
    refused: Counter,
}

struct State {
    queue: FairQueue<Job>,
    /// The server goes, or a thread is gone.
    closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refuse(&self) -> AuthError {
        self.refused.inc();
        AuthError::TooMany { retry_s: RETRY_S }
    }

    fn push(&self, line: Line, job: Job) -> Result<(), AuthError> {
        let mut state = self.lock();
        if state.closed {
            drop(state); // before the job, whose place it guards
            return Err(AuthError::broken("the password threads are gone"));
        }
        self.waiting.inc();
        state.queue.push(line, job);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// The next job, waited for; `None` when there will be no more.
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

/// The threads, which end with it.
pub struct Workers {
    shared: Arc<Shared>,
}

impl Workers {
    /// One thread for each four cores, at least one. `refused` counts whoever got no place or lost it.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(refused: Counter) -> std::io::Result<Self> {
        let state = Mutex::new(State { queue: FairQueue::new(BOUNDS), closed: false });
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

    /// How many passwords wait, for the metrics.
    pub fn waiting(&self) -> &Gauge {
        &self.shared.waiting
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.close();
    }
}

/// A thread that ends, however it does, leaves nobody waiting.
struct Ends(Arc<Shared>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The place is free before its answer is out: whoever has that may ask for the next one.
fn answer<T>(reply: Reply<T>, result: Result<T, HashError>, place: Arc<Held>) {
    drop(place);
    let _ = reply.send(result);
}

fn work(of: &Ends) {
    // Linux keeps it per thread. A kernel that refuses it hashes all the same.
    let _ = rustix::process::nice(NICE);
    let mut argon = Argon::default();
    while let Some(Job { work, place }) = of.0.next() {
        // A caller who has gone needs no answer; nor does one who goes while it is made.
        match work {
            Work::Hash { password, reply } if !reply.is_closed() => answer(reply, argon.hash(&password), place),
            Work::Verify { password, hash, reply } if !reply.is_closed() => answer(reply, argon.verify(&password, &hash), place),
            Work::Hash { .. } | Work::Verify { .. } => {}
        }
    }
}
