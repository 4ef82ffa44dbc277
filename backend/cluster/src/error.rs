//! Errors of membership in a cluster.

use nyala_core::domain::id::MachineId;
use nyala_store::db::error::DbError;

#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error(transparent)]
    Database(#[from] DbError),
    #[error(
        "machine {idmesin} has the driver \"sim\", whose devices live in one server's memory; with cluster.enabled every machine needs \
         the driver \"mqtt\""
    )]
    Simulated { idmesin: MachineId },
    #[error("another server is called \"{name}\" and lives; give each a cluster.name of its own")]
    NameTaken { name: String },
    #[error("this server is no longer known to the others: its row in `node` is gone")]
    Forgotten,
}

impl From<tokio_postgres::Error> for ClusterError {
    fn from(e: tokio_postgres::Error) -> Self {
        Self::Database(e.into())
    }
}
