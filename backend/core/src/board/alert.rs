//! Decides which messages about entries staff are sent on their own phones, and when (docs/board.md).

use super::attention::{About, Entry, Kind};
use crate::domain::id::StaffId;
use crate::domain::timestamp::Timestamp;
use crate::prices::{ClockTime, Zone};

/// An entry as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Current {
    pub entry: Entry,
    /// Who has taken it.
    pub taken_by: Option<StaffId>,
}

/// An alert from its first message to its all-clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alert {
    pub kind: Kind,
    pub about: About,
    /// Since when the entry is there.
    pub since: Timestamp,
    pub began_at: Timestamp,
    pub is_repeated: bool,
    /// The person whose taking was announced last.
    pub taken_by: Option<StaffId>,
    /// When its entry ended.
    pub gone_at: Option<Timestamp>,
}

/// Pauses in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pacing {
    /// Time after the first message at which an alert that is not taken is sent a second time.
    pub repeat_ms: i64,
    /// An entry that comes back within this time is the same alert.
    pub calm_ms: i64,
}

/// What becomes of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is sent once more.
    Repeat,
    /// This person has taken it: the recipients of the first message are sent the name.
    Taken(StaffId),
    /// Its entry ended.
    Gone,
    /// Its entry is there, since this time.
    Back(Timestamp),
    /// It has ended: the recipients of the first message are sent the all-clear.
    AllClear,
}

/// What is new, for an outlet with these alerts and entries: the index of each alert that changes, and the entries that become alerts.
pub fn next(alerts: &[Alert], entries: &[Current], pacing: Pacing, now: Timestamp) -> (Vec<(usize, Change)>, Vec<Entry>) {
    let of = |kind, about| entries.iter().find(|current| (current.entry.kind, current.entry.about) == (kind, about));
    let is_gone = of(Kind::OutletGone, About::Outlet).is_some();
    let changes = alerts.iter().enumerate().filter_map(|(n, alert)| {
        // When the whole outlet is offline, each of its machines still is.
        let is_covered = alert.kind == Kind::Offline && is_gone;
        let change = match (of(alert.kind, alert.about), alert.gone_at) {
            (Some(current), gone_at) if gone_at.is_some() || current.entry.since != alert.since => {
                Some(Change::Back(current.entry.since))
            }
            (Some(current), _) => alert.while_it_lasts(current, pacing, now),
            (None, _) if is_covered => None,
            (None, None) => Some(Change::Gone),
            (None, Some(at)) => (at.ms_until(now) >= pacing.calm_ms).then_some(Change::AllClear),
        };
        change.map(|change| (n, change))
    });
    let has_alert = |entry: &Entry| alerts.iter().any(|alert| (alert.kind, alert.about) == (entry.kind, entry.about));
    // After an outlet was offline, its machines come back one after another.
    let waits = |entry: &Entry| entry.kind == Kind::Offline && alerts.iter().any(|alert| alert.kind == Kind::OutletGone);
    let new = entries.iter().map(|current| current.entry).filter(|entry| !has_alert(entry) && !waits(entry));
    (changes.collect(), new.collect())
}

impl Alert {
    fn while_it_lasts(&self, current: &Current, pacing: Pacing, now: Timestamp) -> Option<Change> {
        match current.taken_by {
            Some(by) => (self.taken_by != Some(by)).then_some(Change::Taken(by)),
            None => (!self.is_repeated && self.began_at.ms_until(now) >= pacing.repeat_ms).then_some(Change::Repeat),
        }
    }
}

/// Hours of the day in which only red alerts are sent. They may go on past midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietHours {
    pub from: ClockTime,
    pub to: ClockTime,
}

impl QuietHours {
    /// When the quiet hours end that hold at `now` on the wall clock of a zone; `None`: none hold.
    pub fn until(self, zone: &Zone, now: Timestamp) -> Option<Timestamp> {
        let is_quiet = zone.last(self.from, now) > zone.last(self.to, now);
        is_quiet.then(|| zone.next(self.to, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::MachineId;

    const PACING: Pacing = Pacing { repeat_ms: 900_000, calm_ms: 600_000 };
    const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);
    const RINA: StaffId = StaffId::new(7);

    fn ago(s: i64) -> Timestamp {
        NOW.plus_ms(-s * 1_000)
    }

    fn entry(kind: Kind, machine: i64) -> Entry {
        let about = if machine == 0 { About::Outlet } else { About::Machine(MachineId::new(machine)) };
        Entry { kind, about, since: ago(60) }
    }

    fn there(kind: Kind, machine: i64) -> Current {
        Current { entry: entry(kind, machine), taken_by: None }
    }

    fn alert(kind: Kind, machine: i64, began_s: i64) -> Alert {
        let Entry { about, since, .. } = entry(kind, machine);
        Alert { kind, about, since, began_at: ago(began_s), is_repeated: false, taken_by: None, gone_at: None }
    }

    fn changes(alert: Alert, entries: &[Current]) -> Option<Change> {
        let (changes, new) = next(&[alert], entries, PACING, NOW);
        assert!(new.is_empty());
        changes.first().map(|(_, change)| *change)
    }

    #[test]
    fn an_alert_is_sent_once_and_once_more_unless_somebody_has_it() {
        let lasts = there(Kind::Unsure, 1);
        let taken = Current { taken_by: Some(RINA), ..lasts };
        assert_eq!(next(&[], &[lasts], PACING, NOW), (vec![], vec![lasts.entry]));
        for (began_s, is_repeated, told, current, expected) in [
            (899, false, None, lasts, None),
            (900, false, None, lasts, Some(Change::Repeat)),
            (9_000, true, None, lasts, None),
            (899, false, None, taken, Some(Change::Taken(RINA))),
            (9_000, false, Some(RINA), taken, None),
            (9_000, false, Some(RINA), lasts, Some(Change::Repeat)),
        ] {
            let alert = Alert { is_repeated, taken_by: told, ..alert(Kind::Unsure, 1, began_s) };
            assert_eq!(changes(alert, &[current]), expected, "{alert:?}");
        }
    }

    #[test]
    fn what_comes_back_within_ten_minutes_is_the_same_alert() {
        let began = alert(Kind::Offline, 1, 3_000);
        let gone = |s| Alert { gone_at: Some(ago(s)), ..began };
        assert_eq!(changes(began, &[]), Some(Change::Gone));
        assert_eq!(changes(gone(599), &[]), None);
        assert_eq!(changes(gone(599), &[there(Kind::Offline, 1)]), Some(Change::Back(ago(60))));
        assert_eq!(changes(gone(600), &[]), Some(Change::AllClear));
    }

    #[test]
    fn an_outlet_that_is_offline_speaks_for_its_machines() {
        let outlet = there(Kind::OutletGone, 0);
        let machine = alert(Kind::Offline, 1, 100);
        assert_eq!(next(&[machine], &[outlet], PACING, NOW), (vec![], vec![outlet.entry]), "the machine still is");
        let told = Alert { is_repeated: true, gone_at: Some(ago(30)), ..alert(Kind::OutletGone, 0, 3_000) };
        let late = there(Kind::Offline, 2);
        assert_eq!(next(&[told], &[late], PACING, NOW), (vec![], vec![]), "it is on its way back");
        let over = Alert { gone_at: Some(ago(600)), ..told };
        assert_eq!(next(&[over], &[late], PACING, NOW), (vec![(0, Change::AllClear)], vec![]));
        assert_eq!(next(&[], &[late], PACING, NOW).1, [late.entry], "it stayed away");
    }

    #[test]
    fn quiet_hours_may_go_on_past_midnight() {
        let at = |text| Timestamp::parse_rfc3339(text).unwrap();
        let hours = |from, to| QuietHours { from: ClockTime::parse(from).unwrap(), to: ClockTime::parse(to).unwrap() };
        let (night, noon) = (hours("22:00", "07:00"), hours("12:00", "13:30"));
        for (quiet, now, until) in [
            (night, "2026-11-23T21:59:59+07:00", None),
            (night, "2026-11-23T22:00:00+07:00", Some("2026-11-24T07:00:00+07:00")),
            (night, "2026-11-24T06:59:59+07:00", Some("2026-11-24T07:00:00+07:00")),
            (night, "2026-11-24T07:00:00+07:00", None),
            (noon, "2026-11-24T13:29:00+07:00", Some("2026-11-24T13:30:00+07:00")),
            (noon, "2026-11-24T23:00:00+07:00", None),
        ] {
            assert_eq!(quiet.until(&Zone::default(), at(now)), until.map(at), "{quiet:?} {now}");
        }
        let jayapura = Zone::parse("Asia/Jayapura").unwrap();
        assert!(night.until(&jayapura, at("2026-11-23T20:00:00+07:00")).is_some());
    }
}
