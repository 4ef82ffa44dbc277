//! What was heard of a receipt until it was decided, sending by sending.

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use crate::http::ServerAnswer;

/// Lines that are kept; what comes after them is counted.
const LINES: usize = 24;

/// Alike answers in a row are one line, so that a purchase that is asked for again every few milliseconds can be read.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    first: Option<Instant>,
    lines: Vec<Line>,
    more: u32,
}

#[derive(Debug, Clone)]
struct Line {
    /// Since the first was sent, of the first and of the last answer.
    first: Duration,
    last: Duration,
    /// The longest that one of them took.
    took: Duration,
    times: u32,
    what: String,
}

impl Heard {
    /// The answer to what was sent at `sent`, now.
    pub fn add(&mut self, sent: Instant, answer: &io::Result<ServerAnswer>) {
        let what = match answer {
            Ok(answer) => {
                let by = answer.server.as_deref().unwrap_or("nobody who is known");
                format!("{} \"{}\" by {by}", answer.status, answer.message)
            }
            Err(why) => format!("no answer: {why}"),
        };
        let (at, took) = (self.first.get_or_insert(sent).elapsed(), sent.elapsed());
        if let Some(line) = self.lines.last_mut().filter(|line| line.what == what) {
            (line.last, line.took, line.times) = (at, line.took.max(took), line.times + 1);
        } else if self.lines.len() < LINES {
            self.lines.push(Line { first: at, last: at, took, times: 1, what });
        } else {
            self.more += 1;
        }
    }
}

impl fmt::Display for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, Line { first, last, took, times, what }) in self.lines.iter().enumerate() {
            f.write_str(if place == 0 { "" } else { "; " })?;
            write!(f, "{:.3} s: {what}", first.as_secs_f64())?;
            match times {
                1 => write!(f, ", which took {:.3} s", took.as_secs_f64())?,
                _ => write!(f, ", {times} times until {:.3} s, each at most {:.3} s", last.as_secs_f64(), took.as_secs_f64())?,
            }
        }
        if self.more > 0 { write!(f, "; and {} answers more", self.more) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_answers_are_one_line() {
        let answer = |status, server: &str| {
            let (message, server) = ("sibuk".to_owned(), Some(server.to_owned()));
            Ok(ServerAnswer { status, message, data: serde_json::Value::Null, cookie: None, server })
        };
        let (mut heard, now) = (Heard::default(), Instant::now());
        heard.add(now, &Err(io::ErrorKind::ConnectionReset.into()));
        for _ in 0..3 {
            heard.add(now, &answer(503, "n1"));
        }
        heard.add(now, &answer(200, "n2"));
        let told = heard.to_string();
        assert!(told.contains("s: no answer: connection reset, which took 0."), "{told}");
        assert!(
            told.contains("s: 503 \"sibuk\" by n1, 3 times until 0.") && told.contains("s: 200 \"sibuk\" by n2, which"),
            "{told}"
        );
    }
}
