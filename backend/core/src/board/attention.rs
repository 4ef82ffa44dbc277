//! What needs a person, derived from the database. An entry ends with its cause.

use crate::domain::id::{ComplaintId, MachineId, ShiftId};
use crate::domain::timestamp::Timestamp;

use super::Condition;

/// Two refusals of a machine within this time are an entry.
const REFUSALS_WITHIN_MS: i64 = 60 * 60 * 1000;
/// History that is read back, so that an entry begins when its cause did.
pub const HISTORY_MS: i64 = 24 * 60 * 60 * 1000;
/// A run of no purchase that is older is no entry.
const UNPAID_WITHIN_MS: i64 = 24 * 60 * 60 * 1000;
/// A machine that runs on coins alone for longer is an entry: its sensor may be stuck.
const RUNS_ITSELF_MS: i64 = 4 * 60 * 60 * 1000;
/// A refused move is an entry for this long.
pub const MOVE_REFUSED_MS: i64 = 24 * 60 * 60 * 1000;
/// A shift that is open for longer is an entry.
const SHIFT_MS: i64 = 16 * 60 * 60 * 1000;
/// A complaint that is not answered within this time is urgent, and the owner is alerted.
pub const COMPLAINT_MS: i64 = 2 * 60 * 60 * 1000;

/// Kinds of entries; the first is shown first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    NeedsStaff,
    ClosedItself,
    Unpaid,
    OutletGone,
    Unsure,
    Refused,
    NeverRan,
    RunsItself,
    MoveRefused,
    Complaint,
    Qris,
    Offline,
    Shift,
    Backup,
    OldBoard,
}

/// How urgent an entry is; the most urgent one comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Red,
    Yellow,
    Grey,
}

impl Kind {
    pub const ALL: [Self; 15] = [
        Self::NeedsStaff,
        Self::ClosedItself,
        Self::Unpaid,
        Self::OutletGone,
        Self::Unsure,
        Self::Refused,
        Self::NeverRan,
        Self::RunsItself,
        Self::MoveRefused,
        Self::Complaint,
        Self::Qris,
        Self::Offline,
        Self::Shift,
        Self::Backup,
        Self::OldBoard,
    ];

    /// As messages have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NeedsStaff => "perlu_petugas",
            Self::ClosedItself => "ditutup_sistem",
            Self::Unpaid => "tanpa_bayar",
            Self::OutletGone => "outlet_putus",
            Self::Unsure => "belum_pasti",
            Self::Refused => "ditolak",
            Self::NeverRan => "tidak_jalan",
            Self::RunsItself => "jalan_sendiri",
            Self::MoveRefused => "pindah",
            Self::Complaint => "keluhan",
            Self::Qris => "qris",
            Self::Offline => "offline",
            Self::Shift => "shift",
            Self::Backup => "cadangan",
            Self::OldBoard => "papan_lama",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Whether it is about machines, and not about money, customers or the server.
    pub const fn is_about_machines(self) -> bool {
        !matches!(self, Self::MoveRefused | Self::Complaint | Self::Qris | Self::Shift | Self::Backup)
    }

    const fn level(self) -> Level {
        match self {
            Self::NeedsStaff | Self::ClosedItself | Self::Unpaid | Self::OutletGone => Level::Red,
            Self::Unsure
            | Self::Refused
            | Self::NeverRan
            | Self::RunsItself
            | Self::MoveRefused
            | Self::Complaint
            | Self::Qris => Level::Yellow,
            Self::Offline | Self::Shift | Self::Backup | Self::OldBoard => Level::Grey,
        }
    }
}

impl Level {
    /// As messages have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Red => "merah",
            Self::Yellow => "kuning",
            Self::Grey => "abu",
        }
    }
}

/// A condition that holds, or that ended a short time ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spell {
    pub condition: Condition,
    pub from: Timestamp,
    pub until: Option<Timestamp>,
}

/// The recent history of one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineHistory {
    pub idmesin: MachineId,
    /// Closed by staff now.
    pub closed: bool,
    /// The oldest first.
    pub spells: Vec<Spell>,
    /// Refusals without a start after them, the oldest first.
    pub refused_at: Vec<Timestamp>,
    /// Since when the server has closed it.
    pub closed_itself_at: Option<Timestamp>,
    /// When the oldest purchase ended that was paid, in which it did not run, and that is not refunded.
    pub never_ran_at: Option<Timestamp>,
    /// Since when its sensor sees it run without a purchase.
    pub runs_itself_since: Option<Timestamp>,
    /// Since when its board has said that it cannot send the pulses that its machine wants.
    pub old_board_since: Option<Timestamp>,
}

/// An open shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenShift {
    pub id: ShiftId,
    pub since: Timestamp,
}

/// An unanswered complaint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenComplaint {
    pub id: ComplaintId,
    pub since: Timestamp,
}

/// One outlet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutletHistory {
    /// It has been opened. An outlet in preparation has no entries.
    pub opened: bool,
    /// It is not closed.
    pub sells: bool,
    pub machines: Vec<MachineHistory>,
    pub shifts: Vec<OpenShift>,
    /// When an old number last refused a move that was asked for here.
    pub move_refused_at: Option<Timestamp>,
    pub complaints: Vec<OpenComplaint>,
    /// Since when a payment by QRIS needs the owner.
    pub payment_since: Option<Timestamp>,
    /// When its business day began.
    pub day_began: Timestamp,
}

/// How long a device must be offline, or back online, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    pub offline_ms: i64,
    pub back_ms: i64,
}

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum About {
    Outlet,
    Machine(MachineId),
    Shift(ShiftId),
    Complaint(ComplaintId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub kind: Kind,
    pub about: About,
    pub since: Timestamp,
}

impl Entry {
    pub fn level(&self, now: Timestamp) -> Level {
        let is_late = self.kind == Kind::Complaint && self.since.ms_until(now) >= COMPLAINT_MS;
        if is_late { Level::Red } else { self.kind.level() }
    }
}

/// The entries of an outlet at `now`: the urgent ones first, then by kind, then the oldest first.
pub fn of(outlet: &OutletHistory, patience: Patience, now: Timestamp) -> Vec<Entry> {
    let mut entries = Vec::new();
    if !outlet.opened {
        return entries;
    }
    for machine in &outlet.machines {
        let about = About::Machine(machine.idmesin);
        for (kind, since) in machine.entries(now) {
            entries.push(Entry { kind, about, since });
        }
    }
    if outlet.sells {
        entries.extend(offline(&outlet.machines, patience, now));
    }
    if let Some(since) = outlet.move_refused_at.filter(|at| at.ms_until(now) < MOVE_REFUSED_MS) {
        entries.push(Entry { kind: Kind::MoveRefused, about: About::Outlet, since });
    }
    if let Some(since) = outlet.payment_since {
        entries.push(Entry { kind: Kind::Qris, about: About::Outlet, since });
    }
    for shift in &outlet.shifts {
        if shift.since < outlet.day_began || shift.since.ms_until(now) > SHIFT_MS {
            entries.push(Entry { kind: Kind::Shift, about: About::Shift(shift.id), since: shift.since });
        }
    }
    let complaints = outlet.complaints.iter();
    entries.extend(complaints.map(|c| Entry { kind: Kind::Complaint, about: About::Complaint(c.id), since: c.since }));
    entries.sort_by_key(|entry| (entry.level(now), entry.kind, entry.since, entry.about));
    entries
}

impl MachineHistory {
    fn entries(&self, now: Timestamp) -> impl Iterator<Item = (Kind, Timestamp)> {
        let holds = |condition: Condition| {
            self.spells.iter().rev().find(|s| s.condition == condition && s.until.is_none()).map(|s| s.from)
        };
        let unpaid = holds(Condition::Unpaid).filter(|from| from.ms_until(now) < UNPAID_WITHIN_MS);
        let runs_itself = self.runs_itself_since.filter(|since| since.ms_until(now) >= RUNS_ITSELF_MS);
        [
            holds(Condition::NeedsStaff).map(|from| (Kind::NeedsStaff, from)),
            self.closed_itself_at.map(|at| (Kind::ClosedItself, at)),
            self.never_ran_at.map(|at| (Kind::NeverRan, at)),
            runs_itself.map(|since| (Kind::RunsItself, since)),
            unpaid.map(|from| (Kind::Unpaid, from)),
            holds(Condition::Unsure).map(|from| (Kind::Unsure, from)),
            self.refuses_since(now).map(|at| (Kind::Refused, at)),
            self.old_board_since.map(|at| (Kind::OldBoard, at)),
        ]
        .into_iter()
        .flatten()
    }

    /// Since when there are two refusals within an hour, without a pause.
    fn refuses_since(&self, now: Timestamp) -> Option<Timestamp> {
        // Each pair is an entry from its second refusal until an hour after its first one.
        let mut entry: Option<(Timestamp, Timestamp)> = None;
        for pair in self.refused_at.windows(2) {
            let (from, until) = (pair[1], pair[0].plus_ms(REFUSALS_WITHIN_MS));
            if from < until {
                entry = match entry {
                    Some((since, lasted)) if from <= lasted => Some((since, until)),
                    _ => Some((from, until)),
                };
            }
        }
        entry.filter(|(_, until)| now < *until).map(|(since, _)| since)
    }

    /// Since when its device is offline, if for long enough. A device that is online for less than `back_ms` counts as offline all the time.
    fn offline_since(&self, patience: Patience, now: Timestamp) -> Option<Timestamp> {
        let mut offline: Option<(Timestamp, Option<Timestamp>)> = None;
        for spell in self.spells.iter().filter(|spell| spell.condition == Condition::Offline) {
            offline = Some(match offline {
                Some((from, Some(until))) if until.ms_until(spell.from) < patience.back_ms => (from, spell.until),
                _ => (spell.from, spell.until),
            });
        }
        let (from, until) = offline?;
        let long_enough = from.ms_until(until.unwrap_or(now)) >= patience.offline_ms;
        let is_back = until.is_some_and(|until| until.ms_until(now) >= patience.back_ms);
        (long_enough && !is_back).then_some(from)
    }
}

/// One entry for each machine that is offline, or one for the outlet when all of at least two are.
fn offline(machines: &[MachineHistory], patience: Patience, now: Timestamp) -> Vec<Entry> {
    let open: Vec<_> = machines.iter().filter(|machine| !machine.closed).collect();
    let offline: Vec<_> =
        open.iter().filter_map(|machine| Some((machine.idmesin, machine.offline_since(patience, now)?))).collect();
    match offline.iter().map(|(_, since)| *since).max() {
        Some(since) if offline.len() == open.len() && offline.len() >= 2 => {
            vec![Entry { kind: Kind::OutletGone, about: About::Outlet, since }]
        }
        _ => offline.into_iter().map(|(id, since)| Entry { kind: Kind::Offline, about: About::Machine(id), since }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience { offline_ms: 120_000, back_ms: 30_000 };
    const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);

    fn ago(s: i64) -> Timestamp {
        NOW.plus_ms(-s * 1_000)
    }

    fn spell(condition: Condition, from_s: i64, until_s: Option<i64>) -> Spell {
        Spell { condition, from: ago(from_s), until: until_s.map(ago) }
    }

    fn machine(id: i64, spells: Vec<Spell>) -> MachineHistory {
        MachineHistory {
            idmesin: MachineId::new(id),
            closed: false,
            spells,
            refused_at: Vec::new(),
            closed_itself_at: None,
            never_ran_at: None,
            runs_itself_since: None,
            old_board_since: None,
        }
    }

    fn outlet(machines: Vec<MachineHistory>) -> OutletHistory {
        OutletHistory {
            opened: true,
            sells: true,
            machines,
            shifts: Vec::new(),
            move_refused_at: None,
            complaints: Vec::new(),
            payment_since: None,
            day_began: ago(3_600),
        }
    }

    fn seen(outlet: &OutletHistory) -> Vec<(Kind, i64)> {
        of(outlet, PATIENCE, NOW).iter().map(|entry| (entry.kind, entry.since.ms_until(NOW) / 1_000)).collect()
    }

    #[test]
    fn a_device_is_offline_after_two_minutes_and_back_after_thirty_seconds() {
        use Condition::Offline;
        for (spells, expected) in [
            (vec![spell(Offline, 119, None)], vec![]),
            (vec![spell(Offline, 120, None)], vec![(Kind::Offline, 120)]),
            (vec![spell(Offline, 300, Some(29))], vec![(Kind::Offline, 300)]),
            (vec![spell(Offline, 300, Some(30))], vec![]),
            // It comes back for a moment again and again: one entry, from the first time.
            (
                vec![spell(Offline, 300, Some(200)), spell(Offline, 180, Some(60)), spell(Offline, 40, None)],
                vec![(Kind::Offline, 300)],
            ),
            (vec![spell(Offline, 300, Some(100)), spell(Offline, 60, None)], vec![]),
        ] {
            let told = format!("{spells:?}");
            assert_eq!(seen(&outlet(vec![machine(1, spells), machine(2, vec![])])), expected, "{told}");
        }
    }

    #[test]
    fn all_of_two_or_more_are_one_entry_of_the_outlet() {
        let away = |id, s| machine(id, vec![spell(Condition::Offline, s, None)]);
        assert_eq!(seen(&outlet(vec![away(1, 500), away(2, 130)])), [(Kind::OutletGone, 130)]);
        assert_eq!(
            seen(&outlet(vec![away(1, 500), away(2, 60)])),
            [(Kind::Offline, 500)],
            "the second is not away for long enough"
        );
        assert_eq!(seen(&outlet(vec![away(1, 500)])), [(Kind::Offline, 500)], "one machine is no outlet");
        let closed = MachineHistory { closed: true, ..machine(3, vec![]) };
        assert_eq!(seen(&outlet(vec![away(1, 500), away(2, 130), closed])), [(Kind::OutletGone, 130)], "of the open ones");
        let shut = OutletHistory { sells: false, ..outlet(vec![away(1, 500), away(2, 130)]) };
        assert_eq!(seen(&shut), [], "a closed outlet waits for nobody");
    }

    #[test]
    fn each_cause_has_its_entry_and_the_urgent_ones_come_first() {
        use Condition::{NeedsStaff, Unpaid, Unsure};
        let mut refuses = machine(4, vec![]);
        refuses.refused_at = vec![ago(900), ago(600), ago(300)];
        let shop = outlet(vec![
            machine(1, vec![spell(Unsure, 60, None)]),
            machine(2, vec![spell(NeedsStaff, 700, None), spell(NeedsStaff, 900, Some(800))]),
            machine(3, vec![spell(Unpaid, 50, None)]),
            refuses,
            machine(5, vec![spell(Unpaid, 24 * 3_600, None), spell(NeedsStaff, 100, Some(50))]),
        ]);
        let expected = [(Kind::NeedsStaff, 700), (Kind::Unpaid, 50), (Kind::Unsure, 60), (Kind::Refused, 600)];
        assert_eq!(seen(&shop), expected);
    }

    #[test]
    fn a_machine_with_its_own_cycle_is_an_entry_by_what_its_sensor_sees() {
        let own = MachineHistory {
            closed_itself_at: Some(ago(30)),
            never_ran_at: Some(ago(60)),
            runs_itself_since: Some(ago(4 * 3_600)),
            ..machine(1, vec![])
        };
        let expected = [(Kind::ClosedItself, 30), (Kind::NeverRan, 60), (Kind::RunsItself, 4 * 3_600)];
        assert_eq!(seen(&outlet(vec![own])), expected);
        let shortly = MachineHistory { runs_itself_since: Some(ago(4 * 3_600 - 1)), ..machine(1, vec![]) };
        assert_eq!(seen(&outlet(vec![shortly])), []);
    }

    #[test]
    fn refusals_are_one_entry_while_two_of_them_are_within_an_hour() {
        for (refused, expected) in [
            (vec![10], None),
            (vec![3_000, 10], Some(10)),
            (vec![3_590, 1_800, 10], Some(1_800)),
            // The first two are older than an hour: the next pair continues the entry.
            (vec![5_000, 3_000, 1_500, 10], Some(3_000)),
            // It ended, and began again.
            (vec![9_000, 6_000, 3_500, 10], Some(10)),
            (vec![9_000, 8_500, 10], None),
            (vec![3_600, 10], None),
        ] {
            let mut refuses = machine(1, vec![]);
            refuses.refused_at = refused.iter().map(|s| ago(*s)).collect();
            let entries = seen(&outlet(vec![refuses]));
            assert_eq!(entries.first().map(|(_, s)| *s), expected, "{refused:?}");
        }
    }

    #[test]
    fn a_board_that_cannot_send_pulses_is_an_entry_until_it_can() {
        let old = MachineHistory { old_board_since: Some(ago(90)), ..machine(1, vec![]) };
        assert_eq!(seen(&outlet(vec![old, machine(2, vec![])])), [(Kind::OldBoard, 90)]);
    }

    #[test]
    fn a_refused_move_is_an_entry_for_a_day() {
        for (s, expected) in [(60, vec![(Kind::MoveRefused, 60)]), (24 * 3_600, vec![])] {
            assert_eq!(seen(&OutletHistory { move_refused_at: Some(ago(s)), ..outlet(vec![]) }), expected);
        }
    }

    #[test]
    fn a_complaint_is_urgent_when_nobody_has_answered_it_for_two_hours() {
        let mut shop = outlet(vec![machine(1, vec![spell(Condition::Unsure, 60, None)])]);
        let complaint = |id, s| OpenComplaint { id: ComplaintId::new(id), since: ago(s) };
        shop.complaints = vec![complaint(1, 2 * 3_600), complaint(2, 2 * 3_600 - 1)];
        assert_eq!(seen(&shop), [(Kind::Complaint, 7_200), (Kind::Unsure, 60), (Kind::Complaint, 7_199)]);
        let levels: Vec<_> = of(&shop, PATIENCE, NOW).iter().map(|entry| entry.level(NOW)).collect();
        assert_eq!(levels, [Level::Red, Level::Yellow, Level::Yellow]);
    }

    #[test]
    fn a_payment_that_needs_the_owner_is_an_entry_of_a_closed_outlet_too() {
        let paid = OutletHistory { payment_since: Some(ago(90)), sells: false, ..outlet(vec![]) };
        assert_eq!(seen(&paid), [(Kind::Qris, 90)]);
        assert_eq!(seen(&OutletHistory { opened: false, ..paid }), []);
    }

    #[test]
    fn a_shift_of_yesterday_or_of_sixteen_hours_is_an_entry() {
        let mut shop = outlet(vec![]);
        let shift = |id, s| OpenShift { id: ShiftId::new(id), since: ago(s) };
        shop.shifts = vec![shift(1, 3_599), shift(2, 3_601)];
        assert_eq!(seen(&shop), [(Kind::Shift, 3_601)]);
        shop.day_began = ago(17 * 3_600);
        shop.shifts = vec![shift(1, 16 * 3_600), shift(2, 16 * 3_600 + 1)];
        assert_eq!(seen(&shop), [(Kind::Shift, 16 * 3_600 + 1)]);
    }
}
