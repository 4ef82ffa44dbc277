//! The devices of one thread: what is known of each, and which connections it has.

use std::collections::HashMap;

use tokio::sync::oneshot;

use super::shared::LineKey;
use crate::domain::driver_kind::DriverKind;
use crate::domain::timestamp::Timestamp;
use crate::machine::device::mqtt::conversation::{Conversation, Route};
use crate::machine::machines::Location;

/// Connections of one device.
pub const LINES: usize = 4;
/// Those who may wait for one device's word; more are told what is stored.
const WAITING: usize = 64;

#[derive(Debug, Default)]
pub struct Devices(HashMap<i64, Device>);

#[derive(Debug)]
pub struct Device {
    pub location: Location,
    pub conversation: Conversation,
    /// Its connections, the oldest first.
    pub lines: Vec<LineKey>,
    waiting: Vec<oneshot::Sender<bool>>,
}

impl Devices {
    pub fn get(&mut self, idmesin: i64) -> Option<&mut Device> {
        self.0.get_mut(&idmesin)
    }

    pub fn get_or_make(&mut self, location: Location) -> &mut Device {
        self.0.entry(location.idmesin).or_insert_with(|| Device {
            location,
            conversation: Conversation::new(Route::Endpoint),
            lines: Vec::new(),
            waiting: Vec::new(),
        })
    }

    /// Those that have been silent for too long.
    pub fn silent(&self, now: Timestamp) -> Vec<i64> {
        let silent = |device: &Device| device.conversation.silent_at().is_some_and(|at| at <= now);
        self.0.iter().filter(|(_, device)| silent(device)).map(|(id, _)| *id).collect()
    }
}

impl Device {
    /// `answer` is told when the device has said something, or is gone.
    pub fn wait(&mut self, answer: oneshot::Sender<bool>) {
        self.waiting.retain(|waiting| !waiting.is_closed());
        if self.waiting.len() < WAITING {
            self.waiting.push(answer);
        }
    }

    /// Tells those who wait, when there is nothing to wait for any more.
    pub fn answer(&mut self, now: Timestamp) {
        if !self.waiting.is_empty() && !self.conversation.is_asked(now) {
            let present = self.conversation.is_present();
            for waiting in self.waiting.drain(..) {
                let _ = waiting.send(present);
            }
        }
    }
}

/// Where a machine over MQTT stands.
pub const fn location(idmesin: i64, idoutlet: i64) -> Location {
    Location { idmesin, idoutlet, driver: DriverKind::Mqtt }
}
