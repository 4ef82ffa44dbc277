//! Effects of a conversation that need no connection: events for machines, presence, troubles and metrics.

use std::sync::OnceLock;

use nyala_core::domain::timestamp::Timestamp;

use super::coins::CoinCounts;
use super::conversation::Effect;
use super::metrics::{DeviceMetrics, Dropped};
use super::presence::Presence;
use super::signal::Signals;
use super::trouble::Troubles;
use crate::device::Uplink;
use crate::machines::Location;

#[derive(Debug)]
pub struct Reports {
    pub metrics: DeviceMetrics,
    pub presence: Presence,
    pub signals: Signals,
    pub coins: CoinCounts,
    pub troubles: Troubles,
    /// Set when the driver is started.
    pub uplink: OnceLock<Uplink>,
}

impl Reports {
    /// Carries an effect out. Returns an effect that needs the device's connection.
    pub fn carry(&self, location: Location, effect: Effect, now: Timestamp) -> Option<Effect> {
        match effect {
            Effect::Notify(event, grounds) => {
                self.metrics.event_sent(grounds);
                if let Some(uplink) = self.uplink.get() {
                    uplink.send(location, event);
                }
            }
            Effect::Presence(present) => {
                self.presence.note(location.idmesin, present, now);
                self.signals.note_presence(location.idmesin, present, now);
            }
            Effect::Epoch(epoch) => self.presence.note_epoch(location.idmesin, epoch, now),
            Effect::Trouble(trouble) => self.troubles.report(location, trouble),
            Effect::Dropped(why) => self.metrics.dropped(Dropped::Disbelieved(why)),
            Effect::Write(..) | Effect::Close(_) => return Some(effect),
        }
        None
    }
}
