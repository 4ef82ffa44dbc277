//! One-time codes (docs/product.md §9: six digits).

use std::fmt;

use rand::Rng;

/// Six digits from the operating system's seeded generator; hidden from `Debug`.
#[derive(Clone)]
pub struct Otp(String);

impl Otp {
    pub fn random() -> Self {
        Self(format!("{:06}", rand::rng().random_range(0..1_000_000)))
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
