//! Short texts that people type and other people read: names, places, reasons.

use crate::domain::error::DomainError;

/// The longest name of an outlet, a service, a machine, a package or a place, in characters.
pub const MAX_NAME_CHARS: usize = 100;
/// The longest reason for a deletion or a refund, in characters.
pub const MAX_REASON_CHARS: usize = 500;

/// Whether a character is none that people read: a control character, or one that hides or turns what stands beside it.
pub fn is_unreadable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// `text` trimmed; a 400 that names `field` when nothing is left, when it is longer than `max_chars` or when it holds a
/// control character (PostgreSQL keeps no NUL, and a line break would forge lines in what prints it).
pub fn parse(field: &str, text: &str, max_chars: usize) -> Result<String, DomainError> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > max_chars || text.chars().any(is_unreadable) {
        return Err(DomainError::malformed(format!("{field} harus 1 sampai {max_chars} karakter tanpa karakter kendali")));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn only_readable_text_of_the_right_length_passes() {
        assert_eq!(parse("nama", "  Cuci Kilat ", 10).unwrap(), "Cuci Kilat");
        for bad in ["", "   ", "\u{0}", "a\u{0}b", "a\nb", "a\u{202e}b", "\u{200b}", "abcdefghijk"] {
            assert!(parse("nama", bad, 10).unwrap_err().to_string().starts_with("nama "), "{bad:?}");
        }
    }
}
