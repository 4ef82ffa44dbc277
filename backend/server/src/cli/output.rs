//! What a command prints on standard output. Whoever has closed it wants no more, which is no error; where it cannot be written, because the
//! disk is full for example, the command still says what it has done, so that nobody does it twice.

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

/// A line on standard error. Nobody is there to be told that it cannot be written, and a pipe that nobody reads is not waited for.
pub fn warn(line: &str) {
    let (written, is_written) = mpsc::channel();
    let line = format!("{line}\n");
    std::thread::spawn(move || {
        let _ = std::io::stderr().write_all(line.as_bytes());
        let _ = written.send(());
    });
    let _ = is_written.recv_timeout(WRITE_WITHIN);
}
