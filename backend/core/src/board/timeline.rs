//! The history of a machine: what happened in its purchases, and when it was closed or away. The steps of a purchase follow from its stored
//! times, because its rules decide when a command is sent, sent again and asked about.

use super::Condition;
use super::attention::Spell;
use crate::domain::timestamp::Timestamp;
use crate::purchase::state::PurchaseState;
use crate::purchase::times::{CMD_TTL_MS, GIVE_UP_MS, RESEND_MS};

/// What happened to a machine. The order is that of events of the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    Paid,
    Sent,
    SentAgain,
    Asked,
    Answered,
    Started,
    Finished,
    Stopped,
    Refused,
    Refunded,
    Closed,
    Opened,
    Gone,
    Back,
}

impl Event {
    /// As messages have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "dibayar",
            Self::Sent => "dikirim",
            Self::SentAgain => "dikirim_lagi",
            Self::Asked => "ditanya",
            Self::Answered => "dijawab",
            Self::Started => "mulai",
            Self::Finished => "selesai",
            Self::Stopped => "dihentikan",
            Self::Refused => "ditolak",
            Self::Refunded => "kembali",
            Self::Closed => "ditutup",
            Self::Opened => "dibuka",
            Self::Gone => "putus",
            Self::Back => "tersambung",
        }
    }
}

/// A purchase as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PurchaseTimes {
    pub state: PurchaseState,
    pub created_at: Timestamp,
    /// When its money was posted or voided; `None` while that is open.
    pub decided_at: Option<Timestamp>,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// A test start by staff, at no cost.
    pub test: bool,
    /// A test of coin pulses, whose command is not repeated.
    pub sent_once: bool,
}

/// The steps of a purchase until `now`.
pub fn of_purchase(p: &PurchaseTimes, now: Timestamp) -> Vec<(Timestamp, Event)> {
    let until = p.decided_at.unwrap_or(now);
    let mut events = Vec::new();
    if !p.test {
        events.push((p.created_at, Event::Paid));
    }
    events.push((p.created_at, Event::Sent));
    let steps = [(RESEND_MS, Event::SentAgain), (CMD_TTL_MS, Event::Asked)];
    let steps = steps.into_iter().filter(|(_, event)| !p.sent_once || *event != Event::SentAgain);
    let due = steps.map(|(after_ms, event)| (p.created_at.plus_ms(after_ms), event));
    events.extend(due.filter(|(at, _)| *at < until));
    let asked = p.created_at.plus_ms(CMD_TTL_MS) < until;
    let ended = p.finished_at.unwrap_or(until);
    match p.state {
        PurchaseState::Held | PurchaseState::Sent | PurchaseState::Unsure => {}
        PurchaseState::Refused => events.push((ended, Event::Refused)),
        PurchaseState::Expired => {
            if p.created_at.ms_until(ended) < GIVE_UP_MS {
                events.push((ended, Event::Answered));
            }
        }
        PurchaseState::Running | PurchaseState::Finished | PurchaseState::Stopped => {
            events.extend(p.decided_at.filter(|_| asked).map(|at| (at, Event::Answered)));
            events.push((p.started_at.map_or(until, |at| at.max(p.created_at)), Event::Started));
        }
    }
    match p.state {
        PurchaseState::Refused | PurchaseState::Expired if !p.test => events.push((ended, Event::Refunded)),
        PurchaseState::Finished => events.push((ended, Event::Finished)),
        PurchaseState::Stopped => events.push((ended, Event::Stopped)),
        _ => {}
    }
    events
}

/// The beginning and the end of a condition that the history shows.
pub fn of_spell(spell: Spell) -> Vec<(Timestamp, Event)> {
    let (begins, ends) = match spell.condition {
        Condition::Closed => (Event::Closed, Event::Opened),
        Condition::Offline => (Event::Gone, Event::Back),
        Condition::NeedsStaff | Condition::Unsure | Condition::Unpaid => return Vec::new(),
    };
    let end = spell.until.map(|until| (until, ends));
    std::iter::once((spell.from, begins)).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Timestamp = Timestamp::from_ms(1_000_000);

    fn at(s: i64) -> Timestamp {
        T0.plus_ms(s * 1_000)
    }

    fn purchase(state: PurchaseState, decided_s: Option<i64>) -> PurchaseTimes {
        let started_at =
            matches!(state, PurchaseState::Running | PurchaseState::Finished | PurchaseState::Stopped).then(|| at(1));
        let finished_at = (!state.open()).then(|| if started_at.is_some() { at(600) } else { at(decided_s.unwrap_or_default()) });
        PurchaseTimes {
            state,
            created_at: T0,
            decided_at: decided_s.map(at),
            started_at,
            finished_at,
            test: false,
            sent_once: false,
        }
    }

    fn told(p: &PurchaseTimes, now_s: i64) -> Vec<(i64, &'static str)> {
        of_purchase(p, at(now_s)).into_iter().map(|(at, event)| (T0.ms_until(at) / 1_000, event.as_str())).collect()
    }

    #[test]
    fn the_steps_of_a_purchase_are_told_as_far_as_it_has_come() {
        let (paid, sent, again, asked) = ((0, "dibayar"), (0, "dikirim"), (3, "dikirim_lagi"), (10, "ditanya"));
        assert_eq!(told(&purchase(PurchaseState::Held, None), 1), [paid, sent]);
        assert_eq!(told(&purchase(PurchaseState::Sent, None), 5), [paid, sent, again]);
        assert_eq!(told(&purchase(PurchaseState::Unsure, None), 100), [paid, sent, again, asked]);
        assert_eq!(told(&purchase(PurchaseState::Finished, Some(1)), 900), [paid, sent, (1, "mulai"), (600, "selesai")]);
        let late = told(&purchase(PurchaseState::Stopped, Some(60)), 900);
        assert_eq!(late, [paid, sent, again, asked, (60, "dijawab"), (1, "mulai"), (600, "dihentikan")]);
        assert_eq!(told(&purchase(PurchaseState::Refused, Some(2)), 900), [paid, sent, (2, "ditolak"), (2, "kembali")]);
        let known_not_to_run = told(&purchase(PurchaseState::Expired, Some(30)), 900);
        assert_eq!(known_not_to_run, [paid, sent, again, asked, (30, "dijawab"), (30, "kembali")]);
        assert_eq!(told(&purchase(PurchaseState::Expired, Some(900)), 901), [paid, sent, again, asked, (900, "kembali")]);
        let test = PurchaseTimes { test: true, ..purchase(PurchaseState::Refused, Some(2)) };
        assert_eq!(told(&test, 900), [sent, (2, "ditolak")]);
        let pulses = PurchaseTimes { test: true, sent_once: true, ..purchase(PurchaseState::Unsure, None) };
        assert_eq!(told(&pulses, 100), [sent, asked]);
    }

    #[test]
    fn closings_and_absences_have_a_beginning_and_an_end() {
        let spell = |condition, until| Spell { condition, from: T0, until };
        assert_eq!(of_spell(spell(Condition::Closed, None)), [(T0, Event::Closed)]);
        assert_eq!(of_spell(spell(Condition::Offline, Some(at(9)))), [(T0, Event::Gone), (at(9), Event::Back)]);
        assert_eq!(of_spell(spell(Condition::Unsure, None)), []);
    }
}
