//! The six-digit PIN of a member of staff.

use rand::{CryptoRng, Rng};
use serde::Deserialize;

use super::code;

const DIGITS: usize = 6;

/// Six digits. `Debug` shows none of them.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Pin([u8; DIGITS]);

impl Pin {
    /// `None` unless it is six digits, of which [`code::characters`] knows more than ASCII's.
    pub fn parse(text: &str) -> Option<Self> {
        let typed: String = code::characters(text).take(DIGITS + 1).collect();
        let digits: [u8; DIGITS] = typed.as_bytes().try_into().ok()?;
        digits.iter().all(u8::is_ascii_digit).then_some(Self(digits))
    }

    /// A first PIN, which is not too easy.
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        loop {
            let pin = Self(std::array::from_fn(|_| rng.random_range(b'0'..=b'9')));
            if !pin.is_too_easy() {
                return pin;
            }
        }
    }

    /// What a thief tries first: one digit repeated, a run up or down, a pair or a triple repeated.
    pub fn is_too_easy(&self) -> bool {
        let steps =
            |by: i16| self.0.windows(2).all(|two| (i16::from(two[1]) - i16::from(two[0])).rem_euclid(10) == by.rem_euclid(10));
        let repeats = |every: usize| self.0.iter().zip(&self.0[every..]).all(|(a, b)| a == b);
        steps(0) || steps(1) || steps(-1) || repeats(2) || repeats(3)
    }

    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl TryFrom<String> for Pin {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("PIN harus 6 angka")
    }
}

impl std::fmt::Debug for Pin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(text: &str) -> Pin {
        Pin::parse(text).unwrap()
    }

    #[test]
    fn a_pin_is_six_digits() {
        for bad in ["", "12345", "1234567", "12345a", "12 456", "१२३४५६"] {
            assert!(Pin::parse(bad).is_none(), "{bad}");
        }
        assert_eq!(pin("246810").as_str(), "246810");
        for same in ["２４６８１０", "٢٤٦٨١٠", "۲۴۶۸۱۰", "\u{200b}246810\r\n"] {
            assert_eq!(pin(same), pin("246810"), "{same}");
        }
        assert_eq!(format!("{:?}", pin("246810")), "***");
    }

    #[test]
    fn easy_ones_are_known() {
        for easy in ["000000", "777777", "123456", "345678", "890123", "654321", "210987", "121212", "909090", "123123", "557557"]
        {
            assert!(pin(easy).is_too_easy(), "{easy}");
        }
        for fine in ["246810", "135791", "112233", "123457", "120012"] {
            assert!(!pin(fine).is_too_easy(), "{fine}");
        }
        assert!(!Pin::random(&mut rand::rng()).is_too_easy());
    }
}
