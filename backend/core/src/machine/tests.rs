//! Cases that are easier to construct one by one than to wait for in the simulation.

use uuid::Uuid;

use super::{CycleChange, Effect, Input, Machine, Outcome, RequestId, Start, Unanswered};
use crate::domain::driver_kind::DriverKind;
use crate::domain::id::{CustomerId, MachineId, OutletId, OwnerId, PurchaseId, ServiceId, WalletId};
use crate::domain::receipt_number::ReceiptNumber;
use crate::domain::timestamp::Timestamp;
use crate::prices::Tariff;
use crate::purchase::device::{AckResult, Command, DeviceEvent, DeviceRun, Op};
use crate::purchase::facts::{MachineFacts, Order, SaleVersions, ServiceFacts, TestFacts};
use crate::purchase::rules::Refusal;
use crate::purchase::state::PurchaseState;
use crate::purchase::step::{Change, Held, Purchase, StartCommand, first};

const T0: Timestamp = Timestamp::from_ms(1_000_000);

fn start(receipt: u32, buyer: u64) -> Input {
    let order = Order {
        id_customer_global: CustomerId::new(1),
        receipt_number: ReceiptNumber::parse(&format!("SLF{receipt:015}")).unwrap(),
        idcustomer: WalletId::new(1),
        idmesin: MachineId::new(7),
        idoutlet: OutletId::new(1),
        idlayanan: ServiceId::new(1),
        total: 10_000,
        grandtotal: 10_000,
        test: None,
    };
    let name = || "Cuci".to_owned();
    let machine = MachineFacts {
        idoutlet: OutletId::new(1),
        idowner: OwnerId::new(1),
        name: name(),
        driver: DriverKind::Sim,
        online: true,
        needs_staff: false,
        busy: false,
        coin: None,
        tests: TestFacts::default(),
    };
    let service = ServiceFacts {
        idoutlet: OutletId::new(1),
        name: name(),
        duration_s: 60,
        pulses: 1,
        tariff: Tariff::flat(10_000),
        versions: SaleVersions { service: 1, outlet: 1 },
    };
    Input::Start(Start { order, machine, service, buyers: vec![RequestId(buyer)] })
}

fn wait(purchase_id: i64, buyer: u64) -> Input {
    Input::Await { purchase_id: PurchaseId::new(purchase_id), buyer: RequestId(buyer) }
}

fn won(purchase_id: i64) -> Input {
    Input::Held(Ok(Held::Won { purchase_id: PurchaseId::new(purchase_id), cmd_id: Uuid::nil(), epoch: 1 }))
}

fn running(id: i64) -> Purchase {
    let held = first(PurchaseId::new(id), StartCommand { cmd_id: Uuid::nil(), epoch: 1, duration_s: 60, pulses: None }, T0, T0);
    Purchase { state: PurchaseState::Running, ends_at: T0.plus_ms(60_000), ..held }
}

/// A machine that has read that nothing is open.
fn free() -> Machine {
    let mut machine = Machine::new(MachineId::new(7));
    assert!(matches!(machine.on(Input::Reload, T0)[..], [Effect::Load]));
    machine.on(Input::Loaded(Ok(None)), T0);
    machine
}

fn answers(effects: &[Effect]) -> Vec<(u64, Outcome)> {
    let mut answered = Vec::new();
    for effect in effects {
        if let Effect::Answer { requests, outcome } = effect {
            answered.extend(requests.iter().map(|request| (request.0, *outcome)));
        }
    }
    answered
}

fn holds(effects: &[Effect]) -> bool {
    effects.iter().any(|e| matches!(e, Effect::Hold { .. }))
}

#[test]
fn a_repeat_between_the_holds_commit_and_its_answer_waits_like_the_first() {
    let mut machine = free();
    assert!(holds(&machine.on(start(1, 1), T0)));
    // The facts contain purchase 5; the machine does not know it yet.
    assert_eq!(answers(&machine.on(wait(5, 2), T0)), []);
    let effects = machine.on(won(5), T0);
    assert_eq!(answers(&effects), [], "both wait for the device");
    let refused = Input::Device(DeviceEvent::Ack { cmd_id: Uuid::nil(), result: AckResult::Refused });
    machine.on(Input::Applied(Ok(true)), T0);
    machine.on(refused, T0);
    let effects = machine.on(Input::Applied(Ok(true)), T0);
    assert_eq!(answers(&effects), [(1, Outcome::NotStarted), (2, Outcome::NotStarted)]);
}

#[test]
fn a_repeat_of_another_purchase_reads_again_when_the_hold_is_answered() {
    let mut machine = free();
    machine.on(start(1, 1), T0);
    machine.on(wait(4, 2), T0);
    assert_eq!(answers(&machine.on(won(5), T0)), [(2, Outcome::ReadAgain)]);
}

#[test]
fn one_that_was_made_anew_reads_first_and_believes_later() {
    let mut machine = Machine::new(MachineId::new(7));
    assert!(matches!(machine.on(wait(5, 2), T0)[..], [Effect::Load]));
    assert!(machine.on(start(1, 1), T0).is_empty(), "read once");
    let effects = machine.on(Input::Loaded(Ok(Some(running(5)))), T0);
    assert_eq!(answers(&effects), [(2, Outcome::Started), (1, Outcome::Refused(Refusal::MachineBusy))]);
    assert!(effects.iter().any(|e| matches!(e, Effect::Show { cycle: Some(_), .. })), "it is in the status");
    assert_eq!(machine.wake_at(), Some(T0.plus_ms(60_000)));
}

#[test]
fn a_start_on_one_that_was_made_anew_finds_out_by_its_hold() {
    let mut machine = Machine::new(MachineId::new(7));
    assert!(holds(&machine.on(start(1, 1), T0)));
    let effects = machine.on(Input::Held(Ok(Held::Lost(Refusal::MachineBusy))), T0);
    assert_eq!(answers(&effects), [(1, Outcome::Refused(Refusal::MachineBusy))]);
    assert!(effects.iter().any(|e| matches!(e, Effect::Load)), "somebody holds it that is not known here");
}

#[test]
fn one_that_cannot_read_decides_nothing_and_reads_for_the_next() {
    let mut machine = Machine::new(MachineId::new(7));
    machine.on(wait(5, 1), T0);
    machine.on(start(1, 2), T0);
    let effects = machine.on(Input::Loaded(Err(Unanswered)), T0);
    assert_eq!(answers(&effects), [(1, Outcome::Busy)]);
    assert!(holds(&effects), "a start needs no reading");
    assert!(machine.on(wait(5, 3), T0).is_empty());
    assert!(machine.on(Input::Held(Ok(Held::Changed)), T0).iter().any(|e| matches!(e, Effect::Load)));
}

#[test]
fn what_cannot_be_judged_yet_is_bounded() {
    let mut machine = Machine::new(MachineId::new(7));
    let busy = (0..300).flat_map(|n| answers(&machine.on(wait(5, n), T0))).collect::<Vec<_>>();
    assert_eq!(busy.len(), 300 - 256);
    assert!(busy.iter().all(|(_, outcome)| *outcome == Outcome::Busy));
}

#[test]
fn nothing_is_bought_for_who_has_gone() {
    let mut machine = free();
    machine.on(start(1, 1), T0);
    machine.on(start(2, 2), T0);
    assert_eq!(machine.on(Input::Gone([RequestId(2)].into()), T0), []);
    let effects = machine.on(Input::Held(Ok(Held::Changed)), T0);
    assert_eq!(answers(&effects), [(1, Outcome::ReadAgain)]);
    assert!(!holds(&effects));
}

#[test]
fn a_caller_who_has_gone_before_its_input_buys_nothing_and_stops_all_the_same() {
    assert_eq!(start(1, 1).without_caller(), None);
    assert_eq!(wait(5, 1).without_caller(), None);
    let mut machine = Machine::with_purchase(MachineId::new(7), running(5));
    let stop = Input::Stop { purchase_id: PurchaseId::new(5), operator: Some(RequestId(9)) }.without_caller().unwrap();
    let effects = machine.on(stop, T0);
    assert!(matches!(effects[..], [Effect::Command(Command { op: Op::Stop, .. })]), "{effects:?}");
}

#[test]
fn after_a_lost_answer_nothing_is_done_until_what_is_stored_is_read() {
    let mut machine = free();
    machine.on(start(1, 1), T0);
    machine.on(won(5), T0);
    let later = T0.plus_ms(1_000);
    let effects = machine.on(Input::Alarm, later);
    assert!(effects.iter().any(|e| matches!(e, Effect::Apply { .. })), "marked as sent");
    assert!(machine.on(Input::Applied(Err(Unanswered)), later).is_empty());
    assert_eq!(machine.wake_at(), Some(later.plus_ms(500)));
    assert!(matches!(machine.on(Input::Alarm, later.plus_ms(500))[..], [Effect::Load]));
    let effects = machine.on(Input::Loaded(Ok(Some(running(5)))), later.plus_ms(510));
    assert_eq!(answers(&effects), [(1, Outcome::Started)]);
}

#[test]
fn a_reading_older_than_what_was_learned_since_is_not_believed() {
    let mut machine = Machine::with_purchase(MachineId::new(7), running(5));
    assert!(matches!(machine.on(Input::Reload, T0)[..], [Effect::Load]));
    let end = T0.plus_ms(60_000);
    assert!(matches!(machine.on(Input::Alarm, end)[..], [Effect::Apply { .. }]));
    machine.on(Input::Applied(Ok(true)), end);
    let effects = machine.on(Input::Loaded(Ok(Some(running(5)))), end);
    assert!(matches!(effects[..], [Effect::Load]), "{effects:?}");
    assert_eq!(machine.running(), None);
}

#[test]
fn a_hold_whose_answer_was_lost_is_looked_for() {
    let mut machine = free();
    machine.on(start(1, 1), T0);
    let effects = machine.on(Input::Held(Err(Unanswered)), T0);
    assert_eq!(answers(&effects), [(1, Outcome::Busy)]);
    assert!(effects.iter().any(|e| matches!(e, Effect::Load)));
}

#[test]
fn a_change_that_found_another_state_is_read_and_who_waits_reads_the_facts() {
    let mut machine = free();
    machine.on(start(1, 1), T0);
    machine.on(won(5), T0);
    machine.on(Input::Alarm, T0.plus_ms(1_000));
    assert!(matches!(machine.on(Input::Applied(Ok(false)), T0.plus_ms(1_000))[..], [Effect::Load]));
    assert_eq!(machine.wake_at(), None, "what is in doubt wakes nothing");
    let effects = machine.on(Input::Loaded(Ok(None)), T0.plus_ms(1_010));
    assert_eq!(answers(&effects), [(1, Outcome::ReadAgain)]);
}

#[test]
fn a_start_waits_for_a_reading_that_is_under_way() {
    let mut machine = free();
    assert!(matches!(machine.on(Input::Reload, T0)[..], [Effect::Load]));
    assert!(machine.on(start(1, 1), T0).is_empty());
    assert!(holds(&machine.on(Input::Loaded(Ok(None)), T0)));
}

#[test]
fn a_cycle_that_ended_before_its_first_report_is_announced_with_its_end() {
    let mut machine = free();
    machine.on(start(1, 1), T0);
    machine.on(won(5), T0);
    let done = Input::Device(DeviceEvent::Ack { cmd_id: Uuid::nil(), result: AckResult::Done });
    machine.on(done, T0.plus_ms(500));
    let effects = machine.on(Input::Applied(Ok(true)), T0.plus_ms(510));
    let over = CycleChange::Over { ends_at: T0.plus_ms(500) };
    assert!(effects.iter().any(|e| matches!(e, Effect::Show { change: Some(change), .. } if *change == over)), "{effects:?}");
}

#[test]
fn a_run_that_is_over_early_is_stopped_only_when_somebody_asked_for_it() {
    let (done, early) = (AckResult::Done, T0.plus_ms(20_000));
    let ended = |machine: &mut Machine| {
        let event = Input::Device(DeviceEvent::Ack { cmd_id: Uuid::nil(), result: done });
        machine.on(event, early).iter().find_map(|e| if let Effect::Apply { change, .. } = e { Some(*change) } else { None })
    };
    let mut left_alone = Machine::with_purchase(MachineId::new(7), running(5));
    assert_eq!(ended(&mut left_alone), Some(Change::Sooner { started_at: early.plus_ms(-60_000), ends_at: early, added_s: 0 }));
    let mut stopped = Machine::with_purchase(MachineId::new(7), running(5));
    stopped.on(Input::Stop { purchase_id: PurchaseId::new(5), operator: Some(RequestId(9)) }, T0);
    assert_eq!(ended(&mut stopped), Some(Change::Stop { ends_at: early }));
}

#[test]
fn what_a_device_says_of_its_run_is_as_old_as_it_is_when_it_had_to_wait() {
    let runs = || Input::Device(DeviceEvent::state(true, Some(DeviceRun::new(Uuid::nil(), 60_000))));
    let ends_at = |effects: &[Effect]| {
        effects.iter().find_map(|e| if let Effect::Apply { next, .. } = e { Some(next.ends_at) } else { None })
    };
    // Behind a commit.
    let mut machine = free();
    machine.on(start(1, 1), T0);
    machine.on(won(5), T0);
    assert_eq!(ends_at(&machine.on(Input::Alarm, T0.plus_ms(1_000))), Some(Timestamp::default()), "marked as sent");
    assert_eq!(ends_at(&machine.on(runs(), T0.plus_ms(1_100))), None);
    assert_eq!(ends_at(&machine.on(Input::Applied(Ok(true)), T0.plus_ms(4_000))), Some(T0.plus_ms(61_100)));
    // Behind a reading.
    let mut machine = Machine::new(MachineId::new(7));
    assert!(machine.on(runs(), T0).iter().any(|e| matches!(e, Effect::Load)));
    let held = first(PurchaseId::new(5), StartCommand { cmd_id: Uuid::nil(), epoch: 1, duration_s: 60, pulses: None }, T0, T0);
    assert_eq!(ends_at(&machine.on(Input::Loaded(Ok(Some(held))), T0.plus_ms(3_000))), Some(T0.plus_ms(60_000)));
}

/// The board had no power for a while, and says so while the clock's finish is being committed. Stored as the open purchase's report, its boot
/// would be known, and no later report would show the power cut.
#[test]
fn a_run_reported_while_its_finish_is_committed_is_asked_for_again() {
    let records = |effects: &[Effect]| {
        effects.iter().find_map(|e| if let Effect::Record { unpaid, .. } = e { Some(*unpaid) } else { None })
    };
    let mut machine = Machine::with_purchase(MachineId::new(7), running(5));
    let end = running(5).ends_at;
    let finish = machine.on(Input::Alarm, end);
    assert!(finish.iter().any(|e| matches!(e, Effect::Apply { change: Change::Finish, .. })), "{finish:?}");
    let again = DeviceRun { boot: Some(2), before_boot: Some(T0), ..DeviceRun::new(running(5).cmd_id, 30_000) };
    let again = || Input::Device(DeviceEvent::state(true, Some(again)));
    assert_eq!(records(&machine.on(again(), end)), None);
    let finished = machine.on(Input::Applied(Ok(true)), end);
    assert!(finished.iter().any(|e| matches!(e, Effect::Command(Command { op: Op::Query, .. }))), "{finished:?}");
    assert_eq!(records(&finished), None);
    assert_eq!(records(&machine.on(again(), end)), Some(true));
}

/// The device was replaced in the cycle, and the new one reports nothing until there is a purchase.
#[test]
fn a_cycle_whose_finish_was_not_answered_keeps_nobody_from_buying() {
    let mut machine = Machine::with_purchase(MachineId::new(7), running(5));
    machine.on(Input::Device(DeviceEvent::state(true, Some(DeviceRun::new(Uuid::nil(), 60_000)))), T0);
    machine.on(Input::Recorded(Ok(false)), T0);
    let end = running(5).ends_at;
    assert!(machine.on(Input::Alarm, end).iter().any(|e| matches!(e, Effect::Apply { change: Change::Finish, .. })));
    machine.on(Input::Applied(Err(Unanswered)), end);
    let later = end.plus_ms(500);
    assert!(matches!(machine.on(Input::Alarm, later)[..], [Effect::Load]));
    machine.on(Input::Loaded(Ok(None)), later);
    assert!(holds(&machine.on(start(1, 1), later)));
}

/// A finished cycle runs again by a state report of its device, whose sensor adds time while that is being stored.
#[test]
fn a_run_that_goes_on_has_what_was_reported_while_it_was_stored() {
    let mut machine = free();
    let report = |added_s| {
        Input::Device(DeviceEvent::state(
            true,
            Some(DeviceRun { added_s, ..DeviceRun::new(Uuid::nil(), 60_000 + added_s * 1_000) }),
        ))
    };
    assert!(matches!(machine.on(report(0), T0)[..], [Effect::Record { unpaid: true, .. }]));
    machine.on(report(120), T0.plus_ms(1_000));
    let effects = machine.on(Input::Recorded(Ok(true)), T0.plus_ms(2_000));
    assert!(effects.iter().any(|e| matches!(e, Effect::Load)), "{effects:?}");
    let effects = machine.on(Input::Loaded(Ok(Some(running(5)))), T0.plus_ms(3_000));
    let end = effects.iter().find_map(|e| if let Effect::Apply { next, .. } = e { Some(next.ends_at) } else { None });
    assert_eq!(end, Some(T0.plus_ms(180_000)), "{effects:?}");
}

#[test]
fn who_waits_when_a_machine_gets_another_owner_is_not_forgotten_when_reading_it_fails() {
    let mut machine = free();
    machine.on(start(1, 1), T0);
    machine.on(won(5), T0);
    assert!(matches!(machine.on(Input::Owned(false), T0)[..], [Effect::Load]));
    machine.on(Input::Loaded(Err(Unanswered)), T0);
    let again = T0.plus_ms(500);
    assert_eq!(machine.wake_at(), Some(again));
    assert!(matches!(machine.on(Input::Alarm, again)[..], [Effect::Load]));
    assert_eq!(answers(&machine.on(Input::Loaded(Ok(Some(running(5)))), again)), [(1, Outcome::Started)]);
}

#[test]
fn a_start_is_not_refused_for_what_was_read_of_another_servers_purchase_a_while_ago() {
    let remote = || {
        let mut machine = Machine::with_purchase(MachineId::new(7), running(5));
        machine.on(Input::Owned(false), T0);
        machine.on(Input::Loaded(Ok(Some(running(5)))), T0);
        assert!(matches!(machine.on(start(1, 1), T0)[..], [Effect::Load]));
        machine
    };
    let effects = remote().on(Input::Loaded(Ok(Some(running(5)))), T0);
    assert_eq!(answers(&effects), [(1, Outcome::Refused(Refusal::MachineBusy))]);
    let effects = remote().on(Input::Loaded(Ok(None)), T0);
    assert!(answers(&effects).is_empty() && holds(&effects), "{effects:?}");
}

#[test]
fn a_notification_during_a_read_causes_another_read() {
    let mut machine = free();
    assert!(matches!(machine.on(Input::Reload, T0)[..], [Effect::Load]));
    // Another server has held the money since that began.
    assert!(machine.on(Input::Reload, T0).is_empty());
    assert!(matches!(machine.on(Input::Loaded(Ok(None)), T0)[..], [.., Effect::Load]));
    assert!(!machine.on(Input::Loaded(Ok(None)), T0).iter().any(|effect| matches!(effect, Effect::Load)));
}

#[test]
fn a_remote_machine_is_idle_unless_a_request_waits() {
    let mut machine = Machine::with_purchase(MachineId::new(7), running(5));
    assert!(!machine.is_idle());
    machine.on(Input::Owned(false), T0);
    machine.on(Input::Loaded(Ok(Some(running(5)))), T0);
    assert!(machine.is_idle(), "its owner has it");
    machine.on(Input::Await { purchase_id: PurchaseId::new(6), buyer: RequestId(1) }, T0);
    assert!(!machine.is_idle(), "it is being read for somebody");
}

#[test]
fn a_request_that_waits_during_a_change_of_owner_is_answered_soon() {
    let mut machine = free();
    machine.on(start(1, 1), T0);
    machine.on(won(5), T0);
    let sends = machine.wake_at().unwrap();
    assert!(matches!(machine.on(Input::Alarm, sends)[..], [Effect::Apply { .. }]));
    assert!(machine.on(Input::Owned(false), sends).is_empty());
    assert!(matches!(machine.on(Input::Applied(Ok(true)), sends)[..], [.., Effect::Load]));
    machine.on(
        Input::Loaded(Ok(Some(first(
            PurchaseId::new(5),
            StartCommand { cmd_id: Uuid::nil(), epoch: 1, duration_s: 60, pulses: None },
            T0,
            T0,
        )))),
        sends,
    );
    assert_eq!(machine.wake_at(), Some(sends.plus_ms(250)));
}

#[test]
fn a_start_that_meets_an_older_reading_waits_for_a_newer_one() {
    let mut machine = Machine::with_purchase(MachineId::new(7), running(5));
    machine.on(Input::Owned(false), T0);
    // The cycle ends at another server during this read, and a customer pays.
    assert!(machine.on(start(1, 1), T0).is_empty());
    let effects = machine.on(Input::Loaded(Ok(Some(running(5)))), T0);
    assert!(answers(&effects).is_empty() && matches!(effects[..], [.., Effect::Load]), "{effects:?}");
    assert!(holds(&machine.on(Input::Loaded(Ok(None)), T0)));
}
