//! When machines could not be sold, and what each did on a day.

use super::intervals::{Interval, Intervals};
use crate::board::Condition;
use crate::board::attention::Spell;
use crate::domain::id::MachineId;
use crate::domain::timestamp::Timestamp;

/// Machines whose devices are all offline at once are a whole outlet that is offline, from this number on.
const OUTLET: i64 = 2;

/// A machine in a period.
#[derive(Debug, Clone)]
pub struct MachineRecord {
    pub idmesin: MachineId,
    pub created_at: Timestamp,
    /// It is still in the shop.
    pub active: bool,
    /// Its recorded conditions.
    pub spells: Vec<Spell>,
    /// Its cycles that were bought.
    pub cycles: Vec<Interval>,
}

/// An outlet in a period that ends at `until`, which is not in the future.
#[derive(Debug, Clone)]
pub struct OutletRecord {
    pub from: Timestamp,
    pub until: Timestamp,
    /// It was closed, or was being prepared.
    pub closed: Intervals,
    /// No server recorded conditions.
    pub unrecorded: Intervals,
    pub machines: Vec<MachineRecord>,
}

/// What a machine did for some time. It was ready where there is no band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Band {
    pub time: Interval,
    pub state: &'static str,
}

impl OutletRecord {
    fn period(&self) -> Intervals {
        Intervals::one(self.from, self.until)
    }

    fn held(&self, machine: &MachineRecord, conditions: &[Condition]) -> Intervals {
        let spells = machine.spells.iter().filter(|spell| conditions.contains(&spell.condition));
        let all: Intervals =
            spells.map(|spell| Interval { from: spell.from, until: spell.until.unwrap_or(self.until) }).collect();
        all.within(&self.period())
    }

    /// Nothing is known of any machine: no server recorded, or the devices of all machines that were not closed were offline at once, as they
    /// are without internet.
    pub fn unknown(&self) -> Intervals {
        let mut events: Vec<(Timestamp, i64, i64)> = Vec::new();
        for machine in self.machines.iter().filter(|machine| machine.active) {
            let there = Intervals::one(machine.created_at.max(self.from), self.until);
            let open = there.minus(&self.held(machine, &[Condition::Closed]));
            let offline = self.held(machine, &[Condition::Offline]).within(&open);
            for (set, open, offline) in [(open, 1, 0), (offline, 0, 1)] {
                events.extend(set.iter().flat_map(|i| [(i.from, open, offline), (i.until, -open, -offline)]));
            }
        }
        events.sort_unstable();
        let (mut open, mut offline, mut since) = (0, 0, self.from);
        let mut gone = Vec::new();
        for (at, more_open, more_offline) in events {
            if open >= OUTLET && offline == open {
                gone.push(Interval { from: since, until: at });
            }
            (open, offline, since) = (open + more_open, offline + more_offline, at);
        }
        gone.into_iter().collect::<Intervals>().and(&self.unrecorded).within(&self.period())
    }

    /// When each machine could not be sold although the outlet was open: several causes at once count once.
    pub fn down(&self) -> Vec<(MachineId, Intervals)> {
        let not_counted = self.unknown().and(&self.closed);
        let of = |machine: &MachineRecord| {
            self.held(machine, &[Condition::Closed, Condition::NeedsStaff, Condition::Offline, Condition::Unsure])
        };
        self.machines.iter().map(|machine| (machine.idmesin, of(machine).minus(&not_counted))).collect()
    }

    /// What each machine did, one state at a time.
    pub fn bands(&self) -> Vec<(MachineId, Vec<Band>)> {
        let unknown = self.unknown();
        let of = |machine: &MachineRecord| {
            let mut left = Intervals::one(machine.created_at.max(self.from), self.until);
            let mut bands = Vec::new();
            for (state, when) in [
                (Condition::Unsure.as_str(), self.held(machine, &[Condition::Unsure])),
                ("jalan", machine.cycles.iter().copied().collect()),
                ("tidak_diketahui", unknown.clone()),
                (Condition::NeedsStaff.as_str(), self.held(machine, &[Condition::NeedsStaff])),
                (Condition::Closed.as_str(), self.held(machine, &[Condition::Closed]).and(&self.closed)),
                (Condition::Offline.as_str(), self.held(machine, &[Condition::Offline])),
            ] {
                bands.extend(when.within(&left).iter().map(|time| Band { time, state }));
                left = left.minus(&when);
            }
            bands.sort_unstable_by_key(|band| band.time);
            (machine.idmesin, bands)
        };
        self.machines.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_ms(minute * 60_000)
    }

    fn span(from: i64, until: i64) -> Interval {
        Interval { from: at(from), until: at(until) }
    }

    fn spell(condition: Condition, from: i64, until: Option<i64>) -> Spell {
        Spell { condition, from: at(from), until: until.map(at) }
    }

    fn machine(id: i64, spells: Vec<Spell>) -> MachineRecord {
        MachineRecord { idmesin: MachineId::new(id), created_at: at(-100), active: true, spells, cycles: Vec::new() }
    }

    /// From minute 0 to 100.
    fn outlet(machines: Vec<MachineRecord>) -> OutletRecord {
        OutletRecord { from: at(0), until: at(100), closed: Intervals::default(), unrecorded: Intervals::default(), machines }
    }

    fn down(outlet: &OutletRecord) -> Vec<i64> {
        outlet.down().iter().map(|(_, down)| down.ms_between(&[at(0), at(100)])[0] / 60_000).collect()
    }

    #[test]
    fn causes_at_once_count_once_and_only_in_the_period() {
        use Condition::{Closed, NeedsStaff, Offline, Unpaid, Unsure};
        let shop = outlet(vec![
            machine(1, vec![spell(Closed, -50, Some(10)), spell(Offline, 5, Some(20)), spell(Unsure, 30, Some(31))]),
            machine(2, vec![spell(NeedsStaff, 90, None)]),
            machine(3, vec![spell(Unpaid, 0, None)]),
        ]);
        assert_eq!(down(&shop), [21, 10, 0]);
    }

    #[test]
    fn a_closed_outlet_and_what_nobody_knows_are_not_counted() {
        let spells = vec![spell(Condition::Closed, 0, None)];
        let shop = outlet(vec![machine(1, spells), machine(2, vec![])]);
        let closed = OutletRecord { closed: Intervals::one(at(10), at(30)), ..shop.clone() };
        assert_eq!(down(&closed), [80, 0]);
        let unrecorded = OutletRecord { unrecorded: Intervals::one(at(20), at(40)), ..closed };
        assert_eq!(down(&unrecorded), [70, 0]);
    }

    #[test]
    fn all_devices_offline_at_once_are_the_outlets_internet() {
        use Condition::{Closed, Offline};
        let both = vec![machine(1, vec![spell(Offline, 10, Some(50))]), machine(2, vec![spell(Offline, 20, Some(40))])];
        assert_eq!(down(&outlet(both.clone())), [20, 0]);
        let third = MachineRecord { active: false, ..machine(3, vec![]) };
        assert_eq!(down(&outlet([both.clone(), vec![third]].concat())), [20, 0, 0], "one that was retired decides nothing");
        let closed = machine(3, vec![spell(Closed, 0, Some(30))]);
        assert_eq!(down(&outlet([both.clone(), vec![closed]].concat())), [30, 10, 20], "it is open from minute 30 on");
        let new = MachineRecord { created_at: at(25), ..machine(3, vec![]) };
        assert_eq!(down(&outlet([both, vec![new]].concat())), [35, 15, 0]);
        assert_eq!(down(&outlet(vec![machine(1, vec![spell(Offline, 10, Some(50))])])), [40], "one machine is no outlet");
    }

    #[test]
    fn a_day_has_one_state_at_a_time() {
        use Condition::{Closed, NeedsStaff, Offline, Unsure};
        let first = MachineRecord {
            cycles: vec![span(-10, 20), span(40, 60)],
            ..machine(
                1,
                vec![
                    spell(Unsure, 35, Some(40)),
                    spell(Offline, 50, Some(90)),
                    spell(NeedsStaff, 80, Some(85)),
                    spell(Closed, 82, None),
                ],
            )
        };
        let shop = OutletRecord {
            closed: Intervals::one(at(99), at(100)),
            ..outlet(vec![first, machine(2, vec![spell(Offline, 65, Some(70))])])
        };
        let (_, bands) = &shop.bands()[0];
        let seen: Vec<_> = bands.iter().map(|b| (b.time.from.ms() / 60_000, b.time.until.ms() / 60_000, b.state)).collect();
        let expected = [
            (0, 20, "jalan"),
            (35, 40, "belum_pasti"),
            (40, 60, "jalan"),
            (60, 65, "offline"),
            (65, 70, "tidak_diketahui"),
            (70, 80, "offline"),
            (80, 85, "perlu_petugas"),
            (85, 100, "ditutup"),
        ];
        assert_eq!(seen, expected);
    }
}
