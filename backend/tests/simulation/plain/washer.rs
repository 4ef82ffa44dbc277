//! The machine behind the simulated device that wants coins: its cycle, which a sensor sees, and its coins. In contrast to the one over MQTT, its
//! sensor never errs, and messages that are not newer than the last are ignored, as the conversation would.

use std::collections::HashSet;

use nyala_core::coins::CoinReport;
use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{AckResult, DeviceEvent, DeviceRun, Sensor};
use nyala_machines::device::memory::PulseRun;
use uuid::Uuid;

use super::super::store::{COIN_MACHINE, PULSES};
use super::super::world::Happening;
use super::{PlainHappens, PlainWorld};

/// Customers who never press Start.
const NEVER: f64 = 0.3;
/// Number of cycles in a history that are paid for by coins and not by phone.
const COINS: u32 = 2;
/// How much longer than its run a cycle may take.
const LONGER_MS: i64 = 3 * 60_000;
/// What the sensor adds to a run that would end although its machine runs, and how long before the end.
const ADDED_S: i64 = 60;
const ADDED_BEFORE_MS: i64 = 10_000;
const MAX_ADDED_S: i64 = 3_600;

#[derive(Debug, Default)]
pub struct Washer {
    /// Number of its last cycle, and whether that runs.
    cycle: u32,
    runs: bool,
    /// The last run by pulses, and whether the machine has run in it. `None`: the device does not know.
    of: Option<(Uuid, bool)>,
    /// The commands in whose runs the machine has really run.
    ran: HashSet<Uuid>,
    /// Number of coins that have fallen, and the number on the board's own counter, which is 0 after the board was replaced.
    pub fallen: u32,
    coins: u32,
    /// A board has lost coins that it had not reported.
    pub has_lost: bool,
    boot: i64,
    /// When the device sent the newest state report that was received.
    heard_at: Timestamp,
}

#[derive(Debug, Clone, Copy)]
pub enum WasherHappens {
    /// A customer pays with coins, and presses Start.
    Coins,
    Press {
        cmd_id: Uuid,
    },
    Ends {
        cycle: u32,
    },
    /// The run is about to end.
    Extend {
        cmd_id: Uuid,
    },
}

impl PlainWorld {
    pub fn plan_washer(&mut self, within_ms: i64) {
        for _ in 0..COINS {
            let at = self.up_to(within_ms);
            self.washer_later(at, WasherHappens::Coins);
        }
    }

    fn washer_later(&mut self, ms: i64, what: WasherHappens) {
        self.after(ms, Happening::Device(PlainHappens::Washer { what }));
    }

    pub(super) fn washer(&mut self, what: WasherHappens) {
        match what {
            WasherHappens::Coins if self.troubled => {
                let washer = &mut self.devices.0[COIN_MACHINE].washer;
                let n = u32::try_from(PULSES.n).unwrap();
                (washer.fallen, washer.coins) = (washer.fallen + n, washer.coins + n);
                self.says_coins();
                if !self.devices.0[COIN_MACHINE].washer.runs && self.coin_run().is_none() {
                    self.note("machine runs by coins");
                    let cycle_ms = 5_000 + self.up_to(60_000);
                    self.begins_cycle(cycle_ms);
                }
            }
            WasherHappens::Press { cmd_id } => {
                let washer = &mut self.devices.0[COIN_MACHINE].washer;
                if washer.runs || washer.of != Some((cmd_id, false)) {
                    return;
                }
                let Some((left_ms, _)) = self.coin_run().filter(|(_, run)| *run == cmd_id) else { return };
                let washer = &mut self.devices.0[COIN_MACHINE].washer;
                washer.of = Some((cmd_id, true));
                washer.ran.insert(cmd_id);
                let cycle_ms = self.up_to(left_ms + LONGER_MS);
                self.begins_cycle(cycle_ms);
                self.washer_later(left_ms - ADDED_BEFORE_MS, WasherHappens::Extend { cmd_id });
            }
            WasherHappens::Ends { cycle } if self.devices.0[COIN_MACHINE].washer.cycle == cycle => self.cycle_ends(),
            WasherHappens::Extend { cmd_id } => self.extend(cmd_id),
            _ => {}
        }
    }

    fn begins_cycle(&mut self, cycle_ms: i64) {
        let device = &mut self.devices.0[COIN_MACHINE];
        (device.washer.runs, device.washer.cycle, device.memory.refuses_pulses) = (true, device.washer.cycle + 1, true);
        let cycle = device.washer.cycle;
        self.device_tells(COIN_MACHINE);
        self.washer_later(cycle_ms, WasherHappens::Ends { cycle });
    }

    fn cycle_ends(&mut self) {
        let device = &mut self.devices.0[COIN_MACHINE];
        (device.washer.runs, device.memory.refuses_pulses) = (false, false);
        if let Some((left_ms, cmd_id)) = self.coin_run().filter(|(_, cmd_id)| self.has_run(*cmd_id) == Some(true)) {
            self.note("end seen by its sensor");
            self.moves_end(cmd_id, -left_ms, 0);
            self.send(COIN_MACHINE, DeviceEvent::Ack { cmd_id, result: AckResult::Done }, 0);
        }
        self.device_tells(COIN_MACHINE);
    }

    /// A run whose machine still runs shortly before its end is extended.
    fn extend(&mut self, cmd_id: Uuid) {
        let Some((left_ms, _)) = self.coin_run().filter(|(_, run)| *run == cmd_id) else { return };
        let device = &self.devices.0[COIN_MACHINE];
        let added_s = device.memory.pulse_run(cmd_id).map_or(MAX_ADDED_S, |(run, _)| run.added_s);
        if !device.washer.runs || added_s >= MAX_ADDED_S {
            return;
        }
        self.note("end moved by its sensor");
        self.moves_end(cmd_id, ADDED_S * 1_000, ADDED_S);
        self.device_tells(COIN_MACHINE);
        self.washer_later(left_ms + ADDED_S * 1_000 - ADDED_BEFORE_MS, WasherHappens::Extend { cmd_id });
    }

    /// The run that its device has, and how long that goes on.
    fn coin_run(&self) -> Option<(i64, Uuid)> {
        let device = &self.devices.0[COIN_MACHINE];
        device.memory.run(self.now.plus_ms(device.skew_ms)).map(|run| (run.left_ms, run.cmd_id))
    }

    fn has_run(&self, cmd_id: Uuid) -> Option<bool> {
        self.devices.0[COIN_MACHINE].washer.of.filter(|(of, _)| *of == cmd_id).map(|(_, has_run)| has_run)
    }

    fn moves_end(&mut self, cmd_id: Uuid, ms: i64, added_s: i64) {
        let now = self.now;
        let device = &mut self.devices.0[COIN_MACHINE];
        let Some((run, ends_ms)) = device.memory.pulse_run(cmd_id) else { return };
        let moved = PulseRun { added_s: run.added_s + added_s, has_run: true, ..run };
        device.memory.set_pulse_run(cmd_id, (moved, ends_ms + ms));
        if let Some(run) = device.runs.iter_mut().rev().find(|run| run.cmd_id == cmd_id && run.ends_at > now) {
            (run.ends_at, run.moved_at) = (run.ends_at.plus_ms(ms), Some(now));
            let after_ms = now.ms_until(run.ends_at);
            self.after(after_ms, Happening::Device(PlainHappens::Tells { machine: COIN_MACHINE }));
        }
    }

    /// Schedules the customer's Start after the pulses of a purchase. It does nothing in a history about an edge, so that the sensor moves no end there.
    pub(super) fn washer_has_credit(&mut self, cmd_id: Uuid) {
        if self.halt.is_some() {
            return;
        }
        let Some((left_ms, _)) = self.coin_run().filter(|(_, run)| *run == cmd_id) else { return };
        self.devices.0[COIN_MACHINE].washer.of = Some((cmd_id, false));
        if !self.chance(NEVER) {
            let after_ms = self.up_to(left_ms / 2);
            self.washer_later(after_ms, WasherHappens::Press { cmd_id });
        }
    }

    /// The device has lost power: it no longer knows whether its machine has run. Without its memory it is another board.
    pub(super) fn washer_is_unknown(&mut self, forgets: bool) {
        let washer = &mut self.devices.0[COIN_MACHINE].washer;
        (washer.of, washer.boot) = (None, washer.boot + 1);
        if forgets {
            (washer.coins, washer.has_lost) = (0, true);
        }
    }

    /// A message as the board with the sensor sends it.
    pub(super) fn with_sensor(&self, event: DeviceEvent) -> DeviceEvent {
        let DeviceEvent::State { online, run, .. } = event else { return event };
        let (device, now) = (&self.devices.0[COIN_MACHINE], self.now);
        let added_s = |run: DeviceRun| device.memory.pulse_run(run.cmd_id).map_or(0, |(run, _)| run.added_s);
        let over = device.washer.of.filter(|(_, has_run)| !has_run && run.is_none() && !device.memory.is_pulsing());
        let has_ended = |cmd_id: &Uuid| device.memory.result_of(*cmd_id, now.plus_ms(device.skew_ms)) == Some(AckResult::Done);
        let never_ran = over.map(|(cmd_id, _)| cmd_id).filter(has_ended);
        DeviceEvent::State {
            online,
            run: run.map(|run| DeviceRun { added_s: added_s(run), ..run }),
            sensor: Sensor { runs: Some(device.washer.runs), never_ran },
        }
    }

    /// Whether a state report of the coin machine's device is newer than those that were received before.
    pub(super) fn is_news(&mut self, event: &DeviceEvent, sent_at: Timestamp) -> bool {
        let heard_at = &mut self.devices.0[COIN_MACHINE].washer.heard_at;
        let is_old = matches!(event, DeviceEvent::State { .. }) && sent_at < *heard_at;
        if matches!(event, DeviceEvent::State { .. }) {
            *heard_at = sent_at.max(*heard_at);
        }
        !is_old
    }

    pub(super) fn check_stood_still(&self, purchase: PurchaseId) {
        let ran = &self.devices.0[COIN_MACHINE].washer.ran;
        assert!(!ran.contains(&self.store.purchase(purchase).cmd_id), "it has run, and its customer is told that it has not");
    }

    // --- coins ---

    /// The device reports its coins. Each copy that arrives is written a moment later, by the server that it came to.
    pub(super) fn says_coins(&mut self) {
        let washer = &self.devices.0[COIN_MACHINE].washer;
        let (boot, coins) = (Some(washer.boot), i64::from(washer.coins));
        if self.devices.0[COIN_MACHINE].away.is_some() {
            return;
        }
        for delay_ms in self.deliveries(COIN_MACHINE) {
            let (written_ms, skew_ms) = (self.statement_ms(), self.clock_error_ms());
            let at = self.now.plus_ms(delay_ms + self.up_to(skew_ms));
            let report = CoinReport { boot, coins, at };
            self.after(delay_ms + written_ms, Happening::Device(PlainHappens::CoinsWritten { report }));
        }
    }

    /// A report of an unknown former boot is dropped here: it looks like another board's. The tests of `Counted` check such reports.
    pub(super) fn writes_coins(&mut self, report: CoinReport) {
        let washer = &self.devices.0[COIN_MACHINE].washer;
        if report.boot == Some(washer.boot) || self.devices.1.knows(report.boot) {
            self.devices.1.hear(report, i64::from(washer.fallen));
        }
    }
}
