//! Why a payment provider gave no answer.

use std::time::Duration;

use nyala_core::domain::id::OwnerId;
use nyala_store::db::error::DbError;

/// A question and the storing of its answer must fit into the 5 s that a request may take.
pub const ANSWER_LIMIT: Duration = Duration::from_millis(4500);

/// Why a provider gave no answer that says anything. Contains no key, so it may be logged.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    #[error("no answer within {} ms", ANSWER_LIMIT.as_millis())]
    TimedOut,
    #[error("not reachable: {0}")]
    Unreachable(String),
    #[error("refused with status {status}: {text}")]
    Refused { status: String, text: String },
    #[error("an answer that is not understood: {0}")]
    NotUnderstood(String),
    #[error("there is no key of owner {0} in qris.midtrans_server_keys")]
    NoKey(OwnerId),
    #[error("qris.provider is not {0}")]
    NotInUse(&'static str),
    #[error(transparent)]
    Db(#[from] DbError),
}
