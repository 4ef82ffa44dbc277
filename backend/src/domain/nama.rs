//! A customer's name (contract §1).

use super::teks::is_unreadable;
use crate::http::error::AppError;

/// The longest name kept, in characters other than blanks.
pub const MAX_LETTERS: usize = 99;

/// A name of at least two words: the first is `nama_awal`, the rest `nama_akhir`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nama {
    pub awal: String,
    pub akhir: String,
}

impl Nama {
    /// Trims and collapses blanks. 422 `Nama Akun Minimal 2 Kata` below two words, 400 with more than [`MAX_LETTERS`] characters
    /// that are no blanks or with control characters other than blanks.
    pub fn parse(text: &str) -> Result<Self, AppError> {
        let mut words = text.split_whitespace();
        let awal = words.next().ok_or(AppError::NamaTooShort)?.to_owned();
        let akhir = words.collect::<Vec<_>>().join(" ");
        if akhir.is_empty() {
            return Err(AppError::NamaTooShort);
        }
        let whole = awal.chars().chain(akhir.chars()).filter(|c| !c.is_whitespace());
        if whole.clone().any(is_unreadable) || whole.count() > MAX_LETTERS {
            return Err(AppError::bad_input(format!("nama harus paling banyak {MAX_LETTERS} huruf tanpa karakter kendali")));
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
    fn ninety_nine_letters_fit_and_control_characters_do_not() {
        for text in [format!("  a {}  ", "b".repeat(98)), "a ".repeat(99)] {
            assert!(Nama::parse(&text).is_ok(), "{text}");
        }
        for text in [
            format!("a {}", "b".repeat(99)),
            "a".repeat(200),
            "a ".repeat(100),
            "a\u{0} b".to_owned(),
            "a b\u{7f}".to_owned(),
            "\u{200b} \u{200b}".to_owned(),
        ] {
            assert!(Nama::parse(&text).is_err(), "{text}");
        }
    }
}
