//! Database ids: JSON numbers in answers, numbers or decimal strings in requests (docs/contract.md §1).

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use super::whole;

/// The most digits an id has: nineteen may be past 64 bits.
pub const MAX_DIGITS: usize = 18;

/// A positive database id of at most [`MAX_DIGITS`] digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Id(i64);

impl Id {
    /// No machine, outlet or customer will ever have it.
    pub const MAX: Self = Self(999_999_999_999_999_999);

    pub const fn get(self) -> i64 {
        self.0
    }

    /// `None` unless `text` is a plain positive decimal number that is no larger than [`Id::MAX`].
    pub fn parse(text: &str) -> Option<Self> {
        let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|_| plain).and_then(Self::of)
    }

    fn of(n: i64) -> Option<Self> {
        (1..=Self::MAX.0).contains(&n).then_some(Self(n))
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct IdVisitor;
        impl Visitor<'_> for IdVisitor {
            type Value = Id;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("id berupa bilangan bulat positif")
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Id, E> {
                i64::try_from(v).ok().and_then(Id::of).ok_or_else(|| E::custom("id harus bilangan bulat positif"))
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Id, E> {
                u64::try_from(v).map_err(|_| E::custom("id harus bilangan bulat positif")).and_then(|v| self.visit_u64(v))
            }
            fn visit_f64<E: de::Error>(self, v: f64) -> Result<Id, E> {
                whole::from_f64(v).and_then(Id::of).ok_or_else(|| E::invalid_type(de::Unexpected::Float(v), &self))
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Id, E> {
                Id::parse(v).ok_or_else(|| E::custom("id harus bilangan bulat positif"))
            }
        }
        d.deserialize_any(IdVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::Id;

    #[test]
    fn a_number_and_a_string_are_the_same_id() {
        assert_eq!(serde_json::from_str::<Id>("7").unwrap(), serde_json::from_str::<Id>("\"7\"").unwrap());
        assert_eq!(serde_json::from_str::<Id>("7.0").unwrap(), serde_json::from_str::<Id>("\"007\"").unwrap());
        assert_eq!(Id::parse("999999999999999999"), Some(Id::MAX));
        for bad in [
            "0",
            "-1",
            "1.5",
            "\"\"",
            "\"+7\"",
            "\"7 \"",
            "null",
            "1000000000000000000",
            "\"1000000000000000000\"",
            "1e18",
            "true",
        ] {
            assert!(serde_json::from_str::<Id>(bad).is_err(), "{bad}");
        }
    }
}
