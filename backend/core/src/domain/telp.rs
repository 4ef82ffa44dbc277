//! WhatsApp numbers, parsed once (docs/contract.md §1).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::id::CustomerId;
use super::whole::Whole;
use crate::domain::error::DomainError;

/// The only country code there is (docs/product.md §9).
pub const COUNTRY_CODE: &str = "62";

/// A number without its country code, as it is stored: `81234567890`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Telp(String);

impl Telp {
    /// Takes `81234567890`, `081234567890`, `6281234567890` and `+62…`, with blanks, dots and dashes anywhere.
    pub fn parse(text: &str) -> Result<Self, DomainError> {
        let bad = || DomainError::malformed("telp harus nomor WhatsApp Indonesia, misalnya 81234567890");
        let bare: String = text.chars().filter(|c| !matches!(c, ' ' | '-' | '.')).collect();
        let national = if let Some(rest) = bare.strip_prefix('+') {
            rest.strip_prefix(COUNTRY_CODE).ok_or_else(bad)?
        } else if let Some(rest) = bare.strip_prefix('0') {
            rest
        } else {
            bare.strip_prefix(COUNTRY_CODE).unwrap_or(&bare)
        };
        let digits = national.bytes().all(|b| b.is_ascii_digit());
        // A national number that begins like the country code would read as another one when it comes back without a prefix. None begins with
        // 1: such numbers are given to customers who have none any more (`of_nobody`).
        let plain = !national.starts_with(['0', '1']) && !national.starts_with(COUNTRY_CODE);
        if digits && plain && (7..=13).contains(&national.len()) { Ok(Self(national.to_owned())) } else { Err(bad()) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// With the country code and no plus: `6281234567890`.
    pub fn full(&self) -> String {
        format!("{COUNTRY_CODE}{}", self.0)
    }

    /// As it is shown at a counter: at most the first three digits, and the last four.
    pub fn masked(&self) -> String {
        // A short number shows fewer, so that three are hidden always.
        let (head, tail) = (self.0.len().saturating_sub(7).min(3), self.0.len().saturating_sub(4));
        format!("0{}••••{}", &self.0[..head], &self.0[tail..])
    }

    /// The number of a customer who was deleted or has moved. It begins with 1, so `parse` refuses it, and no phone has it.
    pub fn of_nobody(id: CustomerId) -> Self {
        Self(format!("1{:012}", id.get() % 1_000_000_000_000))
    }

    /// A number read back from the database, which accepted only parsed ones.
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Telp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Telp {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// `country_code` of a request: `62`, as text or as a number, and nothing else (docs/contract.md §1).
#[derive(Debug, Clone, Copy)]
pub struct CountryCode;

impl<'de> Deserialize<'de> for CountryCode {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "country_code harus 62")]
        enum Raw {
            Number(Whole),
            Text(String),
        }
        let right = match Raw::deserialize(d)? {
            Raw::Number(n) => n.get().to_string() == COUNTRY_CODE,
            Raw::Text(t) => t.strip_prefix('+').unwrap_or(&t) == COUNTRY_CODE,
        };
        if right { Ok(Self) } else { Err(serde::de::Error::custom("country_code harus 62")) }
    }
}

#[cfg(test)]
mod tests {
    use super::{CountryCode, CustomerId, Telp};

    #[test]
    fn the_country_code_is_62() {
        for good in ["\"62\"", "62", "62.0", "\"+62\""] {
            assert!(serde_json::from_str::<CountryCode>(good).is_ok(), "{good}");
        }
        for bad in ["\"1\"", "63", "null", "\"\"", "[62]", "62.5", "-62"] {
            assert!(serde_json::from_str::<CountryCode>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_written_form_is_one_number() {
        for text in ["81234567890", "081234567890", "6281234567890", "+6281234567890", "+62 812-3456-7890"] {
            assert_eq!(Telp::parse(text).unwrap().as_str(), "81234567890", "{text}");
        }
        assert_eq!(Telp::parse("0812345678").unwrap().full(), "62812345678");
    }

    #[test]
    fn a_counter_shows_its_ends() {
        for (text, shown) in [("81234567890", "0812••••7890"), ("2112345", "0••••2345"), ("21123456", "02••••3456")]
        {
            assert_eq!(Telp::parse(text).unwrap().masked(), shown);
        }
    }

    #[test]
    fn the_number_of_nobody_is_no_number() {
        for (id, text) in [(7, "1000000000007"), (7_000_000_000_123, "1000000000123")] {
            let telp = Telp::of_nobody(CustomerId::new(id));
            assert_eq!(telp.as_str(), text);
            assert!(Telp::parse(telp.as_str()).is_err());
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "",
            "0",
            "62",
            "+1 5551234567",
            "812345",
            "8123456789012345",
            "81234abc890",
            "008123456789",
            "06281234567",
            "+626281234567",
            "8１２３４５６７８９０",
            "1234567890",
            "01234567890",
        ] {
            assert!(Telp::parse(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_was_parsed_reads_back_as_itself_in_every_form(text in "\\PC{0,20}|[+06]{0,2}[0-9 .-]{5,16}") {
            if let Ok(telp) = Telp::parse(&text) {
                for form in [telp.to_string(), format!("0{telp}"), telp.full(), format!("+{}", telp.full())] {
                    proptest::prop_assert_eq!(&Telp::parse(&form).unwrap(), &telp, "{}", form);
                }
            }
        }
    }
}
