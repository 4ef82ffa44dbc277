//! Answers about a receipt until it is decided, in the order of its requests.

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use crate::http::ServerAnswer;

/// Rows that are kept; later answers are only counted.
const MAX_ROWS: usize = 24;

/// Equal answers that follow each other are one row, so that a purchase that is repeated every few milliseconds stays readable.
#[derive(Debug, Clone, Default)]
pub struct ReceiptAnswers {
    first: Option<Instant>,
    rows: Vec<AnswerRow>,
    more: u32,
}

#[derive(Debug, Clone)]
struct AnswerRow {
    /// Times of the first and of the last answer, since the first request was sent.
    first: Duration,
    last: Duration,
    /// Longest time that one of them took.
    took: Duration,
    times: u32,
    what: String,
}

impl ReceiptAnswers {
    /// Adds the answer, received now, to the request that was sent at `sent`.
    pub fn add(&mut self, sent: Instant, answer: &io::Result<ServerAnswer>) {
        let what = match answer {
            Ok(answer) => {
                let by = answer.server.as_deref().unwrap_or("nobody who is known");
                format!("{} \"{}\" by {by}", answer.status, answer.message)
            }
            Err(why) => format!("no answer: {why}"),
        };
        let (at, took) = (self.first.get_or_insert(sent).elapsed(), sent.elapsed());
        if let Some(row) = self.rows.last_mut().filter(|row| row.what == what) {
            (row.last, row.took, row.times) = (at, row.took.max(took), row.times + 1);
        } else if self.rows.len() < MAX_ROWS {
            self.rows.push(AnswerRow { first: at, last: at, took, times: 1, what });
        } else {
            self.more += 1;
        }
    }
}

impl fmt::Display for ReceiptAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, AnswerRow { first, last, took, times, what }) in self.rows.iter().enumerate() {
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
    fn equal_answers_are_one_row() {
        let answer = |status, server: &str| {
            let (message, server) = ("sibuk".to_owned(), Some(server.to_owned()));
            Ok(ServerAnswer { status, message, data: serde_json::Value::Null, cookie: None, server, retry_after: None })
        };
        let (mut answers, now) = (ReceiptAnswers::default(), Instant::now());
        answers.add(now, &Err(io::ErrorKind::ConnectionReset.into()));
        for _ in 0..3 {
            answers.add(now, &answer(503, "n1"));
        }
        answers.add(now, &answer(200, "n2"));
        let report = answers.to_string();
        assert!(report.contains("s: no answer: connection reset, which took 0."), "{report}");
        assert!(
            report.contains("s: 503 \"sibuk\" by n1, 3 times until 0.") && report.contains("s: 200 \"sibuk\" by n2, which"),
            "{report}"
        );
    }
}
