//! Tests of every statement in docs/contract.md §6 that is about a device's behaviour.

use nyala_core::purchase::device::Op;

use super::*;

/// Server's time when the device's uptime is 0 ms.
const SERVER_MS: i64 = 1_800_000_000_000;
const SERVER_S: i64 = SERVER_MS / 1000;

/// Board with a coin contact; it sends no heartbeats.
const BOARD: Board = Board { pulse: true, sense: false, coin: false, reset: None, beat_ms: None };
/// Board of a machine that wants coins.
const COIN_BOARD: Board = Board { sense: true, coin: true, reset: Some(Reset::Brownout), beat_ms: Some(30_000), ..BOARD };

fn boot(boot_id: i64, journal: DeviceMemory) -> Device {
    Device::boot(BOARD, boot_id, journal)
}

pub(super) fn id(n: u8) -> Uuid {
    Uuid::from_u128(n.into())
}

/// Start that expires ten seconds after the boot, by the server's clock.
pub(super) fn start(n: u8, epoch: i64) -> Cmd {
    Cmd { cmd_id: id(n), epoch, op: Op::Start, durasi_s: 60, pulses: None, exp: SERVER_S + 10, now_ms: SERVER_MS, echo: None }
}

fn query(n: u8, epoch: i64) -> Cmd {
    Cmd { op: Op::Query, ..start(n, epoch) }
}

fn stop(n: u8) -> Cmd {
    Cmd { op: Op::Stop, ..start(n, 0) }
}

fn probe() -> Cmd {
    Cmd { cmd_id: Uuid::nil(), ..query(0, 9) }
}

/// Short form of the acts; an ack by its result and the command's number.
fn shown(acts: &[Act]) -> String {
    let show = |act: &Act| match act {
        Act::Save => "save".to_owned(),
        Act::Relay(true) => "on".to_owned(),
        Act::Relay(false) => "off".to_owned(),
        Act::Pulse(pulses) => format!("pulse-{}", pulses.n),
        Act::Send(Outgoing::State) => "state".to_owned(),
        Act::Send(Outgoing::Heartbeat) => "hb".to_owned(),
        Act::Send(Outgoing::Ack { cmd_id, result, .. }) => format!("{result:?}-{}", cmd_id.as_u128()),
    };
    acts.iter().map(show).collect::<Vec<_>>().join(" ")
}

pub(super) fn acts_on(device: &mut Device, cmd: &Cmd, up_ms: i64) -> String {
    shown(&device.on_command(cmd, up_ms))
}

fn state(device: &mut Device, up_ms: i64) -> State {
    let DeviceMessage::State(state) = device.message(Outgoing::State, up_ms) else { panic!("a state") };
    state
}

/// Sends a state report at `reported_ms` and receives the answer at `up_ms`; the server wrote it when its time was `now_ms`.
fn exchange(device: &mut Device, reported_ms: i64, now_ms: i64, up_ms: i64) {
    state(device, reported_ms);
    device.on_command(&Cmd { now_ms, echo: Some(reported_ms), ..probe() }, up_ms);
}

/// Device with a connection and the time.
fn device() -> Device {
    device_of(BOARD, DeviceMemory::default())
}

pub(super) fn device_of(board: Board, journal: DeviceMemory) -> Device {
    let mut device = Device::boot(board, 7, journal);
    device.connect();
    device.subscribed(0);
    exchange(&mut device, 0, SERVER_MS, 0);
    device
}

#[test]
fn a_start_is_on_flash_before_it_pulses_and_pulses_before_it_is_acknowledged() {
    let mut device = device();
    assert_eq!(acts_on(&mut device, &start(1, 1), 1_000), "save on state Started-1");
    assert_eq!(device.run(1_000), Some(DeviceRun::new(id(1), 60_000)));
}

#[test]
fn a_known_command_repeats_its_result_and_does_nothing_else() {
    let mut device = device();
    acts_on(&mut device, &start(1, 2), 1_000);
    acts_on(&mut device, &start(2, 1), 2_000);
    acts_on(&mut device, &start(3, 3), 10_001);
    for (n, result) in [(1, "Started-1"), (2, "Refused-2"), (3, "Expired-3")] {
        // A repeated command gets the old answer, whatever a new one would get.
        let again = Cmd { epoch: 9, exp: SERVER_S + 1_000, ..start(n, 9) };
        assert!(acts_on(&mut device, &again, 11_000).ends_with(result));
        assert_eq!(acts_on(&mut device, &again, 12_000), result);
        assert_eq!(acts_on(&mut device, &Cmd { op: Op::Query, ..again }, 13_000), format!("state {result}"));
    }
    device.tick(61_000);
    assert_eq!(acts_on(&mut device, &start(1, 9), 62_000), "Done-1");
}

#[test]
fn a_start_past_its_end_is_expired() {
    for (up_ms, result) in [(10_000, "save on state Started-1"), (10_001, "save state Expired-1")] {
        assert_eq!(acts_on(&mut device(), &start(1, 1), up_ms), result);
    }
}

#[test]
fn without_a_clock_every_new_start_is_expired() {
    let mut device = boot(7, DeviceMemory::default());
    device.connect();
    state(&mut device, 0);
    assert_eq!(acts_on(&mut device, &start(1, 1), 100), "save state Expired-1");
    // The start itself may answer the state report.
    assert_eq!(acts_on(&mut device, &Cmd { echo: Some(0), ..start(2, 2) }, 200), "save on state Started-2");
}

#[test]
fn a_lower_epoch_a_running_cycle_and_a_fault_are_refused_but_a_late_start_is_expired() {
    let mut device = device();
    device.set_faulty(true);
    assert_eq!(acts_on(&mut device, &start(1, 5), 1_000), "save state Refused-1");
    assert_eq!(acts_on(&mut device, &start(2, 6), 10_500), "save state Expired-2");
    device.set_faulty(false);
    exchange(&mut device, 20_000, SERVER_MS, 20_000);
    assert_eq!(acts_on(&mut device, &start(3, 5), 21_000), "save state Refused-3", "below what a refused or late one had");
    assert_eq!(acts_on(&mut device, &start(4, 6), 22_000), "save on state Started-4");
    assert_eq!(acts_on(&mut device, &start(5, 7), 23_000), "save state Refused-5");
    assert_eq!(device.run(23_000).map(|run| run.cmd_id), Some(id(4)));
}

#[test]
fn it_turns_itself_off() {
    let mut device = device();
    acts_on(&mut device, &start(1, 1), 1_000);
    assert_eq!(device.tick_at(), Some(61_000));
    assert_eq!(shown(&device.tick(60_999)), "");
    assert_eq!(shown(&device.tick(61_000)), "save off state Done-1");
    assert_eq!((device.tick_at(), shown(&device.tick(61_001))), (None, String::new()));
    // A command that arrives at the same moment is processed after it.
    let mut device = self::device();
    acts_on(&mut device, &start(1, 1), 1_000);
    assert_eq!(acts_on(&mut device, &probe(), 61_000), "save off state Done-1 state");
}

#[test]
fn a_query_returns_the_result_of_a_command_whatever_its_epoch() {
    let mut device = device();
    acts_on(&mut device, &start(1, 5), 1_000);
    assert_eq!(acts_on(&mut device, &query(1, 1), 2_000), "state Started-1");
    assert_eq!(acts_on(&mut device, &query(2, 1), 3_000), "state", "its start may still come");
    assert_eq!(acts_on(&mut device, &query(2, 1), 10_001), "save state Expired-2");
}

#[test]
fn a_query_is_a_fence_and_the_fence_is_on_flash() {
    let mut device = device();
    assert_eq!(acts_on(&mut device, &query(1, 5), 1_000), "save state");
    assert_eq!(state(&mut device, 1_000).epoch, Some(5));
    assert_eq!(acts_on(&mut device, &query(1, 5), 1_000), "state", "there is nothing new");
    assert_eq!(acts_on(&mut device, &start(2, 4), 2_000), "save state Refused-2");
    assert_eq!(acts_on(&mut device, &start(1, 5), 3_000), "save on state Started-1");
}

#[test]
fn expired_in_answer_to_a_query_stays_true() {
    let mut device = device();
    acts_on(&mut device, &query(1, 1), 10_001);
    // The device's clock is set back: by the new clock, the start is in time.
    exchange(&mut device, 20_000, SERVER_MS, 20_000);
    assert_eq!(acts_on(&mut device, &start(1, 1), 20_001), "Expired-1");
    assert_eq!(state(&mut device, 20_001).last, Some(Last { cmd_id: id(1), result: AckResult::Expired, why: None }));
}

#[test]
fn a_nil_query_is_answered_with_a_state_and_leaves_nothing_behind() {
    let mut device = device();
    assert_eq!(acts_on(&mut device, &Cmd { exp: 0, ..probe() }, 1_000), "state");
    assert_eq!((state(&mut device, 1_000).epoch, state(&mut device, 1_000).last), (Some(0), None));
    assert_eq!(acts_on(&mut device, &start(1, 1), 2_000), "save on state Started-1");
}

#[test]
fn a_stop_ends_its_run_whatever_its_epoch_and_no_other() {
    let mut device = device();
    acts_on(&mut device, &start(1, 5), 1_000);
    assert_eq!(acts_on(&mut device, &stop(2), 2_000), "state");
    assert_eq!(acts_on(&mut device, &stop(1), 3_000), "save off state Done-1");
    assert_eq!(acts_on(&mut device, &stop(1), 4_000), "state Done-1");
    assert_eq!(acts_on(&mut device, &start(3, 6), 5_000), "save on state Started-3");
}

#[test]
fn the_clock_is_the_servers_time_plus_the_whole_exchange() {
    // The state report was sent at 1,000 and the answer received at 2,900. It was written when the server's clock was at 5,000, so the
    // server's clock is now between that and 6,900. The start's last moment is at the latest 4,100 of the device's uptime.
    for (up_ms, result) in [(6_000, "save on state Started-1"), (6_001, "save state Expired-1")] {
        let mut device = device();
        exchange(&mut device, 1_000, SERVER_MS + 5_000, 2_900);
        assert_eq!(acts_on(&mut device, &start(1, 1), up_ms), result);
    }
}

#[test]
fn only_an_answer_to_the_last_state_within_two_seconds_sets_the_clock() {
    for (asked, echo, after_ms, shown) in [
        (vec![1_000], Some(1_000), 1_999, true),
        (vec![1_000], Some(1_000), 2_000, false),
        (vec![1_000], None, 100, false),
        (vec![1_000], Some(999), 100, false),
        (vec![500, 1_000], Some(500), 100, false),
        (vec![], Some(1_000), 100, false),
    ] {
        let mut device = boot(7, DeviceMemory::default());
        device.connect();
        asked.iter().for_each(|up_ms| drop(state(&mut device, *up_ms)));
        device.on_command(&Cmd { echo, ..probe() }, 1_000 + after_ms);
        let result = if shown { "save on state Started-1" } else { "save state Expired-1" };
        assert_eq!(acts_on(&mut device, &start(1, 1), 4_000), result, "{asked:?} {echo:?} {after_ms}");
    }
    // A state report of the previous connection gets no answer.
    let mut device = boot(7, DeviceMemory::default());
    device.connect();
    state(&mut device, 1_000);
    device.connect();
    device.on_command(&Cmd { echo: Some(1_000), ..probe() }, 1_100);
    assert_eq!(acts_on(&mut device, &start(1, 1), 2_000), "save state Expired-1");
}

#[test]
fn the_newest_exchange_counts_for_an_hour() {
    let mut device = device();
    exchange(&mut device, 20_000, SERVER_MS, 21_000);
    assert_eq!(acts_on(&mut device, &start(1, 1), 30_000), "save on state Started-1", "though by the first one it is late");
    let hour = 21_000 + 3_600_000;
    let fresh = |n| Cmd { exp: SERVER_S + 7_200, ..start(n, n.into()) };
    device.tick(90_000);
    assert_eq!(acts_on(&mut device, &fresh(2), hour - 1), "save on state Started-2");
    device.tick(hour + 60_000);
    assert_eq!(acts_on(&mut device, &fresh(3), hour + 60_000), "save state Expired-3");
    exchange(&mut device, hour + 70_000, SERVER_MS, hour + 70_000);
    device.forget_time();
    assert_eq!(acts_on(&mut device, &fresh(4), hour + 70_000), "save state Expired-4");
}

#[test]
fn a_state_reports_the_run_and_the_last_command() {
    let mut device = device();
    acts_on(&mut device, &start(1, 3), 1_000);
    let run = |left_s| Some(Run { cmd_id: id(1), left_s, added_s: 0 });
    let last = |n, result| Some(Last { cmd_id: id(n), result, why: None });
    for (up_ms, left_s) in [(1_000, 60), (1_001, 60), (2_000, 59), (60_999, 1)] {
        let state = state(&mut device, up_ms);
        assert_eq!((state.epoch, state.run, state.last), (Some(3), run(left_s), last(1, AckResult::Started)));
    }
    device.tick(61_000);
    let idle = state(&mut device, 61_000);
    assert_eq!((idle.run, idle.last), (None, last(1, AckResult::Done)));
    acts_on(&mut device, &start(2, 2), 62_000);
    assert_eq!(state(&mut device, 62_000).last, last(2, AckResult::Expired));
}

#[test]
fn messages_are_numbered_in_a_connection_connections_in_a_boot_and_boots_have_ids() {
    let stamp =
        |conn, seq, up_ms| Stamp { boot_id: Some(BootId::Number(7)), conn: Some(conn), seq: Some(seq), up_ms: Some(up_ms) };
    let mut device = boot(7, DeviceMemory::default());
    device.connect();
    assert_eq!(device.will(), DeviceMessage::Gone(Stamp { seq: None, up_ms: None, ..stamp(1, 0, 0) }));
    assert_eq!(device.message(Outgoing::State, 50).stamp(), &stamp(1, 1, 50));
    let heartbeat = DeviceMessage::Heartbeat(Heartbeat { stamp: stamp(1, 2, 60), ..Heartbeat::default() });
    assert_eq!(device.message(Outgoing::Heartbeat, 60), heartbeat);
    let ack = Outgoing::Ack { cmd_id: id(1), epoch: 4, result: AckResult::Done };
    let sent =
        Ack { stamp: Stamp { conn: None, ..stamp(1, 3, 70) }, cmd_id: id(1), epoch: Some(4), result: AckResult::Done, why: None };
    assert_eq!(device.message(ack, 70), DeviceMessage::Ack(sent));
    device.connect();
    assert_eq!(device.message(Outgoing::Heartbeat, 80).stamp(), &stamp(2, 1, 80));
}

#[test]
fn a_run_continues_after_a_power_cut_with_the_saved_rest() {
    let mut device = device();
    let long = Cmd { durasi_s: 600, ..start(1, 3) };
    acts_on(&mut device, &long, 1_000);
    assert_eq!((device.tick_at(), shown(&device.tick(60_999))), (Some(61_000), String::new()));
    assert_eq!((shown(&device.tick(61_000)), device.tick_at()), ("save".to_owned(), Some(121_000)));
    let flash = serde_json::to_string(&device.journal()).unwrap();
    assert_eq!(device.run(120_000).map(|run| run.left_ms), Some(481_000));

    let mut again = boot(8, serde_json::from_str(&flash).unwrap());
    assert_eq!(again.tick_at(), Some(0));
    assert_eq!(shown(&again.tick(0)), "on");
    assert_eq!(again.run(0), Some(DeviceRun::new(id(1), 540_000)), "as at the last full minute");
    assert_eq!(again.tick_at(), Some(60_000));
    again.connect();
    assert_eq!(acts_on(&mut again, &long, 1_000), "Started-1", "it is known, and no clock is needed for that");
    assert_eq!(acts_on(&mut again, &start(2, 2), 1_000), "save state Expired-2", "its clock is gone with the power");
    exchange(&mut again, 2_000, SERVER_MS, 2_000);
    assert_eq!(acts_on(&mut again, &start(3, 2), 3_000), "save state Refused-3", "it runs, and the fence stands");
    assert_eq!(shown(&again.tick(540_000)), "save off state Done-1");
}

#[test]
fn a_run_that_was_over_or_stopped_does_not_begin_again() {
    let mut over = device();
    acts_on(&mut over, &start(1, 1), 1_000);
    let mut stopped = over.clone();
    over.tick(61_000);
    acts_on(&mut stopped, &stop(1), 2_000);
    for device in [over, stopped] {
        let mut again = boot(8, device.journal());
        assert_eq!((again.tick_at(), shown(&again.tick(0))), (None, String::new()));
        assert_eq!(acts_on(&mut again, &start(1, 1), 1_000), "Done-1");
    }
}

#[test]
fn a_fault_of_the_machine_is_not_stored_on_flash() {
    let mut device = device();
    device.set_faulty(true);
    let mut again = boot(8, device.journal());
    exchange(&mut again, 0, SERVER_MS, 0);
    assert_eq!(acts_on(&mut again, &start(1, 1), 100), "save on state Started-1");
}

#[test]
fn the_oldest_command_is_forgotten_and_never_the_one_that_runs() {
    let mut device = device();
    acts_on(&mut device, &start(1, 100), 0);
    (2..=40).for_each(|n| drop(acts_on(&mut device, &start(n, n.into()), 100)));
    assert_eq!(acts_on(&mut device, &query(1, 0), 200), "state Started-1");
    assert_eq!(acts_on(&mut device, &query(40, 0), 200), "state Refused-40");
    assert_eq!(acts_on(&mut device, &query(2, 0), 200), "state");
}

/// The same start, by four coin pulses of 150 ms each.
fn pulse(n: u8, epoch: i64) -> Cmd {
    Cmd { pulses: Some(Pulses { n: 4, width_ms: 50, gap_ms: 100, sense_s: 60 }), ..start(n, epoch) }
}

#[test]
fn pulses_are_on_flash_before_and_after_and_only_then_acknowledged() {
    let mut device = device();
    assert_eq!(acts_on(&mut device, &pulse(1, 1), 1_000), "save pulse-4");
    // An answer now would tell the server that the purchase did not run.
    assert_eq!(acts_on(&mut device, &pulse(1, 1), 1_100), "");
    assert_eq!(acts_on(&mut device, &query(1, 1), 1_200), "");
    assert_eq!(acts_on(&mut device, &start(2, 2), 1_300), "");
    assert_eq!(shown(&device.pulsed(1_600)), "save state Started-1 Refused-2");
    assert_eq!(device.run(1_600), Some(DeviceRun::new(id(1), 60_000)), "its run begins with the credit");
    assert_eq!(acts_on(&mut device, &pulse(1, 1), 2_000), "Started-1");
    assert_eq!(acts_on(&mut device, &stop(1), 3_000), "state Started-1", "the machine runs its own cycle");
    assert_eq!(shown(&device.tick(61_600)), "save state Done-1", "there is no relay to open");
}

#[test]
fn a_power_cut_in_the_pulses_refuses_them_and_one_after_them_does_not() {
    let mut device = device();
    acts_on(&mut device, &pulse(1, 1), 1_000);
    let mut again = boot(8, device.journal());
    again.connect();
    assert_eq!((again.tick_at(), shown(&again.tick(0))), (None, String::new()));
    assert_eq!(acts_on(&mut again, &pulse(1, 1), 100), "Refused-1");
    assert_eq!(shown(&again.pulsed(200)), "", "nothing is sent for a command of another boot");
    assert_eq!(state(&mut again, 300).last, Some(Last { cmd_id: id(1), result: AckResult::Refused, why: Some(Why::Cut) }));

    device.pulsed(1_600);
    let mut again = boot(8, device.journal());
    again.connect();
    assert_eq!(shown(&again.tick(0)), "", "the relay stays open");
    assert_eq!(again.run(0), Some(DeviceRun::new(id(1), 60_000)));
    assert_eq!(acts_on(&mut again, &pulse(1, 1), 100), "Started-1");
    assert_eq!(shown(&again.tick(60_000)), "save state Done-1");
}

#[test]
fn pulses_are_refused_as_starts_are_and_when_no_coin_input_takes_them() {
    let mut device = device();
    acts_on(&mut device, &pulse(1, 5), 1_000);
    device.pulsed(1_600);
    assert_eq!(acts_on(&mut device, &pulse(2, 6), 2_000), "save state Refused-2");
    device.tick(61_600);
    exchange(&mut device, 62_000, SERVER_MS, 62_000);
    for (n, bad) in [
        (3, Pulses { n: 0, width_ms: 50, gap_ms: 100, sense_s: 60 }),
        (4, Pulses { n: 21, width_ms: 50, gap_ms: 100, sense_s: 60 }),
        (5, Pulses { n: 20, width_ms: 200, gap_ms: 101, sense_s: 60 }),
        (6, Pulses { n: 1, width_ms: 0, gap_ms: 100, sense_s: 60 }),
    ] {
        assert_eq!(acts_on(&mut device, &Cmd { pulses: Some(bad), ..pulse(n, 9) }, 63_000), format!("save state Refused-{n}"));
    }
    // A test makes no run.
    assert_eq!(acts_on(&mut device, &Cmd { durasi_s: 0, ..pulse(7, 9) }, 64_000), "save pulse-4");
    assert_eq!(shown(&device.pulsed(64_600)), "save state Done-7");
    assert_eq!((device.run(64_600), device.tick_at()), (None, None));
}

#[test]
fn a_board_says_what_it_has() {
    let state = state(&mut device_of(COIN_BOARD, DeviceMemory::default()), 0);
    assert_eq!((state.sense, state.coins, state.reset), (Some(false), Some(0), Some(Reset::Brownout)));
    assert_eq!(state.can, ["pulse", "sense", "coin"]);
    let mut device = device_of(Board { beat_ms: Some(30_000), ..Board::default() }, DeviceMemory::default());
    device.sense(true, 100);
    device.coin(100);
    let state = self::state(&mut device, 5_000);
    assert_eq!((state.sense, state.coins, state.reset, state.can), (None, None, None, Vec::new()));
    assert_eq!(device.tick_at(), Some(30_000));
    assert_eq!(acts_on(&mut device, &pulse(1, 1), 6_000), "save state Refused-1", "it has no coin contact");
}

/// Device whose machine has its coins for ten minutes since 10,000 ms, and is not started yet.
fn paid() -> Device {
    let mut device = device_of(Board { beat_ms: None, ..COIN_BOARD }, DeviceMemory::default());
    acts_on(&mut device, &Cmd { durasi_s: 600, ..pulse(1, 1) }, 9_400);
    device.pulsed(10_000);
    device
}

/// The same, and the machine runs since 100,000 ms.
fn washing() -> Device {
    let mut device = paid();
    device.sense(true, 98_000);
    assert_eq!(shown(&device.tick(100_000)), "save state");
    device
}

/// Lets the device tick when it is due, until `until_ms`. Returns when its run ended.
fn pass(device: &mut Device, until_ms: i64) -> Option<i64> {
    let mut ended = None;
    while let Some(at) = device.tick_at().filter(|at| *at <= until_ms) {
        let acts = shown(&device.tick(at));
        assert_ne!(acts, "", "it is woken at {at} for nothing");
        ended = ended.or(acts.contains("Done").then_some(at));
    }
    ended
}

fn left_and_added(device: &mut Device, up_ms: i64) -> Option<(i64, i64)> {
    state(device, up_ms).run.map(|run| (run.left_s, run.added_s))
}

#[test]
fn a_level_counts_after_two_seconds() {
    let mut device = device_of(COIN_BOARD, DeviceMemory::default());
    device.sense(true, 2_000);
    device.sense(false, 3_000);
    device.sense(true, 3_500);
    assert_eq!(acts_on(&mut device, &pulse(9, 0), 3_600), "save state Refused-9", "it may run already");
    assert_eq!(
        (device.tick_at(), shown(&device.tick(5_499)), shown(&device.tick(5_500))),
        (Some(5_500), "".into(), "state".into())
    );
    assert_eq!(state(&mut device, 5_500).sense, Some(true));
    assert_eq!(acts_on(&mut device, &pulse(1, 1), 6_000), "save state Refused-1", "somebody else runs it");
    device.sense(false, 6_500);
    assert_eq!(acts_on(&mut device, &pulse(2, 2), 8_499), "save state Refused-2");
    assert_eq!(acts_on(&mut device, &pulse(3, 3), 8_500), "state save pulse-4");
}

#[test]
fn the_first_rise_begins_the_time_again_and_standing_still_is_the_end() {
    assert_eq!(pass(&mut paid(), 2_000_000), Some(610_000), "it was never started");
    let mut device = washing();
    assert_eq!(left_and_added(&mut device, 100_000), Some((600, 90)));
    device.sense(false, 300_000);
    device.sense(true, 359_999);
    assert_eq!(pass(&mut device, 400_000), None, "a pause");
    assert_eq!(left_and_added(&mut device, 400_000), Some((300, 90)));
    device.sense(false, 400_000);
    assert_eq!(pass(&mut device, 2_000_000), Some(462_000));
    let mut device = washing();
    device.sense(false, 150_000);
    assert_eq!(pass(&mut device, 2_000_000), Some(700_000), "less than a minute is no wash");
}

#[test]
fn a_machine_that_still_runs_at_the_end_gets_a_minute_at_a_time() {
    let mut device = washing();
    assert_eq!(pass(&mut device, 690_000), None);
    assert_eq!(left_and_added(&mut device, 690_000), Some((70, 150)));
    // A device that is late for its own end.
    device.tick(765_000);
    assert_eq!(left_and_added(&mut device, 765_000), Some((60, 210)));
    assert_eq!(pass(&mut washing(), 20_000_000), Some(10_000 + 600_000 + 3_600_000), "its sensor is stuck");
}

#[test]
fn a_power_cut_keeps_what_the_sensor_has_moved() {
    let mut device = washing();
    device.tick(160_000);
    let again = Device::boot(COIN_BOARD, 8, serde_json::from_value(serde_json::to_value(device.journal()).unwrap()).unwrap());
    let mut stopped = again.clone();
    stopped.tick(0);
    assert_eq!(pass(&mut stopped, 2_000_000), Some(62_000), "off since before the boot");
    let mut again = again;
    again.tick(0);
    again.sense(true, 1_000);
    again.tick(3_000);
    assert_eq!(left_and_added(&mut again, 3_000), Some((537, 90)), "only the first rise restarts the countdown");
}

#[test]
fn only_coins_that_are_on_flash_are_sent_and_they_are_saved_once_a_minute() {
    let mut device = device_of(COIN_BOARD, DeviceMemory::default());
    let told = |device: &mut Device, up_ms| {
        let DeviceMessage::Heartbeat(heartbeat) = device.message(Outgoing::Heartbeat, up_ms) else { panic!("a heartbeat") };
        heartbeat.coins
    };
    assert_eq!(shown(&device.coin(10_000)), "save hb");
    assert_eq!(told(&mut device, 10_000), Some(1));
    assert_eq!(
        (shown(&device.coin(11_000)), shown(&device.coin(12_000)), device.tick_at()),
        ("".into(), "".into(), Some(40_000))
    );
    assert_eq!((shown(&device.tick(40_000)), told(&mut device, 40_000)), ("hb".into(), Some(1)));
    assert_eq!((shown(&device.tick(70_000)), told(&mut device, 70_000)), ("save hb".into(), Some(3)));
    // Whatever else is saved takes them along, and the next heartbeat comes five seconds after the last one.
    assert_eq!(
        (shown(&device.coin(71_000)), acts_on(&mut device, &query(1, 1), 71_000)),
        ("".into(), "save state Expired-1".into())
    );
    assert_eq!(device.tick_at(), Some(75_000));
    assert_eq!((shown(&device.tick(75_000)), told(&mut device, 75_000)), ("hb".into(), Some(4)));
    // One that falls before the power is lost is not on flash.
    device.coin(76_000);
    assert_eq!(Device::boot(COIN_BOARD, 8, device.journal()).journal().coins, 4);
}

#[test]
fn coins_that_fall_in_pulses_are_saved_with_their_second_mark() {
    let mut device = device_of(COIN_BOARD, DeviceMemory::default());
    assert_eq!(acts_on(&mut device, &pulse(1, 1), 8_000), "save pulse-4");
    assert_eq!((shown(&device.coin(8_100)), shown(&device.sense(true, 8_200))), (String::new(), String::new()));
    assert_eq!(shown(&device.pulsed(8_600)), "save state Started-1");
    assert_eq!(state(&mut device, 8_600).coins, Some(1));
}
