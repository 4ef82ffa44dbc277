//! Coins that fall into the coin machine, and those of them that the server counts.

use nyala_core::coins::{CoinReport, new_coins};
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device::mqtt::message::{BootId, DeviceMessage};

use super::super::store::COIN_MACHINE;
use super::super::world::World;
use super::Mqtt;

/// Longest time for which a coin is not on flash: between two saves, and while pulses are sent.
const UNSAVED_MS: i64 = 60_000 + 6_000;

/// Coins that fell, and those that the server counts.
#[derive(Debug, Default)]
pub struct Coins {
    fallen: i64,
    unsaved_since: Option<Timestamp>,
    counted: Option<CoinReport>,
    /// The count of the first report, which is where the series begins.
    first: i64,
    total: i64,
    /// Two boards have said the coins of one machine.
    pub of_two: bool,
}

impl Coins {
    pub fn falls(&mut self, now: Timestamp) {
        self.fallen += 1;
        self.unsaved_since.get_or_insert(now);
    }

    pub const fn saved(&mut self) {
        self.unsaved_since = None;
    }

    /// The server accepts a message.
    pub fn hear(&mut self, message: &DeviceMessage, now: Timestamp) {
        let (stamp, coins) = match message {
            DeviceMessage::State(state) => (&state.stamp, state.coins),
            DeviceMessage::Heartbeat(beat) => (&beat.stamp, beat.coins),
            _ => return,
        };
        let Some(coins) = coins else { return };
        let report = CoinReport { boot: stamp.boot_id.as_ref().map(BootId::key), coins, at: now };
        if self.counted.is_none() {
            self.first = coins;
        }
        if let Some(new) = new_coins(self.counted, report) {
            (self.counted, self.total) = (Some(new.counted), self.total + new.coins);
        }
        assert!(self.total <= self.fallen || self.of_two, "more coins are counted than have fallen: {self:?}");
    }
}

impl World<Mqtt> {
    /// The board loses power: only coins of the last minute are lost.
    pub(super) fn check_lost_coins(&mut self) {
        let since = self.devices.washer.coins.unsaved_since.take();
        let unsaved_ms = since.map_or(0, |since| since.ms_until(self.now));
        assert!(unsaved_ms <= UNSAVED_MS, "coins of {unsaved_ms} ms are lost");
    }

    /// Every coin that a board has kept is counted.
    pub(super) fn check_coins(&self) {
        let of = &self.devices.machines[COIN_MACHINE];
        let coins = &self.devices.washer.coins;
        if !of.has_forgotten {
            let saved = i64::from(of.bodies[0].saved_coins());
            assert_eq!(coins.total, saved - coins.first, "{coins:?}");
        }
    }
}
