//! Payment providers: one trait, a provider for development and Midtrans.

use futures_util::future::LocalBoxFuture;
use nyala_core::bill::ProviderReport;
use nyala_core::domain::id::OwnerId;
use nyala_ledger::bill::{Charge, DueBill};

use super::error::ProviderError;
use super::notification::{Notification, Signer};

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
