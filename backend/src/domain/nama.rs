//! A customer's name (contract §1).

use super::teks::is_unreadable;
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
    /// or when it holds control characters other than blanks.
    pub fn parse(text: &str) -> Result<Self, AppError> {
        let mut words = text.split_whitespace();
        let awal = words.next().ok_or(AppError::NamaTooShort)?.to_owned();
        let akhir = words.collect::<Vec<_>>().join(" ");
        if akhir.is_empty() {
            return Err(AppError::NamaTooShort);
        }
        let whole = awal.chars().chain(akhir.chars());
        if whole.clone().any(is_unreadable) || whole.count() >= MAX_CHARS {
            return Err(AppError::bad_input(format!("nama harus paling banyak {MAX_CHARS} huruf tanpa karakter kendali")));
        }
        Ok(Self { awal, akhir })
    }
}

#[cfg(test)]
mod tests {
    use super::Nama;

    #[test]
    fn blanks_collapse_and_the_first_word_leads() {
        let nama = Nama::parse("  Siti \t Nur \n Rahmawati ").unwrap();
        assert_eq!((nama.awal.as_str(), nama.akhir.as_str()), ("Siti", "Nur Rahmawati"));
    }

    #[test]
    fn one_word_is_too_few() {
        for text in ["", "  ", "Siti", " Siti "] {
            assert_eq!(Nama::parse(text).unwrap_err().to_string(), "Nama Akun Minimal 2 Kata");
        }
    }

    #[test]
    fn a_hundred_characters_fit_and_control_characters_do_not() {
        assert!(Nama::parse(&format!("  a {}  ", "b".repeat(98))).is_ok());
        for text in [
            format!("a {}", "b".repeat(99)),
            "a".repeat(200),
            "a\u{0} b".to_owned(),
            "a b\u{7f}".to_owned(),
            "\u{200b} \u{200b}".to_owned(),
        ] {
            assert!(Nama::parse(&text).is_err(), "{text}");
        }
    }
}
