//! The gate before the pool: admits or refuses requests by how long others wait for a connection. What it decides by is pure
//! (`nyala_core::admission`); this has the clock, the random numbers and the metrics.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nyala_core::admission::{Admission, Class, Rank, retry_after_s};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;

use crate::telemetry::WAIT_BUCKETS_S;

/// The server is overloaded. Nothing was done; after this many seconds the same request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overloaded {
    pub retry_s: u32,
}

/// An overload is logged at most this often.
const LOG_EACH_MS: u64 = 10_000;

/// What became of a request at the gate.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    Admitted,
    Refused,
    /// Admitted, and refused later, because no connection came free in time.
    GaveUp,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct AdmissionLabels {
    class: &'static str,
    outcome: &'static str,
}

/// One for the whole process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gate(Arc<GateInner>);

#[derive(Debug)]
struct GateInner {
    is_on: bool,
    started: Instant,
    admission: Mutex<Admission>,
    max_wait: Duration,
    requests: Family<AdmissionLabels, Counter>,
    wait: Histogram,
    /// When a refusal was logged last; 0: never.
    logged_ms: AtomicU64,
}

impl Gate {
    /// `target`: wait for a connection that is aimed at under overload. Without one nothing is refused.
    pub fn new(target: Option<Duration>) -> Self {
        let target_ms = target.map_or(0, |target| u64::try_from(target.as_millis()).unwrap_or(u64::MAX));
        let admission = Admission::new(target_ms);
        let requests = Family::default();
        if target.is_some() {
            // A series that is there from the start shows its first refusal as an increase.
            for class in Class::ALL {
                for outcome in [Outcome::Admitted, Outcome::Refused, Outcome::GaveUp] {
                    drop(requests.get_or_create(&labels(class, outcome)));
                }
            }
        }
        Self(Arc::new(GateInner {
            is_on: target.is_some(),
            started: Instant::now(),
            max_wait: Duration::from_millis(admission.max_wait_ms()),
            admission: Mutex::new(admission),
            requests,
            wait: Histogram::new(WAIT_BUCKETS_S),
            logged_ms: AtomicU64::new(0),
        }))
    }

    pub fn is_on(&self) -> bool {
        self.0.is_on
    }

    /// Admits a request of this class.
    ///
    /// # Errors
    /// [`Overloaded`] when the caller must answer with a refusal, before anything is done.
    pub fn admit(&self, class: Class) -> Result<(), Overloaded> {
        let admits = !self.0.is_on || self.admission().admits(class, rand::random(), self.now_ms());
        if admits {
            self.count(class, Outcome::Admitted);
            Ok(())
        } else {
            self.count(class, Outcome::Refused);
            self.log_refusal();
            Err(overloaded())
        }
    }

    /// Refuses an admitted request that got no first connection in time.
    pub(crate) fn gave_up(&self, class: Class) -> Overloaded {
        self.count(class, Outcome::GaveUp);
        self.log_refusal();
        overloaded()
    }

    /// Logs an overload, and that it goes on.
    fn log_refusal(&self) {
        let (now_ms, last_ms) = (self.now_ms(), self.0.logged_ms.load(Ordering::Relaxed));
        let is_due = last_ms == 0 || now_ms.saturating_sub(last_ms) >= LOG_EACH_MS;
        if is_due && self.0.logged_ms.compare_exchange(last_ms, now_ms.max(1), Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            tracing::warn!(
                "overloaded: requests are refused, since others wait for the database (nyala_admission_requests_total)"
            );
        }
    }

    /// Reports the wait of the request that waits longest.
    pub(crate) fn waited(&self, longest_ms: u64, now_ms: u64) {
        self.admission().waited(longest_ms, now_ms);
    }

    /// Counts what a request has waited for its first connection.
    pub(crate) fn served(&self, wait: Duration) {
        self.0.wait.observe(wait.as_secs_f64());
    }

    /// Whether requests of this class are being refused.
    pub(crate) fn refuses_some(&self, class: Class) -> bool {
        let mut admission = self.admission();
        admission.advance(self.now_ms());
        admission.refused_share(class) > 0.0
    }

    /// Longest wait for a first connection while the class is being refused.
    pub(crate) fn max_wait(&self) -> Duration {
        self.0.max_wait
    }

    /// Milliseconds of a clock that never goes back.
    pub(crate) fn now_ms(&self) -> u64 {
        u64::try_from(self.0.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Share of each class that is refused now.
    pub fn refused_shares(&self) -> [(Class, f64); Class::ALL.len()] {
        let mut admission = self.admission();
        admission.advance(self.now_ms());
        Class::ALL.map(|class| (class, admission.refused_share(class)))
    }

    /// Requests by class and outcome, for the metrics.
    pub fn requests(&self) -> &Family<AdmissionLabels, Counter> {
        &self.0.requests
    }

    /// Seconds until an admitted request had its first connection, for the metrics.
    pub fn wait(&self) -> &Histogram {
        &self.0.wait
    }

    fn admission(&self) -> MutexGuard<'_, Admission> {
        self.0.admission.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, class: Class, outcome: Outcome) {
        if self.0.is_on {
            self.0.requests.get_or_create(&labels(class, outcome)).inc();
        }
    }
}

fn labels(class: Class, outcome: Outcome) -> AdmissionLabels {
    let outcome = match outcome {
        Outcome::Admitted => "admitted",
        Outcome::Refused => "refused",
        Outcome::GaveUp => "gave_up",
    };
    AdmissionLabels { class: class.as_str(), outcome }
}

fn overloaded() -> Overloaded {
    Overloaded { retry_s: retry_after_s(rand::random()) }
}

/// An admitted request, while it is answered.
#[derive(Debug)]
pub(crate) struct Request {
    class: Class,
    /// It has asked for a connection.
    has_begun: AtomicBool,
    /// Slots that it holds.
    holds: AtomicUsize,
}

impl Request {
    /// Its rank when it asks for a connection. `None` while it holds a slot: it needs no further one, or two requests that each hold one could
    /// wait for each other.
    pub fn rank(&self) -> Option<Rank> {
        let is_first = !self.has_begun.swap(true, Ordering::Relaxed);
        match self.holds.load(Ordering::Relaxed) {
            0 if is_first => Some(Rank::First(self.class)),
            0 => Some(Rank::Begun),
            _ => None,
        }
    }

    /// Counts a slot until the guard is dropped.
    pub fn hold(self: Arc<Self>) -> Holding {
        self.holds.fetch_add(1, Ordering::Relaxed);
        Holding(self)
    }
}

/// A slot that a request holds.
#[derive(Debug)]
pub(crate) struct Holding(Arc<Request>);

impl Drop for Holding {
    fn drop(&mut self) {
        self.0.holds.fetch_sub(1, Ordering::Relaxed);
    }
}

tokio::task_local! {
    /// The request that this task answers.
    static REQUEST: Arc<Request>;
}

/// Answers an admitted request: the connections that `work` asks for are those for requests, and the first one comes in the order of the
/// classes. What is not done in here is decided work, and has all connections of its thread.
pub async fn as_request<F: Future>(class: Class, work: F) -> F::Output {
    let request = Request { class, has_begun: AtomicBool::new(false), holds: AtomicUsize::new(0) };
    REQUEST.scope(Arc::new(request), work).await
}

/// The request that this task answers.
pub(crate) fn current_request() -> Option<Arc<Request>> {
    REQUEST.try_with(Arc::clone).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank() -> Option<Rank> {
        current_request().and_then(|request| request.rank())
    }

    #[tokio::test]
    async fn a_request_waits_as_its_class_once_and_never_while_it_holds_a_slot() {
        assert_eq!(rank(), None);
        as_request(Class::Look, async {
            assert_eq!([rank(), rank()], [Some(Rank::First(Class::Look)), Some(Rank::Begun)]);
            let held = current_request().unwrap().hold();
            assert_eq!(rank(), None);
            drop(held);
            assert_eq!(rank(), Some(Rank::Begun));
        })
        .await;
        let elsewhere = as_request(Class::Look, async { tokio::spawn(async { rank() }).await.unwrap() }).await;
        assert_eq!(elsewhere, None, "what a request leaves behind is decided work");
    }

    #[test]
    fn it_refuses_while_others_wait_unless_it_is_off() {
        for (target, refuses) in [(Some(Duration::from_millis(1)), true), (None, false)] {
            let gate = Gate::new(target);
            for now_ms in 0..10_000 {
                gate.waited(1_000, now_ms);
            }
            let refused = (0..100).filter_map(|_| gate.admit(Class::List).err()).collect::<Vec<_>>();
            assert_eq!(refused.len() > 50, refuses, "{}", refused.len());
            assert!(refused.iter().all(|overloaded| (1..=3).contains(&overloaded.retry_s)));
        }
    }
}
