//! Why a command could not do it, in one line.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use nyala_web::http::error::AppError;

/// One line for standard error.
#[derive(Debug)]
pub struct Failure {
    text: String,
    /// The command has done what it was to do, and could not print its result.
    is_done: bool,
}

impl Failure {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_done: false }
    }

    /// The command succeeded, but its result could not be printed; `text` contains both.
    pub fn unprinted(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_done: true }
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(if self.is_done { 3 } else { 1 })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The error with its causes, unless the text already contains them.
impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Failure {
    fn from(e: E) -> Self {
        let e: Box<dyn Error + Send + Sync> = e.into();
        let mut text = match e.downcast_ref::<AppError>() {
            // a customer does not see the source; the operator at this machine may
            Some(AppError::Internal(source)) => source.to_string(),
            _ => e.to_string(),
        };
        let mut cause = e.source();
        while let Some(source) = cause {
            let more = source.to_string();
            if !text.contains(&more) {
                text = format!("{text}: {more}");
            }
            cause = source.source();
        }
        Self::new(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the port is closed")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn causes_are_printed_once_and_on_one_line() {
        let text = Failure::from(Outer(std::io::Error::other("the key\n is lost"))).to_string();
        assert_eq!(text, "the port is closed: the key is lost");
        assert_eq!(Failure::from(AppError::internal("no such column")).to_string(), "no such column");
    }
}
