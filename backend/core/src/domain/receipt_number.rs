//! The receipt number, made by the app: the idempotency key of a purchase per customer (docs/contract.md §2).

use serde::{Deserialize, Serialize};

/// `SLF` and fifteen digits (yymmddHHMMSSmmm).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct ReceiptNumber(String);

impl ReceiptNumber {
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("SLF")?;
        (digits.len() == 15 && digits.bytes().all(|b| b.is_ascii_digit())).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The fifteen digits as a number.
    pub fn digits(&self) -> u64 {
        self.0.bytes().filter(u8::is_ascii_digit).fold(0, |n, digit| n * 10 + u64::from(digit - b'0'))
    }
}

impl<'de> Deserialize<'de> for ReceiptNumber {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("nomor nota harus SLF diikuti 15 angka"))
    }
}

#[cfg(test)]
mod tests {
    use super::ReceiptNumber;

    #[test]
    fn only_slf_and_fifteen_digits() {
        assert_eq!(ReceiptNumber::parse("SLF261120180530123").map(|receipt| receipt.digits()), Some(261_120_180_530_123));
        for bad in [
            "",
            "SLF",
            "slf261120180530123",
            "SLF26112018053012",
            "SLF2611201805301234",
            "SLF26112018053012x",
            "SLF２61120180530123",
        ] {
            assert!(ReceiptNumber::parse(bad).is_none(), "{bad}");
        }
    }
}
