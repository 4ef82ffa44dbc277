//! Customers who wait for a machine of a kind at an outlet: first come, first called (docs/board.md, Customers).

use crate::domain::id::{CallId, MachineId};
use crate::domain::timestamp::Timestamp;

/// How long a call waits.
pub const WAIT_MS: i64 = 2 * 60 * 60 * 1000;
/// For how long a customer is called to a machine.
pub const CALLED_MS: i64 = 3 * 60 * 1000;
/// Calls that wait at an outlet for one kind.
pub const MAX_WAITING: i64 = 100;

/// A call that is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    pub id: CallId,
    /// Until when it waits.
    pub until: Timestamp,
    /// The machine that the customer is called to, and until when.
    pub called: Option<(MachineId, Timestamp)>,
    /// The customer has started a machine there since.
    pub started: bool,
    /// The machine that a purchase of the customer holds and that has not answered yet.
    pub holds: Option<MachineId>,
}

/// A change of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    End(CallId),
    /// It waits again, in its old place.
    Wait(CallId),
    /// The customer is called to a machine, until an instant.
    Call(CallId, MachineId, Timestamp),
}

/// What happens to the calls for one kind of machines at an outlet. `calls` are in the order in which they came, `free` are the machines that can
/// be bought now. Ends and waits come first.
pub fn decide(calls: &[Call], free: &[MachineId], is_open: bool, now: Timestamp) -> Vec<Step> {
    let (mut over, mut steps) = (Vec::new(), Vec::new());
    let (mut waiting, mut lost, mut promised) = (Vec::new(), Vec::new(), Vec::new());
    for call in calls {
        match call.called {
            _ if !is_open || call.started => over.push(Step::End(call.id)),
            // Its own purchase has the machine.
            Some((machine, _)) if call.holds == Some(machine) => promised.push(machine),
            Some((machine, until)) if free.contains(&machine) && until <= now => over.push(Step::End(call.id)),
            Some((machine, _)) if free.contains(&machine) => promised.push(machine),
            // The machine is in use or offline. The customer keeps the turn, even if that is detected only after the three minutes.
            _ if call.until <= now => over.push(Step::End(call.id)),
            called => {
                if called.is_some() {
                    lost.push(call.id);
                }
                if call.holds.is_none() {
                    waiting.push(call.id);
                }
            }
        }
    }
    let mut free = free.iter().filter(|machine| !promised.contains(machine));
    for id in waiting {
        let Some(machine) = free.next() else { break };
        lost.retain(|lost| *lost != id);
        steps.push(Step::Call(id, *machine, now.plus_ms(CALLED_MS)));
    }
    over.extend(lost.into_iter().map(Step::Wait));
    over.extend(steps);
    over
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);

    fn at(s: i64) -> Timestamp {
        NOW.plus_ms(s * 1000)
    }

    fn call(id: i64) -> Call {
        Call { id: CallId::new(id), until: at(7_200), called: None, started: false, holds: None }
    }

    fn called(id: i64, machine: i64, until_s: i64) -> Call {
        Call { called: Some((MachineId::new(machine), at(until_s))), ..call(id) }
    }

    fn machines(ids: &[i64]) -> Vec<MachineId> {
        ids.iter().map(|id| MachineId::new(*id)).collect()
    }

    fn calls_to(id: i64, machine: i64) -> Step {
        Step::Call(CallId::new(id), MachineId::new(machine), at(180))
    }

    #[test]
    fn the_first_is_called_and_the_next_when_it_did_not_come() {
        let queue = [call(1), call(2)];
        assert_eq!(decide(&queue, &machines(&[7]), true, NOW), [calls_to(1, 7)]);
        assert_eq!(decide(&[called(1, 7, 1), call(2)], &machines(&[7]), true, NOW), []);
        assert_eq!(decide(&[called(1, 7, 0), call(2)], &machines(&[7]), true, NOW), [Step::End(CallId::new(1)), calls_to(2, 7)]);
        assert_eq!(decide(&queue, &[], true, NOW), []);
    }

    #[test]
    fn a_walk_in_takes_no_turn() {
        let queue = [called(1, 7, 60), call(2)];
        assert_eq!(decide(&queue, &[], true, NOW), [Step::Wait(CallId::new(1))]);
        assert_eq!(decide(&queue, &machines(&[8]), true, NOW), [calls_to(1, 8)], "the first again, to another machine");
        assert_eq!(decide(&[called(1, 7, -1), call(2)], &[], true, NOW), [Step::Wait(CallId::new(1))], "found too late");
        let holds = Call { holds: Some(MachineId::new(7)), ..called(1, 7, -60) };
        assert_eq!(decide(&[holds, call(2)], &[], true, NOW), [], "its own purchase has the machine");
        assert_eq!(decide(&[Call { called: None, ..holds }, call(2)], &machines(&[8]), true, NOW), [calls_to(2, 8)]);
    }

    #[test]
    fn a_call_is_over_by_a_start_by_time_and_when_the_outlet_closes() {
        let end = [Step::End(CallId::new(1))];
        assert_eq!(decide(&[Call { started: true, ..called(1, 7, 60) }], &machines(&[7]), true, NOW), end);
        assert_eq!(decide(&[Call { until: NOW, ..call(1) }], &machines(&[7]), true, NOW), end);
        assert_eq!(decide(&[Call { until: NOW, ..called(1, 7, 60) }], &machines(&[7]), true, NOW), [], "called in time");
        assert_eq!(decide(&[Call { until: NOW, ..called(1, 7, 60) }], &[], true, NOW), end);
        assert_eq!(decide(&[called(1, 7, 60)], &machines(&[7]), false, NOW), end);
    }

    /// What happens beside the queue.
    #[derive(Debug, Clone)]
    enum Event {
        Join,
        /// A machine becomes free or not.
        Turn(i64),
        /// A called customer starts the machine.
        Start(usize),
        Pass(i64),
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            Just(Event::Join),
            (1_i64..4).prop_map(Event::Turn),
            (0_usize..5).prop_map(Event::Start),
            (1_i64..240).prop_map(Event::Pass)
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn nobody_is_passed_over_and_no_machine_is_promised_twice(events in proptest::collection::vec(event(), 1..80)) {
            let (mut queue, mut free, mut now): (Vec<Call>, Vec<MachineId>, i64) = (Vec::new(), Vec::new(), 0);
            for (n, event) in (1..).zip(events) {
                match event {
                    Event::Join => queue.push(Call { until: at(now + 7_200), ..call(n) }),
                    Event::Turn(id) if free.contains(&MachineId::new(id)) => free.retain(|machine| machine.get() != id),
                    Event::Turn(id) => free.push(MachineId::new(id)),
                    Event::Start(n) => {
                        if let Some(call) = queue.iter_mut().filter(|call| call.called.is_some()).nth(n) {
                            call.started = true;
                            let (machine, _) = call.called.unwrap();
                            free.retain(|free| *free != machine);
                        }
                    }
                    Event::Pass(s) => now += s,
                }
                let before = queue.clone();
                for step in decide(&queue, &free, true, at(now)) {
                    match step {
                        Step::End(id) => queue.retain(|call| call.id != id),
                        Step::Wait(id) => queue.iter_mut().filter(|call| call.id == id).for_each(|call| call.called = None),
                        Step::Call(id, machine, until) => {
                            prop_assert!(free.contains(&machine));
                            queue.iter_mut().filter(|call| call.id == id).for_each(|call| call.called = Some((machine, until)));
                        }
                    }
                }
                let promised: Vec<MachineId> = queue.iter().filter_map(|call| Some(call.called?.0)).collect();
                let mut once = promised.clone();
                once.sort();
                once.dedup();
                prop_assert_eq!(once.len(), promised.len(), "a machine is promised to one");
                prop_assert!(promised.iter().all(|machine| free.contains(machine)), "only free machines are promised");
                prop_assert!(promised.len() == queue.len().min(free.len()), "no machine stays free while somebody waits");
                // A customer who is newly called had joined before all who still wait.
                let last_new = queue.iter().rposition(|call| {
                    call.called.is_some() && before.iter().any(|old| old.id == call.id && old.called != call.called)
                });
                let first_waiting = queue.iter().position(|call| call.called.is_none());
                prop_assert!(last_new.is_none() || first_waiting.is_none() || last_new < first_waiting, "{:?}", queue);
                prop_assert!(queue.iter().all(|call| call.called.map_or(call.until, |(_, until)| until) > at(now)), "what is over ends");
            }
        }
    }
}
