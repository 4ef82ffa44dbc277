//! Whole numbers in requests. JSON has one kind of number, and JSON Schema calls 54.0 an integer (2020-12 core, §4.2.3): it is one here.

use std::fmt;

use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::{Deserialize, Serialize};

/// A whole number that a request may leave out or give as null; the range is checked where its meaning is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Whole(#[serde(deserialize_with = "deserialize")] i64);

impl Whole {
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl From<i64> for Whole {
    fn from(value: i64) -> Self {
        Self(value)
    }
}

/// For `#[serde(deserialize_with)]`: a whole number within 64 bits, and within `T`.
pub fn deserialize<'de, D: Deserializer<'de>, T: TryFrom<i64>>(d: D) -> Result<T, D::Error> {
    struct WholeVisitor;
    impl Visitor<'_> for WholeVisitor {
        type Value = i64;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(EXPECTED)
        }
        fn visit_u64<E: Error>(self, v: u64) -> Result<i64, E> {
            i64::try_from(v).map_err(|_| E::invalid_value(Unexpected::Unsigned(v), &EXPECTED))
        }
        fn visit_i64<E: Error>(self, v: i64) -> Result<i64, E> {
            Ok(v)
        }
        fn visit_f64<E: Error>(self, v: f64) -> Result<i64, E> {
            from_f64(v).ok_or_else(|| E::invalid_type(Unexpected::Float(v), &EXPECTED))
        }
    }
    let whole = d.deserialize_any(WholeVisitor)?;
    T::try_from(whole).map_err(|_| D::Error::invalid_value(Unexpected::Signed(whole), &EXPECTED))
}

const EXPECTED: &str = "berupa bilangan bulat";

/// The whole number that `v` is; `None` for a fraction and for what 64 bits do not hold.
pub fn from_f64(v: f64) -> Option<i64> {
    // 2^63, which `f64` holds exactly and `i64` not any more.
    const END: f64 = 9_223_372_036_854_775_808.0;
    (v.fract() == 0.0 && (-END..END).contains(&v)).then_some(v as i64)
}

#[cfg(test)]
mod tests {
    use super::{Whole, deserialize};

    #[derive(serde::Deserialize)]
    struct Few(#[serde(deserialize_with = "deserialize")] u32);

    #[test]
    fn a_number_without_a_fraction_is_whole_however_it_is_written() {
        for (text, whole) in
            [("54", 54), ("54.0", 54), ("5.4e1", 54), ("-0.0", 0), ("-7.0", -7), ("9223372036854775807", i64::MAX)]
        {
            assert_eq!(serde_json::from_str::<Whole>(text).unwrap().get(), whole, "{text}");
        }
        for bad in ["54.5", "1e300", "9223372036854775808", "9223372036854775808.0", "\"54\"", "null", "true", "[54]"] {
            let message = serde_json::from_str::<Whole>(bad).unwrap_err().to_string();
            assert!(message.contains("expected berupa bilangan bulat"), "{bad}: {message}");
        }
    }

    #[test]
    fn it_fits_where_it_goes() {
        assert_eq!(serde_json::from_str::<Few>("7.0").unwrap().0, 7);
        for bad in ["-1", "4294967296"] {
            assert!(serde_json::from_str::<Few>(bad).is_err(), "{bad}");
        }
    }
}
