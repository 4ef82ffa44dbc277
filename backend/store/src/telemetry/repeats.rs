//! The same trouble a hundred thousand times is one line a minute, and how often it was.
//!
//! Only what names an `error`, and what PostgreSQL itself writes: a line with a receipt number is about that receipt and always logged.

use std::collections::HashMap;
use std::fmt::{Debug, Write};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// A line is logged once in this time.
const ONCE_IN: Duration = Duration::from_secs(60);
/// How often `log_repeats_loop` looks for lines whose time is over.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Different texts that are distinguished at once; beyond that all texts of one place in the program count as one.
const MAX_TROUBLES: usize = 256;
/// Longer texts are distinguished by their beginnings.
const MAX_TEXT_BYTES: usize = 300;
/// What PostgreSQL writes comes under this name.
const POSTGRES: &str = "postgres";

/// All of this process.
static REPEATS: LazyLock<Mutex<Repeats>> = LazyLock::new(Mutex::default);

/// Keeps repeated lines out of whatever is below it. Once in a process.
pub struct OnceAMinute;

impl<S: Subscriber> Layer<S> for OnceAMinute {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let meta = event.metadata();
        if *meta.level() > Level::INFO {
            return true;
        }
        let mut trouble = Trouble { field: if meta.target() == POSTGRES { "message" } else { "error" }, text: String::new() };
        event.record(&mut trouble);
        if trouble.text.is_empty() {
            return true;
        }
        REPEATS.lock().unwrap_or_else(PoisonError::into_inner).admit(meta.callsite(), trouble.text, Instant::now())
    }
}

/// Logs every few seconds how often lines were suppressed whose minute is over. Runs until the process ends.
pub async fn log_repeats_loop() {
    let mut every = tokio::time::interval(LOOK_EVERY);
    loop {
        every.tick().await;
        log_repeats(Instant::now());
    }
}

/// Logs all suppressed lines when the process ends.
pub fn log_remaining_repeats() {
    log_repeats(Instant::now() + ONCE_IN);
}

fn log_repeats(now: Instant) {
    // Let go of the lock before anything is logged.
    let over = REPEATS.lock().unwrap_or_else(PoisonError::into_inner).over(now);
    for (said, times) in over {
        tracing::warn!(times, said, "said again in the last minute, and not logged each time");
    }
}

/// What is wrong: the text of one field, with its causes when it is an error.
struct Trouble {
    field: &'static str,
    text: String,
}

impl Trouble {
    fn cut(&mut self) {
        let end = (0..=MAX_TEXT_BYTES.min(self.text.len())).rev().find(|at| self.text.is_char_boundary(*at));
        self.text.truncate(end.unwrap_or(0));
    }
}

impl Visit for Trouble {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == self.field {
            self.text = format!("{value:?}");
            self.cut();
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        if field.name() == self.field {
            self.text = value.to_string();
            let mut cause = value.source();
            while let Some(source) = cause.filter(|_| self.text.len() < MAX_TEXT_BYTES) {
                let _ = write!(self.text, ": {source}");
                cause = source.source();
            }
            self.cut();
        }
    }
}

/// When each line was logged, and how often it was repeated since. The caller gives the time.
#[derive(Debug, Default)]
struct Repeats {
    /// By the place in the program, and the trouble.
    lines: HashMap<(Identifier, String), RepeatedTrouble>,
}

#[derive(Debug)]
struct RepeatedTrouble {
    told_at: Instant,
    again: u64,
}

impl Repeats {
    /// Whether the line is logged now.
    fn admit(&mut self, place: Identifier, text: String, now: Instant) -> bool {
        let full = self.lines.len() >= MAX_TROUBLES;
        let key = (place, text);
        // Of the places themselves there are only as many as the program has lines.
        let key = if full && !self.lines.contains_key(&key) { (key.0, String::new()) } else { key };
        match self.lines.get_mut(&key) {
            Some(line) if now.saturating_duration_since(line.told_at) < ONCE_IN => {
                line.again += 1;
                false
            }
            // Suppressed repeats are logged by `over`; the line starts a new minute.
            Some(line) => {
                line.told_at = now;
                true
            }
            None => {
                self.lines.insert(key, RepeatedTrouble { told_at: now, again: 0 });
                true
            }
        }
    }

    /// Forgets the lines whose minute is over; those that were kept back, and how often.
    fn over(&mut self, now: Instant) -> Vec<(String, u64)> {
        let over = self.lines.extract_if(|_, line| now.saturating_duration_since(line.told_at) >= ONCE_IN);
        over.filter(|(_, line)| line.again > 0).map(|((_, text), line)| (text, line.again)).collect()
    }
}

#[cfg(test)]
mod tests {
    use tracing::Callsite;
    use tracing::metadata::Metadata;
    use tracing::subscriber::Interest;

    use super::*;

    struct TestCallsite;

    impl Callsite for TestCallsite {
        fn set_interest(&self, _: Interest) {}
        fn metadata(&self) -> &Metadata<'_> {
            unreachable!("only its address is used")
        }
    }

    static HERE: TestCallsite = TestCallsite;

    fn here() -> Identifier {
        tracing::callsite::Identifier(&HERE)
    }

    #[test]
    fn a_hundred_thousand_times_is_one_line_a_minute_and_how_often() {
        let (mut repeats, start) = (Repeats::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        let mut admitted = 0;
        for ms in 0..100_000 {
            admitted += usize::from(repeats.admit(here(), "no room".to_owned(), at(ms / 2)));
            assert!(repeats.over(at(ms / 2)).is_empty());
        }
        assert_eq!(admitted, 1);
        assert!(repeats.admit(here(), "no connection".to_owned(), at(1)), "another trouble is told at once");
        assert!(repeats.over(at(59_999)).is_empty());
        assert_eq!(repeats.over(at(60_000)), [("no room".to_owned(), 99_999)]);
        assert!(repeats.admit(here(), "no room".to_owned(), at(60_000)), "a minute later it is told again");
        assert!(repeats.over(at(600_000)).is_empty(), "it was told once, and nothing was kept back");
    }

    #[test]
    fn troubles_that_never_repeat_fill_neither_memory_nor_log() {
        let (mut repeats, now) = (Repeats::default(), Instant::now());
        let admitted = (0..100_000).filter(|n| repeats.admit(here(), format!("row {n}"), now)).count();
        assert_eq!((admitted, repeats.lines.len()), (MAX_TROUBLES + 1, MAX_TROUBLES + 1));
        let kept_back: u64 = repeats.over(now + ONCE_IN).iter().map(|(_, times)| times).sum();
        assert_eq!((kept_back, repeats.lines.len()), (100_000 - MAX_TROUBLES as u64 - 1, 0));
    }
}
