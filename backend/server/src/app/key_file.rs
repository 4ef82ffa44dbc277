//! Follows `secrets.toml` while the server runs: a command rotates keys beside it, and in a cluster the file is copied from another server.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nyala_store::db::keys::{self, KeysError};
use nyala_store::secrets::Secrets;
use tokio::signal::unix::Signal;
use tokio::time::{MissedTickBehavior, interval};

use super::AppState;

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The file as it was last read.
pub struct KeyFile {
    last: Option<Stamp>,
    /// The keys in use are not stored in the database yet.
    is_unannounced: bool,
}

/// Changes with each write of a file: one that is written beside and renamed has another number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    modified: (i64, i64),
    bytes: u64,
}

impl Stamp {
    fn of(data_dir: &Path) -> Option<Self> {
        let meta = std::fs::metadata(Secrets::file(data_dir)).ok()?;
        Some(Self { inode: meta.ino(), modified: (meta.mtime(), meta.mtime_nsec()), bytes: meta.size() })
    }
}

impl KeyFile {
    /// The file of a server that starts. It is read again, because it may have changed since.
    ///
    /// # Errors
    /// Why the file is refused.
    pub async fn of(state: &AppState) -> Result<Self, KeysError> {
        let mut file = Self { last: None, is_unannounced: true };
        file.look(state, true).await?;
        Ok(file)
    }

    /// Runs until the process ends. `reload` is SIGHUP.
    pub async fn follow_loop(mut self, state: Arc<AppState>, mut reload: Signal) {
        let mut every = interval(LOOK_EVERY);
        every.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_forced = tokio::select! {
                _ = every.tick() => false,
                Some(()) = reload.recv() => true,
            };
            let unanswered = match self.look(&state, is_forced).await {
                Ok(()) => continue,
                Err(KeysError::Database(e)) => e.to_string(),
                Err(KeysError::Change(e)) => e.to_string(),
                Err(e) => {
                    tracing::error!(error = %e, "secrets.toml is refused, the keys from before stay in use");
                    continue;
                }
            };
            tracing::warn!(error = unanswered, "secrets.toml cannot be compared with the database, retrying");
        }
    }

    /// Reads the file again when it has changed, or on SIGHUP.
    async fn look(&mut self, state: &AppState, is_forced: bool) -> Result<(), KeysError> {
        let stamp = Stamp::of(&state.config.data.dir);
        if stamp != self.last || is_forced {
            // A refused file is read again when it changes; without an answer of the database, at the next look.
            let read = self.read(state).await;
            self.last = stamp.filter(|_| !matches!(read, Err(KeysError::Database(_) | KeysError::Change(_))));
            read?;
        }
        if self.is_unannounced && !state.config.cluster.enabled {
            keys::set_loaded(&***state.store.get().await?, &state.keyring.get()).await?;
            self.is_unannounced = false;
        }
        Ok(())
    }

    async fn read(&mut self, state: &AppState) -> Result<(), KeysError> {
        let mut client = state.store.get().await?;
        let secrets = keys::reload(&mut client, &state.config.data.dir).await?;
        self.is_unannounced = true;
        if secrets.fingerprint() != state.keyring.get().fingerprint() {
            let good = secrets.good_kids().into_iter().map(|(what, kids)| {
                let kids: Vec<String> = kids.iter().map(ToString::to_string).collect();
                format!("{} {}", what.as_str(), kids.join(" "))
            });
            tracing::info!(keys = good.collect::<Vec<_>>().join(", "), "secrets.toml has changed, its keys are used from now on");
            state.keyring.replace(secrets);
        }
        Ok(())
    }
}
