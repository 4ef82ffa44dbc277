//! Short texts that people type and other people read: names, places, reasons.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::domain::error::DomainError;

/// The longest name of an outlet, a service, a machine, a package or a place, in characters.
pub const MAX_NAME_CHARS: usize = 100;
/// The longest size of a machine, in characters.
pub const MAX_SIZE_CHARS: usize = 20;
/// The longest reason for a deletion or a refund, in characters.
pub const MAX_REASON_CHARS: usize = 500;

/// How a character looks among others (Unicode's general categories and default-ignorable code points, UAX #44).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Visible,
    /// It changes the visible character before it: a combining mark, or a variation selector.
    Mark,
    /// Joins or separates the visible characters on both sides, as in Persian script and in emoji of families.
    Joiner,
    /// Not readable: it hides, changes its neighbours, or has a private meaning.
    Hidden,
}

fn look(c: char) -> Look {
    use GeneralCategory as Category;
    match c {
        '\u{200c}' | '\u{200d}' => Look::Joiner,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => Look::Mark,
        // Blanks and fillers that count as letters, symbols or marks, what takes the place of something else, and noncharacters.
        '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{ffa0}' => Look::Hidden,
        '\u{fdd0}'..='\u{fdef}'
        | '\u{fff0}'..='\u{fff8}'
        | '\u{fffc}'
        | '\u{2065}'
        | '\u{1d159}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{e0000}'..='\u{e0fff}' => Look::Hidden,
        _ if u32::from(c) & 0xfffe == 0xfffe => Look::Hidden,
        _ => match c.general_category() {
            Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark => Look::Mark,
            Category::Control
            | Category::Format
            | Category::PrivateUse
            | Category::Surrogate
            | Category::LineSeparator
            | Category::ParagraphSeparator
            | Category::SpaceSeparator => Look::Hidden,
            _ => Look::Visible,
        },
    }
}

/// Whether a text without blanks is readable: it begins with a visible character, joiners are between visible characters, and no character is
/// hidden.
pub fn is_readable_word(word: &str) -> bool {
    let mut before = None;
    for c in word.chars() {
        let look = look(c);
        let fits = match look {
            Look::Visible => true,
            Look::Mark => matches!(before, Some(Look::Visible | Look::Mark)),
            Look::Joiner => matches!(before, Some(Look::Visible | Look::Mark)),
            Look::Hidden => false,
        };
        if !fits {
            return false;
        }
        before = Some(look);
    }
    matches!(before, Some(Look::Visible | Look::Mark))
}

/// `text` trimmed; a 400 that names `field` when nothing is left, when it is longer than `max_chars`, when a part of it is not
/// readable, or when it holds a control character (PostgreSQL keeps no NUL, and a line break would forge lines in what
/// prints it).
pub fn parse(field: &str, text: &str, max_chars: usize) -> Result<String, DomainError> {
    let text = text.trim();
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let readable = !text.chars().any(breaks) && text.split_whitespace().all(is_readable_word);
    if text.is_empty() || text.chars().count() > max_chars || !readable {
        return Err(DomainError::malformed(format!(
            "{field} harus 1 sampai {max_chars} karakter yang terlihat, tanpa karakter kendali atau tersembunyi"
        )));
    }
    Ok(text.to_owned())
}

/// `text` for comparing without regard to case, in any script: the database's `lower` knows what its locale knows.
pub fn folded(text: &str) -> String {
    // Twice to lower case: `ẞ` becomes `ß`, then `SS`; the final `ς` has the capital of `σ`.
    text.nfd().flat_map(char::to_lowercase).flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect()
}

/// A key that sorts names as people do: the numbers in them by their size, so that 'Cuci 9' comes before 'Cuci 10'.
pub fn natural_key(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (words, after) = rest.split_at(digits);
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, next) = after.split_at(end);
        parts.push((folded(words), number.parse().unwrap_or(u64::MAX)));
        rest = next;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{is_readable_word, parse};

    #[test]
    fn only_readable_text_of_the_right_length_passes() {
        assert_eq!(parse("nama", "  Cuci Kilat ", 10).unwrap(), "Cuci Kilat");
        for bad in ["", "   ", "\u{0}", "a\u{0}b", "a\nb", "a\u{202e}b", "\u{200b}", "a \u{3164} b", "abcdefghijk"] {
            assert!(parse("nama", bad, 10).unwrap_err().to_string().starts_with("nama "), "{bad:?}");
        }
    }

    #[test]
    fn words_of_every_script_and_emoji_are_readable() {
        for word in [
            "Siti",
            "O'Neil",
            "-",
            "\u{e9}lite",
            "e\u{301}lite",
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
            "\u{2764}\u{fe0f}\u{200d}\u{1f525}",
            "\u{2764}\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "\u{1f44b}\u{1f3fd}",
            "\u{1f1ee}\u{1f1e9}",
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            "\u{915}\u{94d}\u{200d}\u{937}",
            "\u{e2d}\u{e31}\u{e0d}",
            "\u{845b}\u{e0100}",
            "\u{a95}\u{a9b}",
        ] {
            assert!(is_readable_word(word), "{word:?}");
        }
    }

    #[test]
    fn what_has_nothing_visible_or_hides_something_is_not() {
        for word in [
            "",
            "\u{3164}",
            "\u{2800}",
            "\u{115f}",
            "\u{2065}",
            "\u{1d159}",
            "\u{1160}",
            "\u{ffa0}",
            "\u{34f}",
            "\u{301}",
            "\u{301}\u{302}",
            "\u{fe0f}",
            "\u{e0041}",
            "\u{1f3f4}\u{e0067}\u{e007f}",
            "\u{e000}",
            "\u{f0000}",
            "\u{10fffd}",
            "\u{fdd0}",
            "\u{ffff}",
            "\u{fffc}",
            "\u{ad}",
            "a\u{ad}b",
            "a\u{200b}b",
            "\u{200d}a",
            "a\u{200d}",
            "a\u{200d}\u{200d}b",
            "a\u{200c}\u{301}",
            "a\u{2066}b",
            "a\u{3164}",
        ] {
            assert!(!is_readable_word(word), "{word:?}");
        }
    }
}
