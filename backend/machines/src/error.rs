//! Errors of sending to a machine or querying it.

use nyala_store::db::error::DbError;

#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    #[error("there is no such machine")]
    NotFound,
    /// Its mailbox is full, or its thread is ending.
    #[error("the machine takes no more now")]
    Busy,
    #[error(transparent)]
    Db(#[from] DbError),
}

impl From<tokio_postgres::Error> for MachineError {
    fn from(e: tokio_postgres::Error) -> Self {
        Self::Db(e.into())
    }
}
