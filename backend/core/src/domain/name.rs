//! A customer's name (docs/contract.md §1).

use super::text::is_readable_word;
use crate::domain::error::DomainError;

/// The longest name kept, in characters other than blanks.
pub const MAX_LETTERS: usize = 99;

/// A customer's name in two parts, `nama_awal` and `nama_akhir`, split at the first blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub first: String,
    pub last: String,
}

impl Name {
    /// Trims and collapses blanks. 422 `Nama Akun Minimal 2 Kata` without a blank inside, 400 with more than [`MAX_LETTERS`]
    /// characters besides blanks, or when a part is unreadable (`text::is_readable_word`).
    pub fn parse(text: &str) -> Result<Self, DomainError> {
        let mut words = text.split_whitespace();
        let first = words.next().ok_or(DomainError::NameTooShort)?.to_owned();
        let last = words.collect::<Vec<_>>().join(" ");
        if last.is_empty() {
            return Err(DomainError::NameTooShort);
        }
        let letters = text.chars().filter(|c| !c.is_whitespace()).count();
        if letters > MAX_LETTERS || !text.split_whitespace().all(is_readable_word) {
            return Err(DomainError::malformed(format!(
                "nama harus paling banyak {MAX_LETTERS} huruf yang terlihat, tanpa karakter kendali atau tersembunyi"
            )));
        }
        Ok(Self { first, last })
    }
}

/// Short form of a name for the counter: its first part, and the initial of the rest.
pub fn short(first: &str, last: &str) -> String {
    last.chars().next().map_or_else(|| first.to_owned(), |initial| format!("{first} {initial}."))
}

#[cfg(test)]
mod tests {
    use super::{Name, short};

    #[test]
    fn at_a_counter_the_rest_is_an_initial() {
        assert_eq!(short("Siti", "Nur Rahmawati"), "Siti N.");
        assert_eq!(short("Élise", "Øst"), "Élise Ø.");
    }

    #[test]
    fn blanks_collapse_and_the_first_word_leads() {
        let nama = Name::parse("  Siti \t Nur \n Rahmawati ").unwrap();
        assert_eq!((nama.first.as_str(), nama.last.as_str()), ("Siti", "Nur Rahmawati"));
    }

    #[test]
    fn one_word_is_too_few() {
        for text in ["", "  ", "Siti", " Siti "] {
            assert_eq!(Name::parse(text).unwrap_err().to_string(), "Nama Akun Minimal 2 Kata");
        }
    }

    #[test]
    fn ninety_nine_letters_fit_and_control_characters_do_not() {
        for text in [format!("  a {}  ", "b".repeat(98)), "a ".repeat(99)] {
            assert!(Name::parse(&text).is_ok(), "{text}");
        }
        for text in [
            format!("a {}", "b".repeat(99)),
            "a".repeat(200),
            "a ".repeat(100),
            "a\u{0} b".to_owned(),
            "a b\u{7f}".to_owned(),
            "\u{200b} \u{200b}".to_owned(),
            "Siti \u{3164}".to_owned(),
            "\u{2800} \u{115f}".to_owned(),
            "Siti \u{301}\u{301}".to_owned(),
        ] {
            assert!(Name::parse(&text).is_err(), "{text}");
        }
    }
}
