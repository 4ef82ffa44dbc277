//! Progress on standard error: a bar on a terminal, plain lines otherwise. Standard output has the summary only.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Without a terminal, a line is printed every second for this time …
const PLAIN_CLOSE_S: u64 = 30;
/// … and then this often.
const PLAIN_EVERY_S: u64 = 10;
/// The bar is narrow, because the message beside it matters more and a terminal may have 80 columns.
const BAR: &str = "{prefix:>9} {bar:8} {pos}/{len} {wide_msg}";

/// Prints a line on standard output. A closed output is ignored.
pub fn out(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Prints a line on standard error.
pub fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

pub struct Ui {
    bar: Option<ProgressBar>,
    quiet: bool,
    last_line_s: Option<u64>,
}

impl Ui {
    pub fn new(quiet: bool) -> Self {
        Self { bar: None, quiet, last_line_s: None }
    }

    /// Begins a part of the work, with `total` steps.
    pub fn part(&mut self, what: &str, total: u64) {
        self.end_part();
        self.last_line_s = None;
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
            note(&format!("{what} …"));
        }
    }

    /// Shows the progress of the part, with a line about it. Times are seconds since the part began.
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
        let due = self.last_line_s.is_none_or(|last| seconds >= last + if seconds <= PLAIN_CLOSE_S { 1 } else { PLAIN_EVERY_S });
        if due {
            self.last_line_s = Some(seconds);
            note(&format!("  {done}/{total} {line}"));
        }
    }

    /// Prints a separate line.
    pub fn print(&self, line: &str) {
        if self.quiet {
            return;
        }
        match &self.bar {
            Some(bar) => bar.println(line),
            None => note(line),
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
