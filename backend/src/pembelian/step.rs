//! The purchase as one pure function (design: money 2 and 8). No clock, no database, no device: `step` says what the next
//! state is, what must be committed for it, and what to tell the device once that is done.

use uuid::Uuid;

use super::batas::{CMD_LIFE_MS, GIVE_UP_MS, MARK_SENT_MS, PROMPT_MS, QUERY_EVERY_MS, RESEND_MS, SISA_WAIT_MS};
use super::keadaan::Keadaan;
use crate::domain::waktu::Waktu;

/// An open purchase: the stored row, and what this process remembers of its talk with the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pembelian {
    pub id: i64,
    pub cmd_id: Uuid,
    pub epoch: i64,
    pub durasi_s: i64,
    pub created_at: Waktu,
    pub keadaan: Keadaan,
    /// While running: when it ends. Zero before.
    pub ends_at: Waktu,
    pub obrolan: Obrolan,
}

/// What was said to the device, and when. Lost in a crash on purpose: everything in it may be said again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Obrolan {
    /// When the process that made the hold sent the command first. `None` after a restart.
    pub first_sent: Option<Waktu>,
    pub last_sent: Option<Waktu>,
    pub last_query: Option<Waktu>,
    /// A late `started` was heard; the time left is being asked for.
    pub started_heard: Option<Waktu>,
    pub stop_requested: bool,
    pub last_stop: Option<Waktu>,
}

impl Pembelian {
    pub fn exp(&self) -> Waktu {
        self.created_at.plus_ms(CMD_LIFE_MS)
    }

    fn durasi_ms(&self) -> i64 {
        self.durasi_s * 1000
    }
}

/// What a device answers to a command (contract §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckResult {
    Started,
    Refused,
    Expired,
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// `wake_at` has come, or the purchase was just made or reloaded.
    Wake,
    Ack {
        cmd_id: Uuid,
        result: AckResult,
    },
    /// The device reports what it runs and how long still.
    Runs {
        cmd_id: Uuid,
        sisa_ms: i64,
    },
    /// An operator wants it to stop.
    StopRequested,
}

/// Told to the device, after the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Send {
    Start,
    Query,
    Stop,
}

/// A compare-and-set on the stored state, with the movement of money that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    MarkSent,
    MarkUnsure,
    /// Post the hold.
    Run {
        started_at: Waktu,
        ends_at: Waktu,
    },
    /// Post the hold of a run that is already over.
    RunAndFinish {
        started_at: Waktu,
        ends_at: Waktu,
    },
    Finish,
    Stop {
        ends_at: Waktu,
    },
    /// Void the hold.
    Refuse,
    Expire,
    /// Void the hold and keep the machine for staff.
    GiveUp,
}

/// One step: `next` holds once `change` is committed (at once when there is none), then `send` goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub next: Pembelian,
    pub change: Option<Change>,
    pub send: Option<Send>,
}

/// When `Event::Wake` is due next; `None` when the purchase has ended.
pub fn wake_at(p: &Pembelian) -> Option<Waktu> {
    let o = &p.obrolan;
    match p.keadaan {
        Keadaan::Held | Keadaan::Sent => {
            let Some(last) = o.last_sent else { return Some(p.created_at) };
            let mark = (p.keadaan == Keadaan::Held).then(|| last.plus_ms(MARK_SENT_MS));
            let sisa = o.started_heard.map(|t| t.plus_ms(SISA_WAIT_MS));
            [mark, sisa, Some(last.plus_ms(RESEND_MS)), Some(p.exp())].into_iter().flatten().min()
        }
        Keadaan::Unsure => {
            let query = o.last_query.map_or(p.created_at, |t| t.plus_ms(QUERY_EVERY_MS));
            let sisa = o.started_heard.map(|t| t.plus_ms(SISA_WAIT_MS));
            [Some(query), sisa, Some(p.created_at.plus_ms(GIVE_UP_MS))].into_iter().flatten().min()
        }
        Keadaan::Running if o.stop_requested => o.last_stop.map(|t| t.plus_ms(RESEND_MS)).into_iter().chain([p.ends_at]).min(),
        Keadaan::Running => Some(p.ends_at),
        _ => None,
    }
}

pub fn step(p: &Pembelian, event: &Event, now: Waktu) -> Step {
    if !p.keadaan.open() {
        return stay(p);
    }
    match event {
        Event::Wake if p.keadaan == Keadaan::Running => wake_running(p, now),
        Event::Wake => wake_undecided(p, now),
        Event::Ack { cmd_id, result } if *cmd_id == p.cmd_id => heard(p, *result, now),
        Event::Runs { cmd_id, sisa_ms } if *cmd_id == p.cmd_id && p.keadaan.undecided() => {
            let ends_at = now.plus_ms((*sisa_ms).clamp(1, p.durasi_ms()));
            run(p, ends_at.plus_ms(-p.durasi_ms()), ends_at)
        }
        Event::StopRequested if p.keadaan == Keadaan::Running => {
            let mut s = stay(p);
            s.next.obrolan.stop_requested = true;
            s.next.obrolan.last_stop = Some(now);
            s.send = Some(Send::Stop);
            s
        }
        _ => stay(p),
    }
}

fn stay(p: &Pembelian) -> Step {
    Step { next: p.clone(), change: None, send: None }
}

fn commit(p: &Pembelian, keadaan: Keadaan, change: Change) -> Step {
    let mut next = p.clone();
    next.keadaan = keadaan;
    Step { next, change: Some(change), send: None }
}

fn run(p: &Pembelian, started_at: Waktu, ends_at: Waktu) -> Step {
    let mut s = commit(p, Keadaan::Running, Change::Run { started_at, ends_at });
    s.next.ends_at = ends_at;
    s
}

fn wake_running(p: &Pembelian, now: Waktu) -> Step {
    if now >= p.ends_at {
        return commit(p, Keadaan::Finished, Change::Finish);
    }
    let mut s = stay(p);
    if p.obrolan.stop_requested && p.obrolan.last_stop.is_none_or(|t| now >= t.plus_ms(RESEND_MS)) {
        s.next.obrolan.last_stop = Some(now);
        s.send = Some(Send::Stop);
    }
    s
}

fn wake_undecided(p: &Pembelian, now: Waktu) -> Step {
    let o = &p.obrolan;
    // The device did start, but never said the time left: the whole duration from its word on is the safe side, because the
    // machine is then never sold while it still runs.
    if let Some(heard) = o.started_heard
        && now >= heard.plus_ms(SISA_WAIT_MS)
    {
        return run(p, heard, heard.plus_ms(p.durasi_ms()));
    }
    if p.keadaan == Keadaan::Unsure {
        return wake_unsure(p, now);
    }
    if now >= p.exp() {
        let mut s = commit(p, Keadaan::Unsure, Change::MarkUnsure);
        s.next.obrolan.last_query = Some(now);
        s.send = Some(Send::Query);
        return s;
    }
    let mut s = stay(p);
    if o.last_sent.is_none_or(|t| now >= t.plus_ms(RESEND_MS)) {
        s.next.obrolan.last_sent = Some(now);
        s.send = Some(Send::Start);
    }
    if p.keadaan == Keadaan::Held && o.last_sent.is_some_and(|t| now >= t.plus_ms(MARK_SENT_MS)) {
        s.next.keadaan = Keadaan::Sent;
        s.change = Some(Change::MarkSent);
    }
    s
}

fn wake_unsure(p: &Pembelian, now: Waktu) -> Step {
    if now >= p.created_at.plus_ms(GIVE_UP_MS) {
        return commit(p, Keadaan::Expired, Change::GiveUp);
    }
    let mut s = stay(p);
    if p.obrolan.last_query.is_none_or(|t| now >= t.plus_ms(QUERY_EVERY_MS)) {
        s.next.obrolan.last_query = Some(now);
        s.send = Some(Send::Query);
    }
    s
}

fn heard(p: &Pembelian, result: AckResult, now: Waktu) -> Step {
    match (p.keadaan, result) {
        (Keadaan::Running, AckResult::Done) if now < p.ends_at => {
            let mut s = if p.obrolan.stop_requested {
                commit(p, Keadaan::Stopped, Change::Stop { ends_at: now })
            } else {
                // A device repeats `done` only for a run that is over; without a stop it is the natural end, seen by its own clock.
                stay(p)
            };
            if s.change.is_some() {
                s.next.ends_at = now;
            }
            s
        }
        (Keadaan::Running, _) => stay(p),
        (_, AckResult::Started) => heard_started(p, now),
        (_, AckResult::Refused) => commit(p, Keadaan::Refused, Change::Refuse),
        (_, AckResult::Expired) => commit(p, Keadaan::Expired, Change::Expire),
        (_, AckResult::Done) => {
            let started_at = p.created_at;
            let ends_at = now.max(started_at.plus_ms(1));
            commit(p, Keadaan::Finished, Change::RunAndFinish { started_at, ends_at })
        }
    }
}

fn heard_started(p: &Pembelian, now: Waktu) -> Step {
    let prompt = p.obrolan.first_sent.is_some_and(|sent| sent.ms_until(now) <= PROMPT_MS);
    if prompt {
        return run(p, now, now.plus_ms(p.durasi_ms()));
    }
    let mut s = stay(p);
    if p.obrolan.started_heard.is_none() {
        s.next.obrolan.started_heard = Some(now);
        s.next.obrolan.last_query = Some(now);
        s.send = Some(Send::Query);
    }
    s
}

/// The state right after this process committed the hold, about to send the command for the first time.
pub fn first(id: i64, cmd_id: Uuid, epoch: i64, durasi_s: i64, created_at: Waktu, now: Waktu) -> Pembelian {
    let obrolan = Obrolan { first_sent: Some(now), ..Obrolan::default() };
    Pembelian { id, cmd_id, epoch, durasi_s, created_at, keadaan: Keadaan::Held, ends_at: Waktu::default(), obrolan }
}
