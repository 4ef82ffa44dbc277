//! The sessions of the fake, and what they are to hear of the machines that they watch: one thread sleeps until the next tick is due.

use std::collections::HashMap;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::PoisonError;
use std::time::Duration;

use serde_json::{Value, json};

use super::shop::{Machine, Run};
use super::{Faults, State, World, now_ms, one_in};

/// A phase tick this near to either end of a run is left out.
const MARGIN_MS: i64 = 200;
const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60_000;
/// Ticks that are earlier each minute are in time again after so many.
const EARLY_MINUTES: i64 = 16;
/// A stall begins with the first tick of an outlet so long after the last session has joined.
const STALL_AFTER_MS: i64 = 3_000;
/// Nothing is due within this, when nobody watches anything.
const IDLE_MS: i64 = 3_600_000;

#[derive(Default)]
pub struct Room {
    /// How many websockets there were.
    pub websockets: u64,
    sessions: HashMap<u64, Session>,
    /// When somebody last began to watch a machine.
    joined: i64,
}

/// Where a session hears: its connection, or a test's own ears.
pub trait Line: Send {
    /// `None` when nobody hears any more.
    fn say(&mut self, text: &str) -> Option<()>;
    fn hang_up(&self);
}

impl Line for TcpStream {
    fn say(&mut self, text: &str) -> Option<()> {
        self.write_all(&super::socket::frame(text)).ok()
    }

    fn hang_up(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

struct Session {
    line: Box<dyn Line>,
    watched: Vec<Watched>,
    ticks: u64,
}

struct Watched {
    idmesin: i64,
    /// What runs, as far as the session knows, and when the run began of which it heard last.
    run: Option<Run>,
    heard: i64,
    /// The last moment whose tick was made or left out.
    last: i64,
    phase_ticks: u64,
}

#[derive(Clone, Copy)]
enum Tick {
    Start(Run),
    Phase(Run),
    Final(Run),
}

/// Says what is due, until the fake closes.
pub fn tick(world: &World) {
    let mut state = world.state();
    while !state.closed {
        let State { shop, room, .. } = &mut *state;
        let next = room.say_what_is_due(&shop.machines, &world.faults, now_ms());
        let wait = Duration::from_millis(u64::try_from(next - now_ms()).unwrap_or(0));
        state = world.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
    }
}

impl Room {
    pub fn enter(&mut self, session: u64, line: Box<dyn Line>) {
        self.sessions.insert(session, Session { line, watched: Vec::new(), ticks: 0 });
    }

    pub fn leave(&mut self, session: u64) {
        if let Some(gone) = self.sessions.remove(&session) {
            gone.line.hang_up();
        }
    }

    /// `None` when the session is gone.
    pub fn say(&mut self, session: u64, text: &str) -> Option<()> {
        self.sessions.get_mut(&session)?.line.say(text)
    }

    /// Lets a session watch `idmesin`; what runs now it learns from the answer, and nothing of what is over. The tick of a start in the
    /// last `starts_late_ms` is still on its way, behind the answer.
    pub fn watch(&mut self, session: u64, idmesin: i64, machine: &Machine, starts_late_ms: i64, now: i64) {
        let Some(session) = self.sessions.get_mut(&session) else { return };
        if session.watched.iter().all(|w| w.idmesin != idmesin) {
            let known = machine.run.filter(|run| run.began + starts_late_ms < now);
            let (heard, run) = (known.map_or(0, |run| run.began), known.filter(|run| run.ends_at > now));
            session.watched.push(Watched { idmesin, run, heard, last: now, phase_ticks: 0 });
            self.joined = now;
        }
    }

    pub fn unwatch(&mut self, session: u64, idmesin: i64) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.watched.retain(|w| w.idmesin != idmesin);
        }
    }

    /// When the next tick is due.
    pub fn say_what_is_due(&mut self, machines: &HashMap<i64, Machine>, faults: &Faults, now: i64) -> i64 {
        let (mut next, joined) = (now + IDLE_MS, self.joined);
        let mut gone = Vec::new();
        for (id, session) in self.sessions.iter_mut().filter(|(id, _)| !one_in(faults.deaf_one_in, **id)) {
            let heard = session.catch_up(machines, faults, joined, now);
            next = next.min(heard.unwrap_or(i64::MAX));
            if heard.is_none() {
                gone.push(*id);
            }
        }
        gone.into_iter().for_each(|id| self.leave(id));
        next
    }
}

impl Session {
    /// Says everything that is due; when something is again, or `None` when the session is over.
    fn catch_up(&mut self, machines: &HashMap<i64, Machine>, faults: &Faults, joined: i64, now: i64) -> Option<i64> {
        let mut next = i64::MAX - 1;
        for watched in &mut self.watched {
            let machine = machines.get(&watched.idmesin)?;
            while let Some((moment, tick)) = watched.next(machine) {
                let made = made(moment, tick, machine.phase_ms(), faults, joined);
                let slow = if matches!(tick, Tick::Phase(_)) { faults.slow_ms } else { 0 };
                let due = made.unwrap_or(moment) + slow;
                if due > now {
                    next = next.min(due);
                    break;
                }
                watched.hear(moment, tick);
                let Some(made) = made else { continue };
                for _ in 0..watched.times(tick, faults) {
                    if faults.cut_after.is_some_and(|n| self.ticks >= n) {
                        return None;
                    }
                    self.ticks += 1;
                    self.line.say(&watched.text(tick, made, faults))?;
                }
            }
        }
        Some(next)
    }
}

impl Watched {
    /// What comes next, and the moment that it is of.
    fn next(&self, machine: &Machine) -> Option<(i64, Tick)> {
        let Some(run) = self.run else {
            return machine.run.filter(|run| run.began > self.heard).map(|run| (run.began, Tick::Start(run)));
        };
        let moment = first_from(self.last.max(run.began + MARGIN_MS - 1) + 1, machine.phase_ms());
        if moment + MARGIN_MS <= run.ends_at { Some((moment, Tick::Phase(run))) } else { Some((run.ends_at, Tick::Final(run))) }
    }

    fn hear(&mut self, moment: i64, tick: Tick) {
        self.last = moment;
        match tick {
            Tick::Start(run) => (self.run, self.heard) = (Some(run), run.began),
            Tick::Phase(_) => self.phase_ticks += 1,
            Tick::Final(_) => self.run = None,
        }
    }

    /// How often the tick is sent.
    fn times(&self, tick: Tick, faults: &Faults) -> u64 {
        let (lost, doubled) = match tick {
            Tick::Start(_) => (false, false),
            Tick::Phase(_) => (one_in(faults.lose_one_in, self.phase_ticks), one_in(faults.double_one_in, self.phase_ticks)),
            Tick::Final(_) => (faults.no_final, faults.two_finals),
        };
        if lost { 0 } else { 1 + u64::from(doubled) }
    }

    fn text(&self, tick: Tick, made: i64, faults: &Faults) -> String {
        let (tl, ends_at) = match tick {
            Tick::Phase(run) if faults.tl_stands => (5_000, run.ends_at),
            Tick::Start(run) | Tick::Phase(run) => (run.ends_at - made + i64::from(faults.tl_off), run.ends_at),
            Tick::Final(run) => (0, run.ends_at),
        };
        let told = json!({ "tl": tl, "ends_at": ends_at, "server_time": made });
        format!("42{}", Value::from(vec![json!(format!("heartbeat/{}", self.idmesin)), told]))
    }
}

/// When the tick of a moment is made; `None` when it never is.
fn made(moment: i64, tick: Tick, phase_ms: i64, faults: &Faults, joined: i64) -> Option<i64> {
    match tick {
        Tick::Start(_) => Some(moment),
        Tick::Final(_) => Some(moment + faults.final_late_ms),
        Tick::Phase(_) => {
            let stalled = first_from(joined + STALL_AFTER_MS, phase_ms);
            let (from, until) = (stalled + 1, stalled + faults.stall_ms);
            let late = if moment.div_euclid(SECOND_MS) % 3 == 0 { faults.late_ms } else { 0 };
            match moment {
                m if !(from..until).contains(&m) => Some(m + late - early_ms(m, faults)),
                // The last one is made after all; it replaces those before it.
                m if m + SECOND_MS >= until => Some(until),
                _ => None,
            }
        }
    }
}

/// How early the tick of a moment is made.
fn early_ms(moment: i64, faults: &Faults) -> i64 {
    let (minute, within) = (moment.div_euclid(MINUTE_MS), moment.rem_euclid(MINUTE_MS));
    if within < SECOND_MS { minute.rem_euclid(EARLY_MINUTES) * faults.early_step_ms } else { 0 }
}

/// The first moment of a phase, at `time` or after.
fn first_from(time: i64, phase_ms: i64) -> i64 {
    time + (phase_ms - time).rem_euclid(SECOND_MS)
}
