//! Payment providers: one trait, a provider for development and Midtrans.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use nyala_core::bill::ProviderReport;
use nyala_core::domain::id::OwnerId;
use nyala_ledger::bill::{Charge, DueBill};
use nyala_store::db::error::DbError;

use super::notification::{Notification, Signer};

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

/// Takes customers' payments. The futures stay on the calling thread.
pub trait PaymentProvider: Send + Sync {
    /// Whether it has an account of this owner.
    fn serves(&self, owner: OwnerId) -> bool;

    /// Makes the order, which the customer can then pay.
    fn create<'a>(&'a self, bill: &'a DueBill) -> LocalBoxFuture<'a, Result<Charge, ProviderError>>;

    /// The state of the order.
    fn status<'a>(&'a self, bill: &'a DueBill) -> LocalBoxFuture<'a, Result<ProviderReport, ProviderError>>;

    /// Cancels the order, unless it is paid. Gives its state.
    fn cancel<'a>(&'a self, bill: &'a DueBill) -> LocalBoxFuture<'a, Result<ProviderReport, ProviderError>>;

    /// The owner whose key has signed a notification; `None` when no key has.
    fn verify(&self, notification: &Notification) -> Option<Signer>;
}
