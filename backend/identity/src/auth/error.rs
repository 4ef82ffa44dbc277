//! Why a login or a code is refused.

use nyala_store::db::error::DbError;

#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The token is not ours, has expired, is older than the password, or was logged out.
    #[error("the session is no good")]
    Unauthorized,
    /// A limit is reached, or too many requests wait.
    #[error("too many tries, the next one in {retry_s} s")]
    TooMany { retry_s: u32 },
    /// WhatsApp did not accept the message.
    #[error("the code was not sent")]
    CodeNotSent,
    /// Wrong, used, expired or without attempts left.
    #[error("the code is no good")]
    OtpInvalid,
    #[error(transparent)]
    Db(#[from] DbError),
    /// A defect in the server.
    #[error(transparent)]
    Broken(Box<dyn std::error::Error + Send + Sync>),
}

impl AuthError {
    pub fn broken(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Broken(source.into())
    }
}

impl From<tokio_postgres::Error> for AuthError {
    fn from(e: tokio_postgres::Error) -> Self {
        Self::Db(e.into())
    }
}
