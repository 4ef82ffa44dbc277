//! Sending one-time codes by WhatsApp: one trait, a sender for development and one for the Cloud API.

pub mod log;
pub mod meta;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use nyala_core::domain::otp::Otp;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::config::{SenderKind, WhatsAppSettings};

/// Sending and noting it down must fit in the 5 s that a request may be held; the rest is the database's.
const SEND_LIMIT: Duration = Duration::from_millis(4500);
const _: () = assert!(SEND_LIMIT.as_secs() < 5);

/// A code on its way to a number.
#[derive(Debug, Clone)]
pub struct CodeMessage {
    pub telp: Telp,
    pub code: Otp,
    /// When it was made.
    pub at: Timestamp,
}

/// Why a code did not go out. None of it names a number or a key, so that it may be logged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    #[error("no answer within {} ms", SEND_LIMIT.as_millis())]
    TimedOut,
    #[error("not reachable: {0}")]
    Unreachable(String),
    /// 131026: the number has no WhatsApp, or it does not take this message.
    #[error("undeliverable to this number (131026)")]
    Undeliverable,
    /// 131056: too many messages to this number in a short time.
    #[error("too many messages to this number (131056)")]
    PairLimit,
    /// 130429: the sending number's messages a second.
    #[error("over the sending number's throughput (130429)")]
    Throughput,
    /// 80007: the business account's calls an hour.
    #[error("over the business account's limit (80007)")]
    AccountLimit,
    #[error("refused with HTTP {status}, code {code:?}: {text}")]
    Refused { status: u16, code: Option<i64>, text: String },
}

/// Takes a code to WhatsApp; `Ok` means that WhatsApp has taken it. The future belongs to the thread that asked.
pub trait Sender: Send + Sync {
    fn send<'a>(&'a self, message: &'a CodeMessage) -> LocalBoxFuture<'a, Result<(), SendError>>;
}

/// The sender that the settings chose. Cheap to clone.
#[derive(Clone)]
pub struct WhatsApp {
    sender: Arc<dyn Sender>,
    /// What the development sender has sent; `None` with any other.
    pub log: Option<Arc<log::LogSender>>,
}

impl WhatsApp {
    pub fn new(config: &WhatsAppSettings) -> Self {
        match config.sender {
            SenderKind::Log => {
                let log = Arc::new(log::LogSender::default());
                Self { sender: log.clone(), log: Some(log) }
            }
            SenderKind::Meta => Self { sender: Arc::new(meta::Meta::new(config)), log: None },
        }
    }

    /// Sends within `SEND_LIMIT`, or says why not.
    pub async fn send(&self, message: &CodeMessage) -> Result<(), SendError> {
        tokio::time::timeout(SEND_LIMIT, self.sender.send(message)).await.unwrap_or(Err(SendError::TimedOut))
    }
}
