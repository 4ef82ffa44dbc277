//! One server process owns a database (docs/decisions/0011-one-server-process-owns-a-database.md).

use std::time::Duration;

use tokio::sync::oneshot;
use tokio_postgres::{Client, Config};

use super::hosts::Hosts;

const SERVER_LOCK: i64 = 0x4e59_414c_4102;

/// How often, and how far apart, the lock is tried.
const TRIES: usize = 20;
const TRY_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another `nyala serve` already runs on this database; stop it first")]
    Taken,
    #[error("the database cannot be reached: {0}")]
    Database(#[from] tokio_postgres::Error),
}

/// Holds the lock for as long as it lives, on a connection of its own.
pub struct ServerLock {
    _client: Client,
    lost: oneshot::Receiver<()>,
}

impl ServerLock {
    /// Takes the lock; one whose process has just died is let go of within moments, so it is tried for a while.
    pub async fn wait(config: &Config) -> Result<Self, LockError> {
        for _ in 1..TRIES {
            match Self::take(config).await {
                Ok(lock) => return Ok(lock),
                Err(_) => tokio::time::sleep(TRY_EVERY).await,
            }
        }
        Self::take(config).await
    }

    async fn take(config: &Config) -> Result<Self, LockError> {
        let (client, lost) = connect(config).await?;
        let taken: bool = client.query_one("SELECT pg_try_advisory_lock($1)", &[&SERVER_LOCK]).await?.get(0);
        if taken { Ok(Self { _client: client, lost }) } else { Err(LockError::Taken) }
    }

    /// Returns when the connection, and with it the lock, is lost.
    pub async fn lost(&mut self) {
        let _ = (&mut self.lost).await;
    }
}

/// A connection outside every pool, and a signal for its end.
pub async fn connect(config: &Config) -> Result<(Client, oneshot::Receiver<()>), tokio_postgres::Error> {
    let (client, line) = Hosts::of(config).connect().await?;
    let (ended, lost) = oneshot::channel();
    tokio::spawn(async move {
        let _ = line.await;
        let _ = ended.send(());
    });
    Ok((client, lost))
}
