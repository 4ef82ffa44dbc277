//! Reasons why a push cannot be sent.

use nyala_store::db::error::DbError;

#[derive(Debug, thiserror::Error)]
pub enum PushError {
    #[error("the key that pushes are signed with cannot be made")]
    Key,
    #[error("a push cannot be signed: {0}")]
    Signature(#[from] jsonwebtoken::errors::Error),
    #[error("a push cannot be encrypted: {0}")]
    Encryption(#[from] web_push_native::Error),
    #[error("a push cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Db(#[from] DbError),
}

impl From<tokio_postgres::Error> for PushError {
    fn from(e: tokio_postgres::Error) -> Self {
        Self::Db(e.into())
    }
}
