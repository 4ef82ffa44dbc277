//! Why PostgreSQL gave no answer.

use tokio_postgres::error::SqlState;

use super::writes;
use crate::admission::Overloaded;

#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// It cannot take it now; later it may. Logged where it was found.
    #[error("the database cannot take it now")]
    Busy,
    /// Too many requests wait for it. Nothing was done.
    #[error("too many requests wait for the database")]
    Overloaded(Overloaded),
    /// A text has a character that the database's encoding does not have.
    #[error("the database cannot store a character of that text")]
    Unstorable,
    /// A defect of ours, or a row that must not be there.
    #[error(transparent)]
    Broken(Box<dyn std::error::Error + Send + Sync>),
}

impl DbError {
    pub fn broken(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Broken(source.into())
    }
}

/// A connection that broke, a lock or a statement that took too long and a database without room mean "later"; everything else
/// that PostgreSQL refuses is a defect of ours.
impl From<tokio_postgres::Error> for DbError {
    fn from(e: tokio_postgres::Error) -> Self {
        let later = match e.code() {
            // Operator intervention (a shutdown, a statement's time-out), insufficient resources, transaction rollback (a
            // deadlock), a lock that was not had, a database that may only be read, a disk that fails: PostgreSQL's error classes.
            Some(code) => ["57", "53", "58", "40", "55P03", "25006", "08"].iter().any(|class| code.code().starts_with(class)),
            None => !is_type_error(&e),
        };
        if writes::cannot_write(&e) {
            writes::failed();
        }
        if matches!(e.code(), Some(&(SqlState::UNTRANSLATABLE_CHARACTER | SqlState::CHARACTER_NOT_IN_REPERTOIRE))) {
            return Self::Unstorable;
        }
        if later {
            tracing::warn!(error = &e as &dyn std::error::Error, "the database cannot take it now");
            Self::Busy
        } else {
            Self::broken(e)
        }
    }
}

/// Whether the error came from converting a value rather than from the connection.
fn is_type_error(e: &tokio_postgres::Error) -> bool {
    let text = e.to_string();
    text.starts_with("error serializing") || text.starts_with("error deserializing") || text.starts_with("query returned")
}

impl From<Overloaded> for DbError {
    fn from(overloaded: Overloaded) -> Self {
        Self::Overloaded(overloaded)
    }
}

impl From<deadpool_postgres::PoolError> for DbError {
    fn from(e: deadpool_postgres::PoolError) -> Self {
        tracing::warn!(error = &e as &dyn std::error::Error, "no database connection");
        Self::Busy
    }
}
