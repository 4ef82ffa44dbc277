//! PostgreSQL, the only truth (docs/decisions/0001-postgresql-is-the-only-truth.md).

pub mod audit;
pub mod clock;
pub mod error;
pub mod history;
pub mod hosts;
pub mod instance;
pub mod keys;
pub mod late_clock;
pub mod lock;
pub mod migrate;
pub mod pool;
pub mod profile;
pub mod prune;
pub mod session;
mod slots;
pub mod source;
mod url;
pub mod writes;

use crate::clock::Clock;
use error::DbError;
use nyala_core::domain::timestamp::Timestamp;
use pool::{Db, DbClient};

/// The database, and the clock that every instant in it comes from. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pub db: Db,
    pub clock: Clock,
}

impl Store {
    /// A connection of this thread.
    ///
    /// # Errors
    /// `Busy` when none comes free in time.
    pub async fn get(&self) -> Result<DbClient, DbError> {
        self.db.get().await
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
