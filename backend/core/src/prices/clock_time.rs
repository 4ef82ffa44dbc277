//! A time of day as people write it.

use std::fmt;

/// Minutes after midnight on a wall clock, `0..=1440`. `"24:00"` is the end of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClockTime(u16);

impl ClockTime {
    pub const DAY_END: Self = Self(24 * 60);

    /// `None` unless `minute` is within a day.
    pub fn from_minute(minute: i32) -> Option<Self> {
        u16::try_from(minute).ok().filter(|m| *m <= Self::DAY_END.0).map(Self)
    }

    /// `None` unless `text` is `HH:MM`.
    pub fn parse(text: &str) -> Option<Self> {
        let [h1, h2, b':', m1, m2] = *text.as_bytes() else { return None };
        let digit = |b: u8| b.is_ascii_digit().then(|| u16::from(b - b'0'));
        let (hour, minute) = (digit(h1)? * 10 + digit(h2)?, digit(m1)? * 10 + digit(m2)?);
        (hour < 24 && minute < 60 || (hour, minute) == (24, 0)).then_some(Self(hour * 60 + minute))
    }

    pub const fn minute(self) -> u16 {
        self.0
    }
}

impl fmt::Display for ClockTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::ClockTime;

    #[test]
    fn it_is_read_as_it_is_written() {
        for text in ["00:00", "07:05", "23:59", "24:00"] {
            assert_eq!(ClockTime::parse(text).unwrap().to_string(), text);
        }
        for bad in ["", "7:00", "24:01", "25:00", "12:60", "12.30", "12:3", "12:300", "１２:00", " 12:00"] {
            assert_eq!(ClockTime::parse(bad), None, "{bad}");
        }
    }
}
