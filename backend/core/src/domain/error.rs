//! Why a text is no value.

use std::borrow::Cow;

/// Reasons for refusing input, as its sender reads them; `http::error` knows the status of each.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// The text names the field and what would be right.
    #[error("{0}")]
    Malformed(Cow<'static, str>),
    #[error("Nama Akun Minimal 2 Kata")]
    NameTooShort,
    #[error("kata sandi minimal 8 karakter")]
    PasswordTooShort,
}

impl DomainError {
    pub fn malformed(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Malformed(text.into())
    }
}
