//! Codes of digits and letters as people type, paste and scan them.

/// The zeros of the keyboards that have digits of their own: Arabic, Persian and Urdu, East Asian.
const ZEROS: [char; 3] = ['\u{660}', '\u{6f0}', '\u{ff10}'];

/// `text` without the blanks, line ends and invisible characters around it that come from copying or scanning.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// Characters of a typed code, without blanks, dashes and invisible characters. All digits become ASCII digits.
pub fn characters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !is_blank(*c) && !is_dash(*c)).map(ascii_digit)
}

fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

fn ascii_digit(c: char) -> char {
    let value = |zero: char| u32::from(c).checked_sub(u32::from(zero)).filter(|value| *value < 10);
    ZEROS.into_iter().find_map(value).and_then(|value| char::from_digit(value, 10)).unwrap_or(c)
}
