//! Tasks that a thread cannot work without: the task that writes to its sessions, and the task that wakes sessions at their deadline.
//!
//! A runtime confines a panic to its task. If such a task panics, the thread still accepts sessions and answers requests, but never
//! sends anything again. So the process ends instead, and its supervisor restarts it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::thread::Result as Outcome;

use futures_util::FutureExt;

/// Exit code of the process after a panic of such a task: `EX_SOFTWARE` of sysexits.h.
pub const EXIT_CODE: i32 = 70;

static ARMED: OnceLock<String> = OnceLock::new();
static BEFORE_EXIT: OnceLock<fn()> = OnceLock::new();

/// Runs `task` on this thread. Its panic ends the process, with a line in the log that names it.
pub fn spawn(name: &'static str, task: impl Future<Output = ()> + 'static) {
    actix_web::rt::spawn(async move {
        let task = async {
            trip(name);
            task.await;
        };
        end(name, AssertUnwindSafe(task).catch_unwind().await);
    });
}

/// The same for a thread that only does `work`.
pub fn run(name: &'static str, work: impl FnOnce()) {
    let work = || {
        trip(name);
        work();
    };
    end(name, catch_unwind(AssertUnwindSafe(work)));
}

/// For tests of a host: from now on the task called `name` panics when it is started.
pub fn arm(name: &str) {
    let _ = ARMED.set(name.to_owned());
}

/// Registers the host's `last`, which runs before a panic ends the process: log lines may not be written yet.
pub fn before_exit(last: fn()) {
    let _ = BEFORE_EXIT.set(last);
}

fn trip(name: &str) {
    if ARMED.get().is_some_and(|armed| armed == name) {
        std::panic::resume_unwind(Box::new("armed by a test"));
    }
}

fn end(name: &str, outcome: Outcome<()>) {
    if outcome.is_err() {
        tracing::error!(task = name, "a task that its thread cannot do without has panicked: the process ends");
        if let Some(last) = BEFORE_EXIT.get() {
            last();
        }
        std::process::exit(EXIT_CODE);
    }
}
