//! Bills that customers pay by QRIS: what becomes of a bill when its payment provider reports something (docs/money.md, "QRIS"). A bill
//! becomes a top-up by the provider's report only: by a notification, or by the answer to a question.

pub mod ask;
mod id;
mod provider;
mod step;

pub use id::BillId;
pub use provider::{PaymentState, ProviderKind, ProviderReport, QrisMode};
pub use step::{BillFacts, BillStatus, BillStep, HoldReason, decide, differs};

/// The least and the most rupiah of a bill: on a phone, and at a till.
pub const MIN_ON_PHONE: i64 = 10_000;
pub const MIN_AT_TILL: i64 = 1;
pub const MAX_BILL: i64 = 10_000_000;
/// Open bills of a customer's phone at the same time, and bills in an hour.
pub const MAX_OPEN: i64 = 3;
pub const MAX_HOURLY: i64 = 10;
pub const HOUR_MS: i64 = 3_600_000;
