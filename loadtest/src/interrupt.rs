//! Ctrl-C: the first one ends the measurement and keeps its results, the second one ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

/// Exit code after Ctrl-C.
const EXIT_INTERRUPTED: i32 = 130;

#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<(AtomicBool, Notify)>);

impl Interrupt {
    /// Listens for Ctrl-C from now on. Must be called within a runtime.
    ///
    /// # Errors
    /// When the system allows no listener for signals.
    pub fn listen() -> Result<Self, String> {
        let interrupt = Self::default();
        let flag = interrupt.clone();
        // Registered here, because the task may start later.
        let mut ctrl_c = signal(SignalKind::interrupt()).map_err(|e| format!("cannot listen for Ctrl-C: {e}"))?;
        tokio::spawn(async move {
            while ctrl_c.recv().await.is_some() {
                if flag.0.0.swap(true, Ordering::SeqCst) {
                    std::process::exit(EXIT_INTERRUPTED);
                }
                flag.0.1.notify_waiters();
            }
        });
        Ok(interrupt)
    }

    pub fn came(&self) -> bool {
        self.0.0.load(Ordering::SeqCst)
    }

    /// Waits for Ctrl-C; returns at once when it has already happened.
    pub async fn wait(&self) {
        let notified = self.0.1.notified();
        if !self.came() {
            notified.await;
        }
    }
}
