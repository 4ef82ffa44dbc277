//! The id of a bill, which is the order's id at the provider. It is random: a number could repeat after a restore, and a provider takes each id
//! once.

use std::fmt;

use rand::{CryptoRng, Rng};

const PREFIX: &str = "NYL";
const RANDOM_CHARS: usize = 20;
const ALPHABET: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// `NYL` and 20 of 0-9A-Z.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BillId(String);

impl BillId {
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        let random = (0..RANDOM_CHARS).map(|_| char::from(ALPHABET[rng.random_range(0..ALPHABET.len())]));
        Self(PREFIX.chars().chain(random).collect())
    }

    pub fn parse(text: &str) -> Option<Self> {
        let random = text.strip_prefix(PREFIX)?;
        let is_random = random.len() == RANDOM_CHARS && random.bytes().all(|b| ALPHABET.contains(&b));
        is_random.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::BillId;

    #[test]
    fn an_id_is_random_and_has_one_shape() {
        let [a, b] = [(); 2].map(|()| BillId::random(&mut rand::rng()));
        assert_ne!(a, b);
        assert_eq!(BillId::parse(a.as_str()), Some(a));
        for bad in [
            "",
            "NYL",
            "NYL0123456789abcdefghij",
            "NYL0123456789ABCDEFGHI",
            "NYL0123456789ABCDEFGHIJK",
            "XYL0123456789ABCDEFGHIJ",
        ] {
            assert_eq!(BillId::parse(bad), None, "{bad}");
        }
    }
}
