//! Standard output of commands. A closed pipe is not an error. When the output cannot be written, for example on a full disk, the command
//! still reports what it has done, so that the operator does not repeat it.

use std::io::{ErrorKind, Write};
use std::sync::mpsc;
use std::time::Duration;

use super::Failure;

/// How long a line may take to standard error.
const WRITE_WITHIN: Duration = Duration::from_secs(1);

/// What a command that only looked has done.
pub const NOTHING: &str = "nothing was changed";

/// Prints a command's result, with a line end behind it.
///
/// # Errors
/// When standard output takes nothing; it begins with `done`, what the command has done until then.
pub fn print(text: &str, done: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::unprinted(format!("{done}; standard output took no result ({e})")))
        }
        _ => Ok(()),
    }
}

/// Prints a line on standard error. Failures are ignored, and a pipe without a reader is not waited for.
pub fn warn(line: &str) {
    let (written, is_written) = mpsc::channel();
    let line = format!("{line}\n");
    std::thread::spawn(move || {
        let _ = std::io::stderr().write_all(line.as_bytes());
        let _ = written.send(());
    });
    let _ = is_written.recv_timeout(WRITE_WITHIN);
}
