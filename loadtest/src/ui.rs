//! What a person sees while it runs: a bar and a live line on a terminal, plain lines elsewhere. On standard error, so that
//! standard output is the summary.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A line is told every second for so long without a terminal, in seconds …
const PLAIN_CLOSE_S: u64 = 30;
/// … and then this often.
const PLAIN_EVERY_S: u64 = 10;
/// A narrow bar: what is said beside it matters more, and a terminal may have 80 columns.
const BAR: &str = "{prefix:>9} {bar:8} {pos}/{len} {wide_msg}";

/// A line on standard output; whoever has closed it wants no more, which is no reason to end.
pub fn out(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// The same on standard error.
pub fn told(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

pub struct Ui {
    bar: Option<ProgressBar>,
    quiet: bool,
    told: Option<u64>,
}

impl Ui {
    pub fn new(quiet: bool) -> Self {
        Self { bar: None, quiet, told: None }
    }

    /// A new part of the work, of `total` steps.
    pub fn part(&mut self, what: &str, total: u64) {
        self.end_part();
        self.told = None;
        if self.quiet {
            return;
        }
        if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(total);
            let style = ProgressStyle::with_template(BAR);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_prefix(what.to_owned());
            bar.enable_steady_tick(Duration::from_millis(200));
            self.bar = Some(bar);
        } else {
            told(&format!("{what} …"));
        }
    }

    /// How far the part is, with a line about it. Times are seconds since the part began.
    pub fn progress(&mut self, done: u64, total: u64, seconds: u64, line: &str) {
        if self.quiet {
            return;
        }
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(done.min(total));
            bar.set_message(line.to_owned());
            return;
        }
        let due = self.told.is_none_or(|told| seconds >= told + if seconds <= PLAIN_CLOSE_S { 1 } else { PLAIN_EVERY_S });
        if due {
            self.told = Some(seconds);
            told(&format!("  {done}/{total} {line}"));
        }
    }

    /// Something that is worth a line of its own.
    pub fn say(&self, line: &str) {
        if self.quiet {
            return;
        }
        match &self.bar {
            Some(bar) => bar.println(line),
            None => told(line),
        }
    }

    pub fn end_part(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Ui {
    fn drop(&mut self) {
        self.end_part();
    }
}
