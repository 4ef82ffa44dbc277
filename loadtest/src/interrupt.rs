//! Ctrl-C: the first one ends the measurement with what there is, the second one the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

/// Exit code of a program that Ctrl-C ended.
const EXIT_INTERRUPTED: i32 = 130;

#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<(AtomicBool, Notify)>);

impl Interrupt {
    /// Listens for Ctrl-C from now on; within a runtime.
    ///
    /// # Errors
    /// When the system lets nobody listen.
    pub fn listen() -> Result<Self, String> {
        let interrupt = Self::default();
        let told = interrupt.clone();
        // Here and not in the task, which runs when it has its first turn.
        let mut ctrl_c = signal(SignalKind::interrupt()).map_err(|e| format!("cannot listen for Ctrl-C: {e}"))?;
        tokio::spawn(async move {
            while ctrl_c.recv().await.is_some() {
                if told.0.0.swap(true, Ordering::SeqCst) {
                    std::process::exit(EXIT_INTERRUPTED);
                }
                told.0.1.notify_waiters();
            }
        });
        Ok(interrupt)
    }

    pub fn came(&self) -> bool {
        self.0.0.load(Ordering::SeqCst)
    }

    /// Comes back when Ctrl-C came, at once when it already did.
    pub async fn wait(&self) {
        let notified = self.0.1.notified();
        if !self.came() {
            notified.await;
        }
    }
}
