//! Why somebody is not let in, or gets no code.

use nyala_store::db::error::DbError;

#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The token is not ours, has run out, is older than the password, or was logged out with.
    #[error("the session is no good")]
    Unauthorized,
    /// Over a limit, or too many wait.
    #[error("too many tries, the next one in {retry_s} s")]
    TooMany { retry_s: u32 },
    /// WhatsApp did not take it.
    #[error("the code was not sent")]
    CodeNotSent,
    /// Wrong, used, expired or past its tries.
    #[error("the code is no good")]
    OtpInvalid,
    #[error(transparent)]
    Db(#[from] DbError),
    /// A defect of ours.
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
