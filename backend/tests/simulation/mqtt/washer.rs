//! The machine behind a coin machine's board: it counts pulses and coins, and runs a cycle of its own once its customer has pressed Start. Its
//! sensor pauses, stays on when it is stuck, and sees nothing when nobody presses.

use std::collections::{HashMap, HashSet};

use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::Pulses;
use nyala_core::purchase::state::PurchaseState;
use rand::Rng;
use uuid::Uuid;

use super::super::store::{COIN_MACHINE, PULSES};
use super::super::world::{TROUBLE_MS, World};
use super::coins::Coins;
use super::device::Body;
use super::{Mqtt, MqttHappens};

/// Coins in a history.
const COINS: u32 = 6;
/// Customers who never press Start.
const NEVER: f64 = 0.15;
/// Machines without a Start button, which begin with the last coin.
const AT_ONCE: f64 = 0.2;
const PRESS_MS: i64 = 4 * 60_000;
const CYCLE_MS: i64 = 40 * 60_000;
/// A pause in a cycle, shorter than `sense_s`.
const PAUSE_MS: i64 = 45_000;
/// Probability that somebody pulls the plug in pulses.
const CUT_IN_PULSES: f64 = 0.1;
/// Probability that the flash fails in pulses, so that their end is not on it.
const FLASH_FAILS: f64 = 0.05;
/// Share of histories whose machine does not take pulses of this width for coins.
const OTHER_WIDTH: f64 = 0.03;
/// Flickers of the sensor, shorter than what it takes for a level.
const BOUNCES: u32 = 12;
const BOUNCE_MS: i64 = 1_500;
/// How long after the end of a cycle its run may still go on: `sense_s`, and the time in which a level counts that flickers.
const OVER_WITHIN_MS: i64 = 60_000 + 10_000;
/// Time at high after which the sensor ends a run.
const RAN_MS: i64 = 60_000;
/// What a sensor adds to a run at most.
const MAX_ADDED_S: i64 = 3_600;

#[derive(Debug, Default)]
pub struct Washer {
    credit: i32,
    /// It takes pulses of another width for coins.
    wants_other_width: bool,
    /// Pulses that each command has sent, by their edges on the wire.
    given: HashMap<Uuid, i32>,
    /// Commands in whose pulses the power was lost.
    pub cut: HashSet<Uuid>,
    /// Number of its last cycle, and whether that runs.
    cycle: u32,
    runs: bool,
    paused: bool,
    /// The cycle has paused: a run whose end by its time falls into a pause is over while the machine goes on.
    has_paused: bool,
    stuck: bool,
    /// The sensor shows the wrong level for a moment.
    flickers: bool,
    /// The run whose cycle the sensor has seen from its beginning, in that boot of the board.
    followed: Option<(Uuid, i64)>,
    /// Run that an earlier cycle has used and that was not over when this cycle began: its end is not checked.
    used: Option<Uuid>,
    /// When its board last lost power at a save, or was replaced.
    pub gone_at: Option<Timestamp>,
    pub coins: Coins,
}

/// What its board is sending.
#[derive(Debug, Clone, Copy)]
pub struct Sending {
    cmd_id: Uuid,
    pulses: Pulses,
    since: Timestamp,
}

#[derive(Debug, Clone, Copy)]
pub enum WasherHappens {
    Coin,
    Press,
    Pause,
    GoesOn,
    Ends,
    /// By now the run of that cycle is over.
    OverBy {
        cmd_id: Uuid,
        boot: i64,
    },
    Bounces,
    Settles,
    SensorSticks,
    SensorIsMended,
}

/// The board's run whose machine the sensor has seen running.
fn of_sensor(board: &Body, now: Timestamp) -> Option<Uuid> {
    let cmd_id = board.runs(now)?.cmd_id;
    let (run, _) = board.model.as_ref()?.journal().pulse_run(cmd_id)?;
    run.has_run.then_some(cmd_id)
}

impl World<Mqtt> {
    pub(super) fn plan_washer(&mut self) {
        for _ in 0..COINS {
            let at = self.up_to(TROUBLE_MS);
            self.washer_later(at, 0, WasherHappens::Coin);
        }
        for _ in 0..BOUNCES {
            let at = self.up_to(TROUBLE_MS);
            self.washer_later(at, 0, WasherHappens::Bounces);
        }
        if self.chance(0.2) {
            let at = self.up_to(TROUBLE_MS);
            self.washer_later(at, 0, WasherHappens::SensorSticks);
        }
        self.devices.washer.wants_other_width = self.chance(OTHER_WIDTH);
    }

    fn washer_later(&mut self, ms: i64, cycle: u32, what: WasherHappens) {
        self.later(ms, MqttHappens::Washer { cycle, what });
    }

    pub(super) fn washer(&mut self, cycle: u32, what: WasherHappens) {
        let of = &mut self.devices.washer;
        let is_now = of.runs && of.cycle == cycle;
        match what {
            WasherHappens::Coin if self.troubled => self.coin(),
            WasherHappens::Press if of.cycle == cycle && !of.runs => {
                let used = of_sensor(&self.devices.machines[COIN_MACHINE].bodies[0], self.now);
                (of.runs, of.has_paused, of.followed, of.used) = (true, false, None, used);
                self.note("machine runs by itself");
                let cycle_ms = 5_000 + self.up_to(CYCLE_MS);
                if self.chance(0.5) {
                    let after_ms = self.up_to(cycle_ms);
                    self.washer_later(after_ms, cycle, WasherHappens::Pause);
                }
                self.washer_later(cycle_ms, cycle, WasherHappens::Ends);
                self.level(true);
            }
            WasherHappens::Pause if is_now => {
                let after_ms = self.up_to(PAUSE_MS);
                self.washer_later(after_ms, cycle, WasherHappens::GoesOn);
                let of = &mut self.devices.washer;
                (of.paused, of.has_paused, of.followed) = (true, true, None);
                self.level(false);
            }
            WasherHappens::GoesOn if is_now => {
                of.paused = false;
                self.level(true);
            }
            WasherHappens::Ends if is_now => {
                (of.runs, of.paused) = (false, false);
                self.level(false);
                self.cycle_ends(cycle);
                self.credited();
            }
            WasherHappens::OverBy { cmd_id, boot } if of.cycle == cycle && !of.runs && !of.stuck => {
                let (now, board) = (self.now, &self.devices.machines[COIN_MACHINE].bodies[0]);
                let goes_on = board.boot == boot && board.runs(now).is_some_and(|run| run.cmd_id == cmd_id);
                assert!(!goes_on, "the machine has ended, and its run goes on");
            }
            WasherHappens::Bounces if self.troubled && !of.stuck => {
                let high = of.runs && !of.paused;
                of.flickers = true;
                self.note("sensor bounces");
                self.senses(!high);
                let after_ms = self.up_to(BOUNCE_MS);
                self.washer_later(after_ms, 0, WasherHappens::Settles);
            }
            WasherHappens::Settles if !of.stuck => {
                of.flickers = false;
                let high = of.runs && !of.paused;
                self.senses(high);
            }
            WasherHappens::SensorSticks if self.troubled => {
                self.note("sensor sticks");
                (self.devices.washer.stuck, self.devices.washer.followed) = (true, None);
                self.senses(true);
                let after_ms = self.up_to(20 * 60_000);
                self.washer_later(after_ms, 0, WasherHappens::SensorIsMended);
            }
            WasherHappens::SensorIsMended => {
                of.stuck = false;
                let high = of.runs && !of.paused;
                self.senses(high);
            }
            _ => {}
        }
    }

    /// Ends what is left of its faults and of coins.
    pub(super) fn washer_rests(&mut self) {
        let of = &mut self.devices.washer;
        (of.credit, of.stuck, of.runs, of.paused, of.cycle) = (0, false, false, false, of.cycle + 1);
        self.senses(false);
    }

    fn coin(&mut self) {
        self.devices.washer.credit += 1;
        let now = self.now;
        let of = &mut self.devices.machines[COIN_MACHINE].bodies[0];
        if of.model.is_some() && !of.is_old {
            self.devices.washer.coins.falls(now);
        }
        let up_ms = of.up_ms(now);
        of.record_input("coin", now);
        let acts = of.model.as_mut().map_or_else(Vec::new, |model| model.coin(up_ms));
        self.act(COIN_MACHINE, 0, &acts);
        self.credited();
    }

    fn level(&mut self, runs: bool) {
        if !self.devices.washer.stuck {
            self.senses(runs);
        }
    }

    /// The board's input for the sensor.
    fn senses(&mut self, high: bool) {
        let now = self.now;
        let of = &mut self.devices.machines[COIN_MACHINE].bodies[0];
        let up_ms = of.up_ms(now);
        of.record_input(if high { "sense 1" } else { "sense 0" }, now);
        let acts = of.model.as_mut().map_or_else(Vec::new, |model| model.sense(high, up_ms));
        self.act(COIN_MACHINE, 0, &acts);
    }

    /// The board has power again, and its input has the level of the machine.
    pub(super) fn washer_is_seen(&mut self) {
        let of = &self.devices.washer;
        if of.runs && !of.paused || of.stuck {
            self.senses(true);
        }
    }

    // --- what the sensor makes of a cycle ---

    /// Notes the run whose cycle the sensor sees.
    pub(super) fn note_followed(&mut self, machine: usize, body: usize) {
        if (machine, body) != (COIN_MACHINE, 0) {
            return;
        }
        let (board, of) = (&self.devices.machines[machine].bodies[0], &mut self.devices.washer);
        if of.runs
            && !of.has_paused
            && !of.stuck
            && let Some(cmd_id) = of_sensor(board, self.now).filter(|cmd_id| of.used != Some(*cmd_id))
        {
            of.followed = Some((cmd_id, board.boot));
        }
    }

    /// A run that the sensor has followed lasts as long as its cycle, and ends soon after it.
    fn cycle_ends(&mut self, cycle: u32) {
        let (now, board) = (self.now, &self.devices.machines[COIN_MACHINE].bodies[0]);
        let boot = board.boot;
        let followed = self.devices.washer.followed.take().filter(|(_, of_boot)| *of_boot == boot);
        let Some((cmd_id, model)) = followed.and_then(|(cmd_id, _)| Some((cmd_id, board.model.as_ref()?))) else { return };
        let Some((run, _)) = model.journal().pulse_run(cmd_id) else { return };
        let goes_on = board.runs(now).is_some_and(|run| run.cmd_id == cmd_id);
        assert!(goes_on || run.added_s >= MAX_ADDED_S, "its run is over while the machine runs: {run:?}");
        if run.ran_ms >= RAN_MS {
            self.note("end seen by its sensor");
            self.washer_later(OVER_WITHIN_MS, cycle, WasherHappens::OverBy { cmd_id, boot });
        }
    }

    /// With enough credit a customer presses Start after a while.
    fn credited(&mut self) {
        let of = &mut self.devices.washer;
        if of.runs || of.credit < PULSES.n {
            return;
        }
        of.credit -= PULSES.n;
        of.cycle += 1;
        let cycle = of.cycle;
        if !self.chance(NEVER) {
            let after_ms = if self.chance(AT_ONCE) { 0 } else { self.up_to(PRESS_MS) };
            self.washer_later(after_ms, cycle, WasherHappens::Press);
        }
    }

    // --- pulses ---

    /// The board begins to send pulses.
    pub(super) fn sends_pulses(&mut self, machine: usize, body: usize, cmd_id: Uuid, pulses: Pulses) {
        assert_eq!(machine, COIN_MACHINE, "only one machine wants coins");
        let of = &self.devices.washer;
        let is_seen = !of.paused && !of.stuck && !of.flickers;
        assert!(!of.runs || !is_seen || body > 0, "pulses into a machine that runs");
        let now = self.now;
        let of = &mut self.devices.machines[machine].bodies[body];
        of.sending = Some(Sending { cmd_id, pulses, since: now });
        let (boot, after_ms) = (of.boot, of.true_ms(pulses.total_ms()));
        self.later(after_ms, MqttHappens::Pulsed { body, boot });
        if self.troubled && self.chance(FLASH_FAILS) {
            self.flash_breaks();
        }
        if self.troubled && self.chance(CUT_IN_PULSES) {
            let cut_ms = self.rng.random_range(0..after_ms);
            self.later(cut_ms, MqttHappens::PlugPulled { boot });
        }
    }

    /// All pulses were sent.
    pub(super) fn pulsed(&mut self, body: usize, boot: i64) {
        let now = self.now;
        let Some(of) = self.body(COIN_MACHINE, body).filter(|of| of.boot == boot) else { return };
        let Some(Sending { cmd_id, pulses, .. }) = of.sending.take() else { return };
        let up_ms = of.up_ms(now);
        of.record_input("pulsed", now);
        let acts = of.model.as_mut().map_or_else(Vec::new, |model| model.pulsed(up_ms));
        let run = of.runs(now);
        self.count_pulses(cmd_id, pulses.n);
        if let Some(run) = run {
            self.begins(COIN_MACHINE, body, run);
        }
        self.act(COIN_MACHINE, body, &acts);
        let of = &mut self.devices.machines[COIN_MACHINE];
        if of.bodies[body].flash.is_behind() {
            self.note("end of the pulses not on flash");
        }
        let of = &mut self.devices.machines[COIN_MACHINE];
        if run.is_some() && of.bodies[body].model.is_none() && of.bodies[body].saved_run().is_none() {
            self.never_began(cmd_id);
        }
    }

    /// The power was lost before the run was on flash.
    pub(super) fn never_began(&mut self, cmd_id: Uuid) {
        self.devices.machines[COIN_MACHINE].runs.pop_if(|last| last.cmd_id == cmd_id);
        self.devices.washer.cut.insert(cmd_id);
    }

    /// The power is lost in the pulses: the last of them may be any part of one.
    pub(super) fn cut_pulses(&mut self, machine: usize, body: usize) {
        let now = self.now;
        let Some(Sending { cmd_id, pulses, since }) = self.devices.machines[machine].bodies[body].sending.take() else { return };
        self.note("power lost in the pulses");
        self.devices.washer.cut.insert(cmd_id);
        let one_ms = i64::from(pulses.width_ms + pulses.gap_ms);
        let given = i32::try_from(since.ms_until(now) / one_ms + 1).unwrap().min(pulses.n);
        self.count_pulses(cmd_id, given);
        if self.chance(0.5) {
            // Their machine is on the same plug.
            self.devices.washer.credit = 0;
        }
    }

    fn count_pulses(&mut self, cmd_id: Uuid, n: i32) {
        let forgets = self.devices.machines[COIN_MACHINE].has_forgotten;
        let of = &mut self.devices.washer;
        of.credit += if of.wants_other_width { 0 } else { n };
        let given = of.given.entry(cmd_id).or_default();
        *given += n;
        assert!(*given <= PULSES.n || forgets, "{given} pulses for one command");
        self.credited();
    }

    /// A coin machine's purchase that is paid had all of its pulses, and none in which the power was lost is paid.
    pub(super) fn check_pulses(&self) {
        if self.devices.machines[COIN_MACHINE].has_forgotten {
            return;
        }
        let of_machine = self.store.purchases.iter().filter(|p| p.order.machine == COIN_MACHINE);
        for p in of_machine.filter(|p| matches!(p.state, PurchaseState::Finished | PurchaseState::Stopped)) {
            let of = &self.devices.washer;
            assert_eq!(of.given.get(&p.cmd_id), Some(&PULSES.n), "paid, and not all pulses were sent: {p:?}");
            assert!(!of.cut.contains(&p.cmd_id), "paid, and the power was lost in its pulses: {p:?}");
        }
    }

    /// The server has stored that the machine has not run in a purchase.
    pub(super) fn check_never_ran(&self, purchase: PurchaseId) {
        let (now, of, cmd_id) = (self.now, &self.devices.machines[COIN_MACHINE], self.store.purchase(purchase).cmd_id);
        if of.has_forgotten || now <= of.doubtful_until {
            return;
        }
        let run = of.bodies[0].model.as_ref().and_then(|model| model.journal().pulse_run(cmd_id));
        assert!(run.is_none_or(|(run, _)| !run.has_run), "it has run, and its customer is told that it has not");
    }
}
