//! Destination of a session's packets: its current transport, or its last payload.

use super::outgoing::Part;
use super::waiting::{Lost, Waiting};
use crate::engine::CloseReason;
use crate::limits::{Limits, Size};
use crate::metrics::Metrics;
use crate::transport::Websocket;

pub(super) enum PacketSink {
    /// Boxed, because most sessions are on a websocket most of the time.
    Polling(Box<Waiting>),
    Websocket(Websocket),
    /// Closed, with a payload for the next GET.
    Closing(String),
    Closed,
}

impl PacketSink {
    /// Whether these parts may be queued.
    pub fn has_room(&self, parts: &[Part<'_>], volatile: bool, limits: &Limits) -> bool {
        match self {
            Self::Polling(waiting) => {
                let bytes = parts.iter().map(|part| part.text_len() + 1).sum();
                waiting.has_room(Size { count: parts.len(), bytes }, volatile, limits)
            }
            Self::Websocket(websocket) => {
                let bytes = parts.iter().map(|part| part.payload_len()).sum();
                websocket.has_room(Size { count: parts.len(), bytes }, volatile)
            }
            Self::Closing(_) | Self::Closed => true,
        }
    }

    /// Queues parts for the next flush. False: the session is closed and drops them.
    pub fn put(&mut self, parts: &[Part<'_>], volatile: bool) -> bool {
        match self {
            Self::Polling(waiting) => {
                for out in parts.iter().filter_map(|part| part.to_polling()) {
                    waiting.put(out);
                }
            }
            Self::Websocket(websocket) => {
                for part in parts {
                    websocket.put(*part, volatile);
                }
            }
            Self::Closing(_) | Self::Closed => return false,
        }
        true
    }

    /// Passes the gathered parts to the transport.
    pub fn flush(&mut self, max_payload: usize, metrics: &Metrics) -> Result<(), Lost> {
        match self {
            Self::Polling(waiting) => {
                let sent = waiting.flush(max_payload)?;
                metrics.frames_sent.add(sent.packets);
                metrics.bytes_sent.add(sent.bytes);
            }
            Self::Websocket(websocket) => websocket.flush(),
            Self::Closing(_) | Self::Closed => {}
        }
        Ok(())
    }

    /// Ends the transport, and returns what is left of it. `code` is the websocket's close code if the reason does not define it.
    pub fn close(self, reason: CloseReason, code: Option<u16>, max_payload: usize) -> Self {
        match self {
            Self::Polling(waiting) => part(*waiting, reason, max_payload),
            Self::Websocket(websocket) => {
                websocket.close(reason, code);
                Self::Closed
            }
            over => over,
        }
    }
}

/// A polling session ends with a close packet, or with a noop if the client closed it. A GET may be on its way, so after an orderly
/// end the last payload waits for it for a short time.
fn part(mut waiting: Waiting, reason: CloseReason, max_payload: usize) -> PacketSink {
    let packet = if reason == CloseReason::ClientLeft { "6" } else { "1" };
    let orderly = matches!(reason, CloseReason::ClientLeft | CloseReason::ServerLeft | CloseReason::ConnectTimeout);
    if reason == CloseReason::ClientLeft && waiting.answer(packet) {
        return PacketSink::Closed;
    }
    let payload = waiting.last_payload(packet, max_payload);
    if waiting.answer(&payload) || !orderly { PacketSink::Closed } else { PacketSink::Closing(payload) }
}
