//! WhatsApp numbers, parsed once (contract §1).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::http::error::AppError;

/// The only country code there is (product §9).
pub const COUNTRY_CODE: &str = "62";

/// A number without its country code, as it is stored: `81234567890`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Telp(String);

impl Telp {
    /// Takes `81234567890`, `081234567890`, `6281234567890` and `+62…`, with blanks, dots and dashes between the digits.
    pub fn parse(text: &str) -> Result<Self, AppError> {
        let bad = || AppError::bad_input("telp harus nomor WhatsApp Indonesia, misalnya 81234567890");
        if text.len() > 32 {
            return Err(bad());
        }
        let bare: String = text.chars().filter(|c| !matches!(c, ' ' | '-' | '.')).collect();
        let national = if let Some(rest) = bare.strip_prefix('+') {
            rest.strip_prefix(COUNTRY_CODE).ok_or_else(bad)?
        } else if let Some(rest) = bare.strip_prefix('0') {
            rest
        } else {
            bare.strip_prefix(COUNTRY_CODE).unwrap_or(&bare)
        };
        let digits = national.bytes().all(|b| b.is_ascii_digit());
        if digits && (7..=13).contains(&national.len()) && !national.starts_with('0') {
            Ok(Self(national.to_owned()))
        } else {
            Err(bad())
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// With the country code and no plus: `6281234567890`.
    pub fn full(&self) -> String {
        format!("{COUNTRY_CODE}{}", self.0)
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

#[cfg(test)]
mod tests {
    use super::Telp;

    #[test]
    fn every_written_form_is_one_number() {
        for text in ["81234567890", "081234567890", "6281234567890", "+6281234567890", "+62 812-3456-7890"] {
            assert_eq!(Telp::parse(text).unwrap().as_str(), "81234567890", "{text}");
        }
        assert_eq!(Telp::parse("0812345678").unwrap().full(), "62812345678");
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "0", "62", "+1 5551234567", "812345", "8123456789012345", "81234abc890", "008123456789", "8１２３４５６７８９０"] {
            assert!(Telp::parse(text).is_err(), "{text}");
        }
    }
}
