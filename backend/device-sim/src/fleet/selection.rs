//! Selection of machines by their numbers: `7`, `1-10000`, `1,5,9-12`, `all`.

use std::fmt;
use std::str::FromStr;

/// Greatest number of ranges in one selection.
const MAX_RANGES: usize = 64;

/// An empty list selects all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection(Vec<(i64, i64)>);

impl Selection {
    pub fn has(&self, idmesin: i64) -> bool {
        self.0.is_empty() || self.0.iter().any(|(from, to)| (*from..=*to).contains(&idmesin))
    }

    /// The machine, when exactly one is named.
    pub fn one(&self) -> Option<i64> {
        match self.0[..] {
            [(from, to)] if from == to => Some(from),
            _ => None,
        }
    }
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(Vec::new()));
        }
        let ranges: Vec<_> = text.split(',').take(MAX_RANGES + 1).map(range).collect::<Option<_>>().unwrap_or_default();
        if (1..=MAX_RANGES).contains(&ranges.len()) {
            return Ok(Self(ranges));
        }
        Err(format!("{text:?} is no machines: 7, 1-10000, 1,5,9-12 or all"))
    }
}

fn range(text: &str) -> Option<(i64, i64)> {
    let number = |text: &str| text.parse().ok().filter(|id| *id > 0);
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (number(from)?, number(to)?);
    (from <= to).then_some((from, to))
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("all");
        }
        for (i, (from, to)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            if from == to { write!(f, "{comma}{from}")? } else { write!(f, "{comma}{from}-{to}")? }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges_are_machines_and_anything_else_is_not() {
        for (text, is_in, is_out) in [("7", 7, 8), ("1-10000", 10_000, 10_001), ("1,5,9-12", 9, 6)] {
            let selection: Selection = text.parse().unwrap();
            assert!(selection.has(is_in) && !selection.has(is_out), "{text}");
            assert_eq!(selection.to_string(), text);
        }
        assert!("all".parse::<Selection>().unwrap().has(i64::MAX));
        for text in ["", "0", "-1", "5-3", "1-", "1,,2", "1-2-3", "ten", "1,".repeat(65).as_str()] {
            assert!(text.parse::<Selection>().unwrap_err().ends_with("is no machines: 7, 1-10000, 1,5,9-12 or all"), "{text}");
        }
    }
}
