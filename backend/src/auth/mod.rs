//! Logging in: numbers, passwords, one-time codes and tokens (contract §1; design: money, security).

pub mod password;
pub mod pelanggan;
pub mod sesi;
pub mod token;

use crate::secrets::Secrets;

/// What authentication keeps in memory.
pub struct Auth {
    pub tokens: token::Tokens,
    pub versi: sesi::Versi,
}

impl Auth {
    /// `token_days` is how long a token lives.
    pub fn new(secrets: &Secrets, token_days: i64) -> Self {
        Self { tokens: token::Tokens::new(secrets, token_days), versi: sesi::Versi::default() }
    }
}
