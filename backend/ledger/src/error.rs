//! Why money does not move.

use nyala_core::domain::error::DomainError;
use nyala_core::domain::rupiah::{self, MaxBalance};
use nyala_store::db::error::DbError;

/// The caller reads these texts; `http::error` knows the status of each.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error(transparent)]
    Value(#[from] DomainError),
    #[error("{0}")]
    NotFound(&'static str),
    /// The state of things forbids it.
    #[error("{0}")]
    Conflict(&'static str),
    /// Understood, and refused for what it asks.
    #[error("{0}")]
    Unprocessable(&'static str),
    #[error("saldo paling banyak {}", rupiah::text(.0.get()))]
    OverMaxBalance(MaxBalance),
    #[error(transparent)]
    Db(#[from] DbError),
}

impl LedgerError {
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Db(DbError::broken(source))
    }
}

impl From<tokio_postgres::Error> for LedgerError {
    fn from(e: tokio_postgres::Error) -> Self {
        Self::Db(e.into())
    }
}
