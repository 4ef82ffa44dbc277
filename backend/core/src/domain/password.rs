//! A new password (docs/contract.md §1).

use unicode_normalization::UnicodeNormalization;

use crate::domain::error::DomainError;
use crate::domain::secret::Secret;

const MIN_CHARS: usize = 8;
const MAX_CHARS: usize = 128;

/// 8 to 128 characters; which ones is the customer's choice (docs/product.md §9: upper case, lower case and digits are advice).
#[derive(Debug, Clone)]
pub struct Password(Secret);

impl Password {
    /// 422 below 8 and above 128 characters, as they are once [`composed`].
    pub fn parse(text: &str) -> Result<Self, DomainError> {
        let text = composed(text);
        // The contract has one sentence for both ends.
        if (MIN_CHARS..=MAX_CHARS).contains(&text.chars().count()) { Ok(Self(text)) } else { Err(DomainError::PasswordTooShort) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The form of `text` that is counted and hashed (Unicode's NFC), whatever a keyboard makes of `é`.
pub fn composed(text: &str) -> Secret {
    Secret::new(text.nfc().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_to_128_characters_not_bytes() {
        let parse = |text: &str| Password::parse(text).map_err(|e| e.to_string());
        for good in ["12345678", "kata sandi", "🔑🔑🔑🔑🔑🔑🔑🔑", &"ä".repeat(128), &"a\u{308}".repeat(128)] {
            assert!(parse(good).is_ok(), "{good}");
        }
        for bad in ["", "1234567", "🔑🔑🔑🔑🔑🔑🔑", &"a\u{308}".repeat(7), &"a".repeat(129)] {
            assert_eq!(parse(bad).unwrap_err(), "kata sandi minimal 8 karakter");
        }
    }
}
