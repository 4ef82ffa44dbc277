//! The load test. It has no scenario yet, and says so instead of measuring nothing.

use std::process::ExitCode;

fn main() -> ExitCode {
    eprintln!("nyala-loadtest: there is no scenario yet");
    ExitCode::FAILURE
}
