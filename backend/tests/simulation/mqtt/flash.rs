//! The flash of the coin machine's board fails for a while, with the power on. While a change is not saved, the board sends only heartbeats, accepts no
//! start, and reports only coins that are on flash. Commands that arrive then are lost in this model. The core in C refuses them and sends the refusal
//! later, which its own tests check.

use nyala_core::domain::timestamp::Timestamp;
use nyala_device_sim::model::{Act, Outgoing};
use nyala_machines::device::mqtt::message::{DeviceMessage, Heartbeat};
use rand::Rng;

use super::super::store::COIN_MACHINE;
use super::super::world::World;
use super::device::Body;
use super::{Mqtt, MqttHappens};

/// Longest time until writing succeeds again.
const BROKEN_MS: i64 = 3 * 60_000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flash {
    /// Writing fails until then.
    broken_until: Option<Timestamp>,
    /// The memory is newer than what is on flash.
    is_behind: bool,
}

impl Flash {
    pub const fn is_broken(self) -> bool {
        self.broken_until.is_some()
    }

    pub const fn is_behind(self) -> bool {
        self.is_behind
    }

    /// Returns whether writing succeeds.
    pub const fn write(&mut self) -> bool {
        self.is_behind = self.is_broken();
        !self.is_behind
    }

    /// After a loss of power there is nothing but the flash.
    pub const fn power_goes(&mut self) {
        self.is_behind = false;
    }
}

impl Body {
    /// What the board may send of a message.
    pub fn sendable(&self, message: DeviceMessage) -> Option<DeviceMessage> {
        match message {
            _ if !self.flash.is_behind => Some(message),
            DeviceMessage::Heartbeat(beat) => {
                let coins = beat.coins.map(|_| i64::from(self.saved_coins()));
                Some(DeviceMessage::Heartbeat(Heartbeat { coins, ..beat }))
            }
            _ => None,
        }
    }
}

impl World<Mqtt> {
    pub(super) fn flash_breaks(&mut self) {
        let board = &mut self.devices.machines[COIN_MACHINE].bodies[0];
        if board.flash.is_broken() || board.is_recorded() {
            return;
        }
        let after_ms = self.rng.random_range(1_000..BROKEN_MS);
        board.flash.broken_until = Some(self.now.plus_ms(after_ms));
        self.note("flash broken");
        self.devices.washer.gone_at = Some(self.now);
        self.later(after_ms, MqttHappens::FlashIsMended);
    }

    pub(super) fn flash_is_mended(&mut self) {
        let now = self.now;
        let board = &mut self.devices.machines[COIN_MACHINE].bodies[0];
        // At peace it is mended before its time, and a later failure is not this one.
        if board.flash.broken_until.take_if(|until| *until <= now || !self.troubled).is_none() {
            return;
        }
        let (was_behind, is_sending) = (board.flash.is_behind, board.sending.is_some());
        self.devices.washer.gone_at = Some(now);
        if was_behind && !is_sending {
            // What it could not tell comes with its state, also that its run is over.
            self.devices.machines[COIN_MACHINE].runs.last_mut().into_iter().for_each(|run| run.moved_at = Some(now));
            self.act(COIN_MACHINE, 0, &[Act::Save, Act::Send(Outgoing::State)]);
        }
    }
}
