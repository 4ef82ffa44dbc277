//! Messages by WhatsApp, one-time codes and notices of a move to another number: one trait, a sender for development and one for the Cloud API.

pub mod log;
pub mod meta;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use nyala_core::domain::otp::Otp;
use nyala_core::domain::secret::Secret;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::config::{SenderKind, WhatsAppSettings};

/// Sending and recording the result must fit into the 5 s that a request may take; the rest is for the database.
const SEND_LIMIT: Duration = Duration::from_millis(4500);
const _: () = assert!(SEND_LIMIT.as_secs() < 5);

/// A message to a number.
#[derive(Debug, Clone)]
pub struct OutgoingMessage {
    pub telp: Telp,
    pub content: Content,
    /// When it was made.
    pub at: Timestamp,
}

#[derive(Debug, Clone)]
pub enum Content {
    Code(Otp),
    Move(MoveNotice),
}

/// To the owner of a number: its accounts are about to move to another number.
#[derive(Debug, Clone)]
pub struct MoveNotice {
    /// The other number, masked.
    pub to: String,
    /// `DD/MM/YYYY HH24:MI`.
    pub when: String,
    /// Where the owner says no: an address, and the secret with which it ends.
    pub link: String,
    pub secret: Secret,
}

/// Why a message was not sent. Contains neither a number nor a key, so it may be logged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    #[error("no answer within {} ms", SEND_LIMIT.as_millis())]
    TimedOut,
    #[error("not reachable: {0}")]
    Unreachable(String),
    /// 131026: the number has no WhatsApp, or does not accept this message.
    #[error("undeliverable to this number (131026)")]
    Undeliverable,
    /// 131056: too many messages to this number in a short time.
    #[error("too many messages to this number (131056)")]
    PairLimit,
    /// 130429: the sending number's limit of messages a second.
    #[error("over the sending number's throughput (130429)")]
    Throughput,
    /// 80007: the business account's limit of calls an hour.
    #[error("over the business account's limit (80007)")]
    AccountLimit,
    #[error("refused with HTTP {status}, code {code:?}: {text}")]
    Refused { status: u16, code: Option<i64>, text: String },
}

/// Passes a message to WhatsApp; `Ok` means that WhatsApp has accepted it. The future stays on the calling thread.
pub trait Sender: Send + Sync {
    fn send<'a>(&'a self, message: &'a OutgoingMessage) -> LocalBoxFuture<'a, Result<(), SendError>>;
}

/// The sender selected by the settings. Cheap to clone.
#[derive(Clone)]
pub struct WhatsApp {
    sender: Arc<dyn Sender>,
    /// Messages of the development sender; `None` with any other.
    pub log: Option<Arc<log::LogSender>>,
    /// Notices of a move can be sent.
    sends_moves: bool,
}

impl WhatsApp {
    pub fn new(config: &WhatsAppSettings) -> Self {
        match config.sender {
            SenderKind::Log => {
                let log = Arc::new(log::LogSender::default());
                Self { sender: log.clone(), log: Some(log), sends_moves: true }
            }
            SenderKind::Meta => {
                let sends_moves = !config.meta_template_move.is_empty();
                Self { sender: Arc::new(meta::Meta::new(config)), log: None, sends_moves }
            }
        }
    }

    /// Whether a notice of a move can be sent: an authentication template carries no sentence, so this needs a separate template.
    pub const fn sends_moves(&self) -> bool {
        self.sends_moves
    }

    /// Sends within `SEND_LIMIT`, or returns the reason for the failure.
    pub async fn send(&self, message: &OutgoingMessage) -> Result<(), SendError> {
        tokio::time::timeout(SEND_LIMIT, self.sender.send(message)).await.unwrap_or(Err(SendError::TimedOut))
    }
}
