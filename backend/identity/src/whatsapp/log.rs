//! Development sender: messages go to `/dev/whatsapp` (docs/contract.md §5). The log records that a message was sent, but neither its
//! content nor its number.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use nyala_core::domain::telp::Telp;

use super::{Content, MoveNotice, OutgoingMessage, SendError, Sender};

/// Messages kept, as many as may be sent in an hour; the oldest is dropped first.
const MAX_KEPT: usize = 10_000;

#[derive(Default)]
pub struct LogSender {
    /// Newest first. The lock is held for a push or a copy, never across an await.
    sent: Mutex<VecDeque<OutgoingMessage>>,
}

impl LogSender {
    /// Messages to `telp`, or all messages, newest first.
    pub fn sent(&self, telp: Option<&Telp>) -> Vec<OutgoingMessage> {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.iter().filter(|p| telp.is_none_or(|t| *t == p.telp)).cloned().collect()
    }
}

impl Sender for LogSender {
    fn send<'a>(&'a self, message: &'a OutgoingMessage) -> LocalBoxFuture<'a, Result<(), SendError>> {
        async move {
            tracing::info!("a WhatsApp message came: see /dev/whatsapp");
            let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
            sent.push_front(message.clone());
            sent.truncate(MAX_KEPT);
            Ok(())
        }
        .boxed_local()
    }
}

/// The text for the customer.
pub fn text(message: &OutgoingMessage) -> String {
    match &message.content {
        Content::Code(code) => {
            format!("{} adalah kode verifikasi Anda. Berlaku 5 menit. Jangan berikan kode ini kepada siapa pun.", code.as_str())
        }
        Content::Move(MoveNotice { to, when, link, .. }) => {
            format!("Akun Nyala Anda akan pindah ke nomor {to} pada {when}. Bukan Anda yang meminta? Tolak di {link}")
        }
    }
}
