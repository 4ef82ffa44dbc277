//! Sessions of the fake server and the ticks of their machines. One thread sleeps until the next tick is due.

use std::collections::HashMap;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::PoisonError;
use std::time::Duration;

use serde_json::{Value, json};

use super::shop::{Machine, Run};
use super::{Faults, State, World, now_ms, one_in};

/// Phase ticks that are this near to either end of a run are left out.
const MARGIN_MS: i64 = 200;
const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60_000;
/// Number of minutes after which ticks are in time again.
const EARLY_MINUTES: i64 = 16;
/// A stall begins with the first tick of an outlet this long after the last session has joined.
const STALL_AFTER_MS: i64 = 3_000;
/// Longest wait while no session watches a machine.
const IDLE_MS: i64 = 3_600_000;

#[derive(Default)]
pub struct Room {
    /// Number of websockets so far.
    pub websockets: u64,
    sessions: HashMap<u64, Session>,
    /// When a session last began to watch a machine.
    joined: i64,
}

/// Receiver of a session's messages: its connection, or a test.
pub trait Receiver: Send {
    /// Sends a message; `None` when the receiver is gone.
    fn send(&mut self, text: &str) -> Option<()>;
    fn hang_up(&self);
}

impl Receiver for TcpStream {
    fn send(&mut self, text: &str) -> Option<()> {
        self.write_all(&super::socket::frame(text)).ok()
    }

    fn hang_up(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

struct Session {
    receiver: Box<dyn Receiver>,
    watched: Vec<Watched>,
    ticks: u64,
}

struct Watched {
    idmesin: i64,
    /// Run that the session knows of, and the start of the last run that was announced to it.
    run: Option<Run>,
    announced: i64,
    /// Last moment whose tick was made or left out.
    last: i64,
    phase_ticks: u64,
}

#[derive(Clone, Copy)]
enum Tick {
    Start(Run),
    Phase(Run),
    Final(Run),
}

/// Sends the ticks that are due, until the fake server closes.
pub fn tick(world: &World) {
    let mut state = world.state();
    while !state.closed {
        let State { shop, room, .. } = &mut *state;
        let next = room.send_due_ticks(&shop.machines, &world.faults, now_ms());
        let wait = Duration::from_millis(u64::try_from(next - now_ms()).unwrap_or(0));
        state = world.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
    }
}

impl Room {
    pub fn enter(&mut self, session: u64, receiver: Box<dyn Receiver>) {
        self.sessions.insert(session, Session { receiver, watched: Vec::new(), ticks: 0 });
    }

    pub fn leave(&mut self, session: u64) {
        if let Some(gone) = self.sessions.remove(&session) {
            gone.receiver.hang_up();
        }
    }

    /// Sends a message; `None` when the session is gone.
    pub fn send(&mut self, session: u64, text: &str) -> Option<()> {
        self.sessions.get_mut(&session)?.receiver.send(text)
    }

    /// Lets a session watch `idmesin`. The answer reports the present run. The tick of a start in the last `starts_late_ms` follows after
    /// the answer.
    pub fn watch(&mut self, session: u64, idmesin: i64, machine: &Machine, starts_late_ms: i64, now: i64) {
        let Some(session) = self.sessions.get_mut(&session) else { return };
        if session.watched.iter().all(|w| w.idmesin != idmesin) {
            let known = machine.run.filter(|run| run.began + starts_late_ms < now);
            let (announced, run) = (known.map_or(0, |run| run.began), known.filter(|run| run.ends_at > now));
            session.watched.push(Watched { idmesin, run, announced, last: now, phase_ticks: 0 });
            self.joined = now;
        }
    }

    pub fn unwatch(&mut self, session: u64, idmesin: i64) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.watched.retain(|w| w.idmesin != idmesin);
        }
    }

    /// Sends the ticks that are due. Returns when the next one is.
    pub fn send_due_ticks(&mut self, machines: &HashMap<i64, Machine>, faults: &Faults, now: i64) -> i64 {
        let (mut next, joined) = (now + IDLE_MS, self.joined);
        let mut gone = Vec::new();
        for (id, session) in self.sessions.iter_mut().filter(|(id, _)| !one_in(faults.deaf_one_in, **id)) {
            let next_due = session.catch_up(machines, faults, joined, now);
            next = next.min(next_due.unwrap_or(i64::MAX));
            if next_due.is_none() {
                gone.push(*id);
            }
        }
        gone.into_iter().for_each(|id| self.leave(id));
        next
    }
}

impl Session {
    /// Sends the session's ticks that are due. Returns when the next one is, or `None` when the session is over.
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
                watched.on_tick(moment, tick);
                let Some(made) = made else { continue };
                for _ in 0..watched.times(tick, faults) {
                    if faults.cut_after.is_some_and(|n| self.ticks >= n) {
                        return None;
                    }
                    self.ticks += 1;
                    self.receiver.send(&watched.text(tick, made, faults))?;
                }
            }
        }
        Some(next)
    }
}

impl Watched {
    /// Next tick, and its moment.
    fn next(&self, machine: &Machine) -> Option<(i64, Tick)> {
        let Some(run) = self.run else {
            return machine.run.filter(|run| run.began > self.announced).map(|run| (run.began, Tick::Start(run)));
        };
        let moment = first_from(self.last.max(run.began + MARGIN_MS - 1) + 1, machine.phase_ms());
        if moment + MARGIN_MS <= run.ends_at { Some((moment, Tick::Phase(run))) } else { Some((run.ends_at, Tick::Final(run))) }
    }

    fn on_tick(&mut self, moment: i64, tick: Tick) {
        self.last = moment;
        match tick {
            Tick::Start(run) => (self.run, self.announced) = (Some(run), run.began),
            Tick::Phase(_) => self.phase_ticks += 1,
            Tick::Final(_) => self.run = None,
        }
    }

    /// Number of times that the tick is sent.
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
        let tick = json!({ "tl": tl, "ends_at": ends_at, "server_time": made });
        format!("42{}", Value::from(vec![json!(format!("heartbeat/{}", self.idmesin)), tick]))
    }
}

/// Time at which the tick of a moment is made; `None`: never.
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
                // Only the last tick of the stall is made; it replaces the earlier ones.
                m if m + SECOND_MS >= until => Some(until),
                _ => None,
            }
        }
    }
}

/// Milliseconds by which the tick of a moment is early.
fn early_ms(moment: i64, faults: &Faults) -> i64 {
    let (minute, within) = (moment.div_euclid(MINUTE_MS), moment.rem_euclid(MINUTE_MS));
    if within < SECOND_MS { minute.rem_euclid(EARLY_MINUTES) * faults.early_step_ms } else { 0 }
}

/// First moment of a phase, at `time` or later.
fn first_from(time: i64, phase_ms: i64) -> i64 {
    time + (phase_ms - time).rem_euclid(SECOND_MS)
}
