//! One-time codes (docs/product.md §9: six digits).

use std::fmt;

use rand::{CryptoRng, Rng};

/// Six digits; hidden from `Debug`.
#[derive(Clone)]
pub struct Otp(String);

impl Otp {
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        Self(format!("{:06}", rng.random_range(0..1_000_000)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Otp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
