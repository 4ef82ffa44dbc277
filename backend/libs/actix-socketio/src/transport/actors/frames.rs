//! Queue of frames between a session and its carrier.

use std::collections::VecDeque;
use std::mem;

use actix_web_actors::ws::Message;

use crate::limits::Size;

/// Frames in order.
#[derive(Default)]
pub(super) struct Frames {
    queue: VecDeque<QueuedMessage>,
    bytes: usize,
}

pub(super) struct QueuedMessage {
    pub message: Message,
    pub bytes: usize,
    pub volatile: bool,
}

impl Frames {
    pub fn push(&mut self, queued: QueuedMessage) {
        self.bytes += queued.bytes;
        self.queue.push_back(queued);
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn size(&self) -> Size {
        Size { count: self.queue.len(), bytes: self.bytes }
    }

    /// Bytes of the first frame.
    pub fn first(&self) -> Option<usize> {
        self.queue.front().map(|queued| queued.bytes)
    }

    pub fn into_messages(self) -> impl Iterator<Item = Message> {
        self.queue.into_iter().map(|queued| queued.message)
    }

    pub fn append(&mut self, more: &mut Self) {
        self.bytes += mem::take(&mut more.bytes);
        if self.queue.is_empty() {
            mem::swap(&mut self.queue, &mut more.queue);
        } else {
            self.queue.append(&mut more.queue);
        }
    }

    /// Takes the first frames, at least one, together at most about `bytes` bytes.
    pub fn take(&mut self, bytes: usize) -> Self {
        if self.bytes <= bytes {
            return mem::take(self);
        }
        let mut taken = Self::default();
        while let Some(queued) = self.queue.pop_front_if(|next| taken.is_empty() || taken.bytes + next.bytes <= bytes) {
            self.bytes -= queued.bytes;
            taken.push(queued);
        }
        taken
    }

    /// Drops the volatile frames, and returns their number.
    pub fn drop_volatile(&mut self) -> u64 {
        let before = self.queue.len();
        self.queue.retain(|queued| !queued.volatile);
        self.bytes = self.queue.iter().map(|queued| queued.bytes).sum();
        (before - self.queue.len()) as u64
    }
}
