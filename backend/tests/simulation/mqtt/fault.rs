//! The faults.

use nyala_core::domain::timestamp::Timestamp;
use rand::Rng;

use super::super::store::COIN_MACHINE;
use super::super::world::{Happening, World};
use super::connection::Weather;
use super::{Mqtt, MqttHappens};

impl World<Mqtt> {
    pub(super) fn fault(&mut self, machine: usize) {
        match self.rng.random_range(0..40) {
            0 | 1 => self.after(0, Happening::Crash),
            5..=9 => self.power_cut(machine),
            10..=18 => self.out_of_reach(machine),
            19..=21 => self.weather_turns(machine),
            22..=24 => self.line_stalls(machine),
            25 | 26 => {
                self.note("machine refuses");
                self.break_machine(machine);
            }
            27 => self.clone_comes(machine),
            28 if machine == COIN_MACHINE => self.replace_board(true),
            29 | 30 if machine == COIN_MACHINE => self.flash_breaks(),
            _ => {
                self.note("line cut");
                self.drop_line(machine, 0, true);
                let after_ms = 100 + self.up_to(3_000);
                self.later(after_ms, MqttHappens::Connect { machine, body: 0 });
            }
        }
    }

    pub(super) fn power_cut(&mut self, machine: usize) {
        if self.devices.machines[machine].bodies[0].model.is_none() {
            return;
        }
        let forgets = self.chance(0.1);
        self.note(if forgets { "amnesia" } else { "power cut" });
        let runs = self.devices.machines[machine].bodies[0].runs(self.now).is_some();
        if runs {
            self.note("power cut in a run");
        }
        self.drop_line(machine, 0, false);
        self.power_goes(machine, 0, forgets);
        // In most cases a person has only pulled the plug.
        let longest_ms = if self.chance(0.5) { 10_000 } else { 600_000 };
        let after_ms = 1_000 + self.up_to(longest_ms);
        self.later(after_ms, MqttHappens::Power { machine, body: 0 });
    }

    /// The Wi-Fi or a network on the path fails. The device notices at once, or when its next message gets no answer.
    fn out_of_reach(&mut self, machine: usize) {
        let longest_ms = if self.chance(0.5) { 5_000 } else { 120_000 };
        let until = self.now.plus_ms(500 + self.up_to(longest_ms));
        self.devices.machines[machine].bodies[0].shut_off_until = until;
        if self.chance(0.5) {
            self.note("wifi gone");
            self.drop_line(machine, 0, false);
            let after_ms = self.up_to(2_000);
            self.later(after_ms, MqttHappens::Connect { machine, body: 0 });
        } else {
            self.note("half-open");
            self.deaden(machine, 0);
        }
    }

    pub(super) fn falls_silent(&mut self, machine: usize) {
        if self.troubled {
            self.note("long silence");
            let until = self.now.plus_ms(10 * 60_000 + self.up_to(15 * 60_000));
            self.devices.machines[machine].bodies[0].shut_off_until = until;
            self.deaden(machine, 0);
        }
    }

    fn weather_turns(&mut self, machine: usize) {
        self.note("bad weather");
        let slow_ms = [1_000, 3_000, 10_000, 20_000][self.rng.random_range(0..4)];
        let until = self.now.plus_ms(1_000 + self.up_to(2 * 60_000));
        self.devices.talks[machine].weather = Weather { until, slow_ms };
    }

    fn line_stalls(&mut self, machine: usize) {
        if let Some(connection) = self.devices.machines[machine].bodies[0].connection {
            self.note("line stalls");
            let ms = 500 + self.up_to(20_000);
            self.stall(connection, ms);
        }
    }

    /// Repairs everything.
    pub(super) fn heal(&mut self, machine: usize) {
        self.clone_leaves(machine);
        self.repaired(machine);
        if machine == COIN_MACHINE {
            self.replace_board(false);
            self.flash_is_mended();
            self.washer_rests();
        }
        self.devices.talks[machine].weather = Weather::FINE;
        self.devices.machines[machine].bodies[0].shut_off_until = Timestamp::default();
        self.later(0, MqttHappens::Power { machine, body: 0 });
        self.later(0, MqttHappens::Connect { machine, body: 0 });
    }
}
