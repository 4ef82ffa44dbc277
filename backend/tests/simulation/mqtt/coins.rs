//! Coins that fall into the coin machine, and those of them that the server counts.

use nyala_core::coins::CoinReport;
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device::mqtt::message::{BootId, DeviceMessage};

use super::super::coins::CountedCoins;
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
    pub counted: CountedCoins,
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
        self.counted.hear(report, self.fallen);
    }
}

impl World<Mqtt> {
    /// The board loses power: only coins of the last minute are lost.
    pub(super) fn check_lost_coins(&mut self) {
        let since = self.devices.washer.coins.unsaved_since.take();
        let since = since.filter(|_| !self.devices.machines[COIN_MACHINE].bodies[0].flash.is_behind());
        let unsaved_ms = since.map_or(0, |since| since.ms_until(self.now));
        assert!(unsaved_ms <= UNSAVED_MS, "coins of {unsaved_ms} ms are lost");
    }

    /// Every coin that a board has kept is counted.
    pub(super) fn check_coins(&self) {
        let of = &self.devices.machines[COIN_MACHINE];
        if !of.has_forgotten {
            self.devices.washer.coins.counted.check_all(i64::from(of.bodies[0].saved_coins()));
        }
    }
}
