//! What becomes of a bill: its status and the provider's report say which change to commit.

use serde::Serialize;
use utoipa::ToSchema;

use super::ask;
use super::provider::PaymentState;
use crate::domain::timestamp::Timestamp;

/// Status of a bill, as it is stored and in answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
pub enum BillStatus {
    /// Stored; the provider has not answered yet.
    #[serde(rename = "dibuat")]
    Created,
    /// The customer can pay it.
    #[serde(rename = "menunggu")]
    Pending,
    /// Paid and credited.
    #[serde(rename = "dibayar")]
    Paid,
    #[serde(rename = "kedaluwarsa")]
    Expired,
    #[serde(rename = "batal")]
    Cancelled,
    /// Paid, and not credited: its owner decides.
    #[serde(rename = "tertahan")]
    Held,
}

impl BillStatus {
    pub const ALL: [Self; 6] = [Self::Created, Self::Pending, Self::Paid, Self::Expired, Self::Cancelled, Self::Held];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "dibuat",
            Self::Pending => "menunggu",
            Self::Paid => "dibayar",
            Self::Expired => "kedaluwarsa",
            Self::Cancelled => "batal",
            Self::Held => "tertahan",
        }
    }

    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Money has come: the bill is credited or held.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Paid | Self::Held)
    }

    /// The customer may still pay.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Created | Self::Pending)
    }
}

/// Why a payment needs the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldReason {
    OtherAmount,
    OtherCurrency,
    Refunded,
    CustomerDeleted,
}

impl HoldReason {
    /// As it is stored, for the owner.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OtherAmount => "jumlah lain",
            Self::OtherCurrency => "mata uang lain",
            Self::Refunded => "dikembalikan penyedia",
            Self::CustomerDeleted => "pelanggan dihapus",
        }
    }
}

/// What a decision needs of a bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BillFacts {
    pub status: BillStatus,
    /// Rupiah to be paid.
    pub nominal: i64,
    pub expires_at: Timestamp,
}

/// The change to commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BillStep {
    Nothing,
    /// It is paid, on time or late: it becomes a top-up.
    Credit,
    /// Money came that is not credited.
    Hold {
        reason: HoldReason,
        amount: i64,
    },
    /// It is credited, and its owner has to know something.
    Report(HoldReason),
    Become(BillStatus),
}

/// What becomes of a bill whose provider reports `reported`.
pub fn decide(bill: BillFacts, reported: PaymentState, now: Timestamp) -> BillStep {
    use BillStatus::{Cancelled, Created, Expired, Held, Paid, Pending};
    let become_if_open = |status| if bill.status.is_open() { BillStep::Become(status) } else { BillStep::Nothing };
    match (bill.status, reported) {
        (Paid, PaymentState::Refunded { .. }) => BillStep::Report(HoldReason::Refunded),
        (Paid | Held, _) => BillStep::Nothing,
        (_, PaymentState::Paid { amount, in_rupiah: false }) => BillStep::Hold { reason: HoldReason::OtherCurrency, amount },
        (_, PaymentState::Paid { amount, .. }) if amount != bill.nominal => {
            BillStep::Hold { reason: HoldReason::OtherAmount, amount }
        }
        (_, PaymentState::Paid { .. }) => BillStep::Credit,
        (_, PaymentState::Refunded { amount }) => BillStep::Hold { reason: HoldReason::Refunded, amount },
        (_, PaymentState::Expired) => become_if_open(Expired),
        (_, PaymentState::Cancelled) => become_if_open(Cancelled),
        // The order is perhaps on its way. After the expiry it cannot be paid.
        (Created | Pending, PaymentState::Unknown) if bill.expires_at <= now => BillStep::Become(Expired),
        (Created | Pending, PaymentState::Pending) if ask::is_over(bill.expires_at, now) => BillStep::Become(Expired),
        (_, PaymentState::Unknown | PaymentState::Pending) => BillStep::Nothing,
    }
}

/// Whether a bill and its provider disagree about money.
pub fn differs(status: BillStatus, nominal: i64, reported: PaymentState) -> bool {
    match (status, reported) {
        (BillStatus::Paid, PaymentState::Paid { amount, in_rupiah }) => amount != nominal || !in_rupiah,
        (BillStatus::Paid | BillStatus::Held, _) | (_, PaymentState::Paid { .. } | PaymentState::Refunded { .. }) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use BillStatus::{Cancelled, Created, Expired, Held, Paid, Pending};

    const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);
    const MINUTE: i64 = 60_000;

    fn decided(status: BillStatus, expires_in_ms: i64, reported: PaymentState) -> BillStep {
        decide(BillFacts { status, nominal: 50_000, expires_at: NOW.plus_ms(expires_in_ms) }, reported, NOW)
    }

    #[test]
    fn who_has_paid_the_amount_is_credited_once_late_or_not() {
        let paid = PaymentState::Paid { amount: 50_000, in_rupiah: true };
        for status in [Created, Pending, Expired, Cancelled] {
            for expires_in_ms in [MINUTE, -MINUTE, -600 * MINUTE] {
                assert_eq!(decided(status, expires_in_ms, paid), BillStep::Credit, "{status:?}");
            }
        }
        for status in [Paid, Held] {
            assert_eq!(decided(status, MINUTE, paid), BillStep::Nothing, "{status:?}");
        }
    }

    #[test]
    fn another_sum_and_a_refund_are_for_the_owner() {
        let refunded = PaymentState::Refunded { amount: 50_000 };
        for status in [Created, Pending, Expired, Cancelled] {
            for (amount, in_rupiah, reason) in [
                (49_999, true, HoldReason::OtherAmount),
                (50_001, true, HoldReason::OtherAmount),
                (0, true, HoldReason::OtherAmount),
                (50_000, false, HoldReason::OtherCurrency),
            ] {
                let step = decided(status, MINUTE, PaymentState::Paid { amount, in_rupiah });
                assert_eq!(step, BillStep::Hold { reason, amount }, "{status:?} {amount}");
            }
            let held = BillStep::Hold { reason: HoldReason::Refunded, amount: 50_000 };
            assert_eq!(decided(status, MINUTE, refunded), held, "{status:?}");
        }
        assert_eq!(decided(Paid, MINUTE, refunded), BillStep::Report(HoldReason::Refunded));
        assert_eq!(decided(Held, MINUTE, refunded), BillStep::Nothing);
    }

    #[test]
    fn an_end_without_a_payment_ends_an_open_bill_only() {
        for (reported, end) in [(PaymentState::Expired, Expired), (PaymentState::Cancelled, Cancelled)] {
            for status in BillStatus::ALL {
                let expected = if status.is_open() { BillStep::Become(end) } else { BillStep::Nothing };
                assert_eq!(decided(status, MINUTE, reported), expected, "{status:?} {reported:?}");
            }
        }
    }

    #[test]
    fn a_bill_agrees_with_its_provider_when_both_have_it_as_paid_or_neither() {
        let paid = |amount| PaymentState::Paid { amount, in_rupiah: true };
        for status in BillStatus::ALL {
            assert_eq!(differs(status, 50_000, paid(50_000)), status != Paid, "{status:?}");
            assert!(differs(status, 50_000, paid(1)), "{status:?}");
            assert!(differs(status, 50_000, PaymentState::Refunded { amount: 50_000 }), "{status:?}");
            for unpaid in [PaymentState::Unknown, PaymentState::Pending, PaymentState::Expired, PaymentState::Cancelled] {
                assert_eq!(differs(status, 50_000, unpaid), status.is_final(), "{status:?} {unpaid:?}");
            }
        }
    }

    #[test]
    fn a_bill_that_nobody_pays_ends_at_its_expiry() {
        let expired = BillStep::Become(Expired);
        for status in [Created, Pending] {
            for (expires_in_ms, reported, expected) in [
                (1, PaymentState::Unknown, BillStep::Nothing),
                (0, PaymentState::Unknown, expired),
                (-14 * MINUTE, PaymentState::Pending, BillStep::Nothing),
                (-15 * MINUTE, PaymentState::Pending, expired),
            ] {
                assert_eq!(decided(status, expires_in_ms, reported), expected, "{status:?} {expires_in_ms} {reported:?}");
            }
        }
    }
}
