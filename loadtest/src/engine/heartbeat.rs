//! Parser of the most frequent message, written by hand because millions arrive: `42["heartbeat/<id>",{"tl":…,"ends_at":…,"server_time":…}]`.

use serde::Deserialize;

/// A tick of a machine (docs/contract.md §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    pub idmesin: i64,
    /// Milliseconds left.
    pub tl: i64,
    /// Epoch milliseconds; `None` when a hold was released.
    pub ends_at: Option<i64>,
    /// Epoch milliseconds.
    pub server_time: i64,
}

/// Answer to a subscribe; without a running cycle it has neither `tl` nor `ends_at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Snapshot {
    pub status: u16,
    #[serde(default)]
    pub tl: Option<i64>,
    #[serde(default)]
    pub ends_at: Option<i64>,
    #[serde(default)]
    pub server_time: Option<i64>,
}

const HEAD: &[u8] = br#"42["heartbeat/"#;

/// Whether a text frame is a tick.
pub fn is(payload: &[u8]) -> bool {
    payload.starts_with(HEAD)
}

/// Parses a tick; `None` when the frame is no tick, or breaks the contract.
pub fn parse(payload: &[u8]) -> Option<Heartbeat> {
    let mut rest = Cursor(payload.strip_prefix(HEAD)?);
    let idmesin = rest.number()?;
    rest.skip(br#"",{"#)?;
    let (mut tl, mut ends_at, mut server_time) = (None, None, None);
    loop {
        if rest.skip(br#""tl":"#).is_some() {
            tl = Some(rest.number()?);
        } else if rest.skip(br#""ends_at":"#).is_some() {
            ends_at = Some(if rest.skip(b"null").is_some() { None } else { Some(rest.number()?) });
        } else if rest.skip(br#""server_time":"#).is_some() {
            server_time = Some(rest.number()?);
        } else {
            return None;
        }
        if rest.skip(b",").is_none() {
            break;
        }
    }
    (rest.0 == b"}]").then_some(Heartbeat { idmesin, tl: tl?, ends_at: ends_at?, server_time: server_time? })
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn skip(&mut self, text: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    fn number(&mut self) -> Option<i64> {
        let negative = self.skip(b"-").is_some();
        let digits = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        if !(1..=18).contains(&digits) {
            return None;
        }
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        let value = number.iter().fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        Some(if negative { -value } else { value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_read_in_any_order_of_its_fields() {
        let tick = Heartbeat { idmesin: 12, tl: 3500, ends_at: Some(5000), server_time: 1500 };
        assert_eq!(parse(br#"42["heartbeat/12",{"tl":3500,"ends_at":5000,"server_time":1500}]"#), Some(tick));
        assert_eq!(parse(br#"42["heartbeat/12",{"server_time":1500,"ends_at":5000,"tl":3500}]"#), Some(tick));
        let back = Heartbeat { idmesin: 12, tl: 0, ends_at: None, server_time: 1500 };
        assert_eq!(parse(br#"42["heartbeat/12",{"tl":0,"ends_at":null,"server_time":1500}]"#), Some(back));
        let odd = parse(br#"42["heartbeat/12",{"tl":-4,"ends_at":5000,"server_time":5004}]"#).unwrap();
        assert_eq!(odd.tl, -4);
    }

    #[test]
    fn what_is_no_tick_is_none() {
        for text in [
            r#"42["heartbeat/",{"tl":1,"ends_at":2,"server_time":1}]"#,
            r#"42["heartbeat/1",{"tl":1,"ends_at":2}]"#,
            r#"42["heartbeat/1",{"tl":1.5,"ends_at":2,"server_time":1}]"#,
            r#"42["heartbeat/1",{"tl":1,"ends_at":2,"server_time":1}"#,
            r#"42["heartbeat/1",{"tl":1,"ends_at":2,"server_time":12345678901234567890}]"#,
            r#"42["other",1]"#,
            "2",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
