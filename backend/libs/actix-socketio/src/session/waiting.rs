//! Packets that wait for a polling request.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use super::outgoing::Outgoing;
use crate::codec::SEPARATOR;
use crate::limits::{Limits, Size};

/// The outbound side of a session on polling.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    queue: VecDeque<Outgoing>,
    bytes: usize,
    poll: Option<Poll>,
}

#[derive(Debug)]
struct Poll {
    number: u64,
    answer: oneshot::Sender<String>,
}

/// The client dropped the open request before its answer, so the packets in that answer are lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lost;

/// What was sent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sent {
    pub packets: u64,
    pub bytes: u64,
}

impl Waiting {
    /// Whether `more` packets may be queued. One packet always fits into an empty queue.
    pub fn has_room(&self, more: Size, volatile: bool, limits: &Limits) -> bool {
        let mut max = limits.max_waiting();
        if volatile {
            max.count = limits.max_queued_frames;
        }
        let queued = Size { count: self.queue.len(), bytes: self.bytes };
        self.queue.is_empty() || (queued + more).fits(max)
    }

    /// Queues a packet for the next flush.
    pub fn put(&mut self, out: Outgoing) {
        self.bytes += out.text_len() + 1;
        self.queue.push_back(out);
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn has_poll(&self) -> bool {
        self.poll.is_some()
    }

    /// Opens a polling request, identified by its number.
    pub fn open(&mut self, number: u64) -> oneshot::Receiver<String> {
        let (answer, receiver) = oneshot::channel();
        self.poll = Some(Poll { number, answer });
        receiver
    }

    /// Whether this request is the one that is open.
    pub fn is_open(&self, number: u64) -> bool {
        self.poll.as_ref().is_some_and(|p| p.number == number)
    }

    /// Answers the open request with the waiting packets, if both exist.
    pub fn flush(&mut self, max_payload: usize) -> Result<Sent, Lost> {
        if self.queue.is_empty() {
            return Ok(Sent::default());
        }
        let Some(poll) = self.poll.take() else {
            return Ok(Sent::default());
        };
        let (payload, packets) = self.payload(max_payload);
        let bytes = payload.len() as u64;
        poll.answer.send(payload).map(|()| Sent { packets, bytes }).map_err(|_| Lost)
    }

    /// Answers the open request with one packet, bypassing the queue. False: no request is open.
    pub fn answer(&mut self, packet: &str) -> bool {
        match self.poll.take() {
            Some(poll) => poll.answer.send(packet.into()).is_ok(),
            None => false,
        }
    }

    /// The front of the queue as one payload of at most `max` bytes (or one larger packet).
    fn payload(&mut self, max: usize) -> (String, u64) {
        let (mut out, mut packets) = (String::new(), 0);
        while let Some(next) = self.queue.front() {
            if !out.is_empty() {
                if out.len() + 1 + next.text_len() > max {
                    break;
                }
                out.push(SEPARATOR);
            }
            next.write_text(&mut out);
            self.bytes -= next.text_len() + 1;
            packets += 1;
            self.queue.pop_front();
        }
        (out, packets)
    }

    /// The last payload of a session: the waiting packets, as far as they fit, and `packet`. If a waiting packet leaves no space for
    /// `packet`, it is sent alone: the client's next request then shows that the session is closed.
    pub fn last_payload(&mut self, packet: &str, max: usize) -> String {
        let room = max.saturating_sub(packet.len() + 1);
        let (mut out, _) = self.payload(room);
        if out.is_empty() {
            return packet.into();
        }
        if out.len() <= room {
            out.push(SEPARATOR);
            out.push_str(packet);
        }
        out
    }

    /// The waiting packets, for the websocket of an upgrade.
    pub fn into_queue(self) -> VecDeque<Outgoing> {
        self.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Frame;

    fn last(packets: &[&str], max: usize) -> String {
        let mut waiting = Waiting::default();
        packets.iter().for_each(|packet| waiting.put(Outgoing::Text(Frame::text(packet))));
        waiting.last_payload("1", max)
    }

    #[test]
    fn the_last_payload_is_no_larger_than_others() {
        assert_eq!(last(&[], 8), "1");
        assert_eq!(last(&["4abc", "4d"], 8), "4abc\u{1e}1");
        assert_eq!(last(&["4abcde", "4f"], 8), "4abcde\u{1e}1");
        assert_eq!(last(&["4abcdef", "4g"], 8), "4abcdef", "there is no room for two more bytes");
        assert_eq!(last(&["4abcdefghi"], 8), "4abcdefghi", "one packet may be larger");
    }
}
