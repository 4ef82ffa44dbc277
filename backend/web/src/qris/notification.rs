//! What a provider notifies about an order, in Midtrans' form, and its signature
//! (docs.midtrans.com, "HTTP notification / Webhooks").

use nyala_core::bill::{PaymentState, ProviderReport};
use nyala_core::domain::id::OwnerId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha512};
use utoipa::ToSchema;

use super::error::ProviderError;

/// The largest notification.
pub const MAX_BYTES: usize = 16 * 1024;

const PAID: &str = "settlement";
const OK: &str = "200";
const RUPIAH: &str = "IDR";

/// A notification, and likewise the answer to a question. The signature covers `order_id`, `status_code` and `gross_amount` alone.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct Notification {
    pub order_id: String,
    pub status_code: String,
    pub gross_amount: String,
    pub transaction_status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    #[serde(default)]
    pub signature_key: String,
}

/// Whose key has signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signer {
    Owner(OwnerId),
    /// The only key, of the only owner.
    AnyOwner,
}

impl Notification {
    /// Whether `key` has signed it. Takes the same time for each wrong signature.
    pub fn is_signed_by(&self, key: &str) -> bool {
        let expected = signature(&self.order_id, &self.status_code, &self.gross_amount, key);
        let given = self.signature_key.to_ascii_lowercase();
        let differs = expected.bytes().zip(given.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
        given.len() == expected.len() && differs == 0
    }

    /// Whether it says that the order can be paid, which changes nothing.
    pub fn is_pending(&self) -> bool {
        self.transaction_status == "pending"
    }

    /// Whether it claims that money has come: what is in no bill is then kept.
    pub fn claims_payment(&self) -> bool {
        self.transaction_status == PAID && self.status_code == OK
    }

    /// The report, as far as the signature vouches for it: of a payment alone. The provider is asked about everything else.
    pub fn vouched(&self) -> Option<ProviderReport> {
        let is_rupiah = self.currency.as_deref().is_none_or(|currency| currency == RUPIAH);
        let report = self.report().ok()?;
        (self.claims_payment() && is_rupiah).then_some(report)
    }

    /// The report of an answer that comes from the provider itself.
    ///
    /// # Errors
    /// When it says nothing that is known.
    pub fn report(&self) -> Result<ProviderReport, ProviderError> {
        let (status, code) = (self.transaction_status.as_str(), self.status_code.as_str());
        let not_understood = || ProviderError::NotUnderstood(format!("{status} with status code {code}"));
        let state = match status {
            PAID if code == OK => {
                let (amount, is_whole) = rupiah(&self.gross_amount).ok_or_else(not_understood)?;
                PaymentState::Paid {
                    amount,
                    in_rupiah: is_whole && self.currency.as_deref().is_none_or(|currency| currency == RUPIAH),
                }
            }
            "pending" => PaymentState::Pending,
            "expire" => PaymentState::Expired,
            "cancel" | "deny" | "failure" => PaymentState::Cancelled,
            "refund" | "partial_refund" | "chargeback" | "partial_chargeback" => {
                PaymentState::Refunded { amount: rupiah(&self.gross_amount).ok_or_else(not_understood)?.0 }
            }
            _ => return Err(not_understood()),
        };
        Ok(ProviderReport { state, reference: self.transaction_id.clone() })
    }
}

/// The hexadecimal SHA-512 of the three fields and the key.
pub fn signature(order_id: &str, status_code: &str, gross_amount: &str, key: &str) -> String {
    let digest = [order_id, status_code, gross_amount, key].iter().fold(Sha512::new(), |sha, part| sha.chain_update(part));
    digest.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

/// Rupiah of an amount such as `50000.00`, and whether it has no part of one.
fn rupiah(text: &str) -> Option<(i64, bool)> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    (is_plain(whole) && is_plain(part)).then_some(())?;
    Some((whole.parse().ok()?, part.bytes().all(|b| b == b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notification(transaction_status: &str, status_code: &str) -> Notification {
        Notification {
            order_id: "NYL0123456789ABCDEFGHIJ".to_owned(),
            status_code: status_code.to_owned(),
            gross_amount: "50000.00".to_owned(),
            transaction_status: transaction_status.to_owned(),
            transaction_id: None,
            currency: Some(RUPIAH.to_owned()),
            signature_key: String::new(),
        }
    }

    #[test]
    fn the_signature_is_of_three_fields_and_the_key() {
        // printf %s NYL0123456789ABCDEFGHIJ20050000.00key | sha512sum
        let expected = signature("NYL0123456789ABCDEFGHIJ", "200", "50000.00", "key");
        assert_eq!(expected, signature("NYL0123456789ABCDEFGHIJ20", "0", "50000.00", "key"), "the fields are joined");
        let mut signed = notification(PAID, OK);
        signed.signature_key = expected.to_uppercase();
        assert!(signed.is_signed_by("key"));
        assert!(!signed.is_signed_by("other"));
        for change in [
            |n: &mut Notification| n.order_id.push('X'),
            |n: &mut Notification| n.status_code = "201".to_owned(),
            |n: &mut Notification| n.gross_amount = "50000.0".to_owned(),
            |n: &mut Notification| n.signature_key.clear(),
            |n: &mut Notification| _ = n.signature_key.pop(),
            |n: &mut Notification| n.signature_key.push('0'),
        ] {
            let mut forged = signed.clone();
            change(&mut forged);
            assert!(!forged.is_signed_by("key"), "{forged:?}");
        }
    }

    #[test]
    fn only_a_settlement_with_status_200_in_rupiah_is_vouched_for() {
        let paid = PaymentState::Paid { amount: 50_000, in_rupiah: true };
        assert_eq!(notification(PAID, OK).vouched().map(|report| report.state), Some(paid));
        for (status, code) in [(PAID, "201"), (PAID, "202"), ("capture", OK), ("expire", "407"), ("cancel", OK), ("refund", OK)] {
            assert_eq!(notification(status, code).vouched(), None, "{status} {code}");
        }
        let foreign = Notification { currency: Some("USD".to_owned()), ..notification(PAID, OK) };
        assert_eq!(foreign.vouched(), None, "the currency is not signed");
        let state = foreign.report().map(|report| report.state).unwrap();
        assert_eq!(state, PaymentState::Paid { amount: 50_000, in_rupiah: false });
    }

    #[test]
    fn each_answer_is_understood_or_refused() {
        for (status, code, state) in [
            ("pending", "201", Some(PaymentState::Pending)),
            ("expire", "407", Some(PaymentState::Expired)),
            ("cancel", "202", Some(PaymentState::Cancelled)),
            ("deny", "202", Some(PaymentState::Cancelled)),
            ("refund", "200", Some(PaymentState::Refunded { amount: 50_000 })),
            (PAID, "201", None),
            ("capture", "200", None),
            ("", "200", None),
        ] {
            assert_eq!(notification(status, code).report().ok().map(|report| report.state), state, "{status} {code}");
        }
        for (text, expected) in [
            ("50000.00", Some((50_000, true))),
            ("50000", Some((50_000, true))),
            ("50000.50", Some((50_000, false))),
            ("-1", None),
            ("", None),
            ("5e4", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(rupiah(text), expected, "{text:?}");
        }
    }
}
