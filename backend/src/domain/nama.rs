//! A customer's name (contract §1).

use crate::http::error::AppError;

/// The longest name kept, in characters.
const MAX_CHARS: usize = 100;

/// A name of at least two words: the first is `nama_awal`, the rest `nama_akhir`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nama {
    pub awal: String,
    pub akhir: String,
}

impl Nama {
    /// Trims and collapses blanks. 422 `Nama Akun Minimal 2 Kata` below two words, 400 when longer than 100 characters
    /// or when it holds control characters.
    pub fn parse(text: &str) -> Result<Self, AppError> {
        if text.chars().count() > MAX_CHARS || text.chars().any(|c| c.is_control()) {
            return Err(AppError::bad_input(format!("nama harus paling banyak {MAX_CHARS} huruf tanpa karakter kendali")));
        }
        let mut words = text.split_whitespace();
        let awal = words.next().ok_or(AppError::NamaTooShort)?.to_owned();
        let akhir = words.collect::<Vec<_>>().join(" ");
        if akhir.is_empty() {
            return Err(AppError::NamaTooShort);
        }
        Ok(Self { awal, akhir })
    }
}

#[cfg(test)]
mod tests {
    use super::Nama;

    #[test]
    fn blanks_collapse_and_the_first_word_leads() {
        let nama = Nama::parse("  Siti   Nur  Rahmawati ").unwrap();
        assert_eq!((nama.awal.as_str(), nama.akhir.as_str()), ("Siti", "Nur Rahmawati"));
    }

    #[test]
    fn one_word_is_too_few() {
        for text in ["", "  ", "Siti", " Siti "] {
            assert_eq!(Nama::parse(text).unwrap_err().to_string(), "Nama Akun Minimal 2 Kata");
        }
        assert!(Nama::parse(&"a b".repeat(60)).is_err());
    }
}
