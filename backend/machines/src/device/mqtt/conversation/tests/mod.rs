//! Histories: inputs at given milliseconds, and the effects that they must have.

mod asked;

use nyala_core::domain::id::{MachineId, PurchaseId};
use nyala_core::purchase::device::{AckResult, Command, Op};
use nyala_core::purchase::step::{self, StartCommand};
use uuid::Uuid;

use super::*;
use crate::device::mqtt::message::{Ack, BootId, DeviceMessage, Heartbeat, Last, Stamp, State};

/// Start of each history. The start of a purchase expires ten seconds later.
const T0: Timestamp = Timestamp::from_ms(1_800_000_000_000);

/// Input of a history.
#[expect(clippy::large_enum_variant, reason = "a test has a few of them")]
enum Do {
    Link(u64),
    Unlink(u64),
    Alive(u64),
    /// A message arrives on that connection.
    Receive(u64, DeviceMessage),
    Wake,
    /// The machine sends the start of that purchase, for the first time.
    Begin(u8),
    Send(Op, u8),
    /// The machine waits for staff: its device is asked without a purchase.
    Ask,
    Probe,
    /// The purchase is stored as running for a minute.
    Recall(u8),
}

use Do::{Alive, Ask, Begin, Link, Recall, Receive, Send, Unlink, Wake};

fn id(n: u8) -> Uuid {
    Uuid::from_u128(n.into())
}

fn cmd(op: Op, n: u8) -> Command {
    Command {
        idmesin: MachineId::new(1),
        cmd_id: id(n),
        epoch: n.into(),
        op,
        duration_s: 600,
        pulses: None,
        exp: T0.plus_ms(10_000),
        held_here: false,
    }
}

fn stamp(boot: i64, conn: u64, seq: u64, up_ms: i64) -> Stamp {
    Stamp { boot_id: Some(BootId::Number(boot)), conn: Some(conn), seq: Some(seq), up_ms: Some(up_ms) }
}

/// State report of a device that booted at `T0` and runs nothing, sent at `up_ms` on the first connection of the first boot.
fn idle(up_ms: i64, epoch: i64) -> State {
    State { stamp: stamp(1, 1, up_ms.cast_unsigned(), up_ms), epoch: Some(epoch), ..State::default() }
}

fn runs(up_ms: i64, n: u8, left_s: i64) -> State {
    State { run: Some(Run { cmd_id: id(n), left_s, added_s: 0 }), ..idle(up_ms, n.into()) }
}

fn last(up_ms: i64, n: u8, result: AckResult) -> State {
    State { last: Some(Last { cmd_id: id(n), result, why: None }), ..idle(up_ms, n.into()) }
}

fn of_boot(boot: i64, state: State) -> DeviceMessage {
    DeviceMessage::State(State { stamp: Stamp { boot_id: Some(BootId::Number(boot)), ..state.stamp }, ..state })
}

fn state(state: State) -> Do {
    Receive(1, DeviceMessage::State(state))
}

fn heartbeat(up_ms: i64) -> Do {
    Receive(1, DeviceMessage::Heartbeat(Heartbeat { stamp: stamp(1, 1, up_ms.cast_unsigned(), up_ms), ..Heartbeat::default() }))
}

/// A heartbeat of a board with a sensor.
fn senses(up_ms: i64, sense: bool) -> Do {
    let stamp = stamp(1, 1, up_ms.cast_unsigned(), up_ms);
    Receive(1, DeviceMessage::Heartbeat(Heartbeat { stamp, sense: Some(sense), ..Heartbeat::default() }))
}

fn ack(up_ms: i64, n: u8, result: AckResult) -> Do {
    Receive(1, ack_at(Stamp { conn: None, ..stamp(1, 1, 0, up_ms) }, n, result))
}

fn ack_at(stamp: Stamp, n: u8, result: AckResult) -> DeviceMessage {
    DeviceMessage::Ack(Ack { stamp, cmd_id: id(n), epoch: None, result, why: None })
}

fn happens(talk: &mut Conversation, what: &Do, now: Timestamp) -> Vec<Effect> {
    match what {
        Link(connection) => talk.on_subscribed(ConnectionId(*connection), now),
        Unlink(connection) => talk.on_closed(ConnectionId(*connection), now),
        Alive(connection) => talk.on_packet(ConnectionId(*connection), now),
        Receive(from, message) => talk.on_message(ConnectionId(*from), message, now),
        Wake => talk.wake(now),
        Begin(n) => talk.send(&cmd(Op::Start, *n), true, now),
        Send(op, n) => talk.send(&cmd(*op, *n), false, now),
        Ask => talk.send(&Command { epoch: 0, exp: now, ..cmd(Op::Query, 0) }, false, now),
        Do::Probe => match talk.probe(now) {
            ProbeStep::Ask(connection, cmd) => vec![Effect::Write(connection, cmd)],
            ProbeStep::Fresh => vec![],
            ProbeStep::Asked => vec![Effect::Presence(true)],
            ProbeStep::Offline => vec![Effect::Presence(false)],
        },
        Recall(n) => {
            let held = step::first(
                PurchaseId::new(1),
                StartCommand { cmd_id: id(*n), epoch: (*n).into(), duration_s: 60, pulses: None },
                T0,
                T0,
            );
            talk.recall(
                MachineId::new(1),
                &step::Purchase { state: PurchaseState::Running, ends_at: T0.plus_ms(600_000), ..held },
            );
            vec![]
        }
    }
}

fn name(effect: &Effect) -> String {
    match effect {
        Effect::Notify(DeviceEvent::Ack { cmd_id, result }, grounds) => format!("{result:?} {} by {grounds:?}", cmd_id.as_u128()),
        Effect::Notify(DeviceEvent::State { run: Some(run), .. }, _) => {
            format!("runs {} for {}", run.cmd_id.as_u128(), run.left_ms)
        }
        Effect::Notify(DeviceEvent::State { run: None, .. }, _) => "free".to_owned(),
        Effect::Epoch(epoch) => format!("knows epoch {epoch}"),
        Effect::Presence(true) => "here".to_owned(),
        Effect::Presence(false) => "away".to_owned(),
        Effect::Write(connection, cmd) if cmd.cmd_id.is_nil() => format!("asks on {}", connection.0),
        Effect::Write(connection, cmd) => format!("{:?} {} on {}", cmd.op, cmd.cmd_id.as_u128(), connection.0),
        Effect::Close(connection) => format!("close {}", connection.0),
        Effect::Trouble(Trouble::EndedEarly { left_ms, .. }) => format!("ended {left_ms} early"),
        Effect::Trouble(trouble) => format!("{trouble:?}"),
        Effect::Dropped(why) => format!("{why:?}"),
    }
}

/// Applies all steps to a new conversation and compares the effects of each.
fn history(steps: impl IntoIterator<Item = (i64, Do, &'static str)>) -> Conversation {
    let mut talk = Conversation::default();
    for (n, (ms, what, expected)) in steps.into_iter().enumerate() {
        let effects = happens(&mut talk, &what, T0.plus_ms(ms));
        let found: Vec<String> = effects.iter().filter(|effect| !matches!(effect, Effect::Epoch(_))).map(name).collect();
        assert_eq!(found.join(", "), expected, "step {n}, at {ms}");
    }
    talk
}

// --- connections ---

#[test]
fn the_newest_connection_that_subscribed_counts() {
    history([
        (0, Link(4), "here"),
        (10, Receive(4, DeviceMessage::State(idle(10, 0))), "asks on 4"),
        (20, Link(7), ""),
        // It subscribed late and is the older one.
        (30, Link(5), ""),
        (40, Receive(4, DeviceMessage::State(idle(40, 0))), "Stale"),
        (50, Receive(7, DeviceMessage::State(idle(50, 0))), "asks on 7"),
        (60, Send(Op::Query, 1), "Query 1 on 7"),
        (70, Unlink(7), ""),
        (80, Send(Op::Query, 1), "Query 1 on 5"),
        (90, Unlink(5), ""),
        (100, Unlink(4), "away"),
        (110, Send(Op::Query, 1), ""),
    ]);
}

#[test]
fn one_connection_may_listen_and_others_speak() {
    history([
        (0, Link(1), "here"),
        (10, Receive(2, DeviceMessage::State(idle(10, 0))), "asks on 1"),
        (20, Receive(3, DeviceMessage::State(runs(20, 1, 60))), "runs 1 for 60000"),
        (44_000, Alive(1), ""),
        (50_000, Wake, ""),
        // Messages on other connections are no sign of life for the one that subscribed.
        (88_000, Receive(3, DeviceMessage::State(runs(88_000, 1, 60))), "runs 1 for 60000"),
        (89_000, Wake, "close 1, away"),
    ]);
}

#[test]
fn silence_is_absence() {
    let talk = history([(0, Link(1), "here"), (30_000, heartbeat(30_000), "asks on 1"), (74_999, Wake, "")]);
    assert_eq!(talk.silent_at(), Some(T0.plus_ms(75_000)));
    assert!(talk.is_present());
    history([(0, Link(1), "here"), (45_000, Wake, "close 1, away"), (45_000, Wake, ""), (46_000, Link(2), "here")]);
}

// --- which messages are accepted ---

#[test]
fn a_will_counts_only_for_the_connection_of_the_last_message() {
    let will = |boot, conn| {
        let stamp = Stamp { seq: None, up_ms: None, ..stamp(boot, conn, 0, 0) };
        Receive(1, DeviceMessage::Gone(stamp))
    };
    history([
        (0, Link(1), "here"),
        (10, will(1, 1), "Will"),
        (20, state(idle(20, 0)), "asks on 1"),
        (30, will(1, 0), "Will"),
        (40, will(2, 1), "Will"),
        (50, will(1, 1), "away"),
        (60, state(idle(60, 0)), "here"),
    ]);
}

#[test]
fn messages_of_one_millisecond_on_separate_connections_keep_their_order() {
    let reported = |seq, n: u8, state: State| {
        let state = State { stamp: Stamp { seq: Some(seq), ..state.stamp }, ..state };
        (50, Receive(n.into(), DeviceMessage::State(state)))
    };
    let (before, after) = (reported(2, 2, idle(40, 0)), reported(3, 3, runs(40, 1, 60)));
    history([
        (0, Link(1), "here"),
        (10, state(idle(10, 0)), "asks on 1"),
        (after.0, after.1, "runs 1 for 59990"),
        (before.0, before.1, "Stale"),
    ]);
}

#[test]
fn an_ack_counts_from_any_connection_with_the_key() {
    history([
        (0, Link(1), "here"),
        (10, Link(2), ""),
        (20, ack(10, 1, AckResult::Refused), "Refused 1 by Ack"),
        (30, Receive(9, ack_at(Stamp::default(), 1, AckResult::Done)), "Done 1 by Ack"),
    ]);
}

// --- the time ---

#[test]
fn a_command_tells_the_time_and_echoes_the_last_state() {
    let mut talk = Conversation::default();
    let written = |effects: Vec<Effect>| {
        effects
            .into_iter()
            .find_map(|e| if let Effect::Write(_, cmd) = e { Some((cmd.now_ms - T0.ms(), cmd.echo)) } else { None })
    };
    talk.on_subscribed(ConnectionId(1), T0);
    assert_eq!(written(talk.send(&cmd(Op::Query, 1), false, T0.plus_ms(5))), Some((5, None)), "before there is one");
    assert_eq!(written(happens(&mut talk, &state(idle(100, 0)), T0.plus_ms(130))), Some((130, Some(100))));
    happens(&mut talk, &state(idle(200, 0)), T0.plus_ms(230));
    happens(&mut talk, &heartbeat(300), T0.plus_ms(330));
    assert_eq!(written(talk.send(&cmd(Op::Start, 1), true, T0.plus_ms(400))), Some((400, Some(200))));
    talk.on_subscribed(ConnectionId(2), T0.plus_ms(500));
    assert_eq!(written(talk.send(&cmd(Op::Query, 1), false, T0.plus_ms(505))), Some((505, None)), "another connection");
}

#[test]
fn the_end_of_a_run_is_estimated_by_the_shortest_delay() {
    history([
        (0, Link(1), "here"),
        (50, state(idle(0, 0)), "asks on 1"),
        (1_050, state(runs(1_000, 1, 60)), "runs 1 for 60000"),
        // This state report took ten seconds to arrive; the device cannot know that.
        (21_050, state(runs(11_000, 1, 50)), "runs 1 for 40000"),
    ]);
    // The first message was slow; a faster heartbeat corrects the reported end.
    history([
        (0, Link(1), "here"),
        (4_000, state(runs(1_000, 1, 60)), "runs 1 for 60000, asks on 1"),
        (30_010, heartbeat(30_000), "runs 1 for 31000"),
        (60_000, heartbeat(60_000), ""),
    ]);
    // This device reports no uptime.
    let plain = State { stamp: Stamp::default(), ..runs(0, 1, 60) };
    history([
        (0, Link(1), "here"),
        (10, state(plain.clone()), "runs 1 for 60000, asks on 1"),
        (9_000, state(plain), "runs 1 for 60000"),
    ]);
}

#[test]
fn an_ack_repeats_the_run_of_an_earlier_state_report() {
    history([
        (0, Link(1), "here"),
        (10, ack(10, 1, AckResult::Started), "Started 1 by Ack"),
        (20, state(runs(20, 1, 600)), "runs 1 for 600000, asks on 1"),
        // The actor missed that report and had the start sent again.
        (5_000, ack(4_950, 1, AckResult::Started), "runs 1 for 595020"),
        (5_010, ack(4_950, 2, AckResult::Started), "Started 2 by Ack"),
        (5_020, ack(4_950, 1, AckResult::Done), "Done 1 by Ack"),
    ]);
}

/// Boards that count with 32 bits start again at zero after 49.7 days.
#[test]
fn an_uptime_that_wraps_around_moves_no_countdown() {
    let last = i64::from(u32::MAX);
    history([
        (0, Link(1), "here"),
        (400, state(runs(last, 1, 600)), "runs 1 for 600000, asks on 1"),
        (20_900, heartbeat(20_000), ""),
        // This message has the shortest delay so far.
        (40_100, heartbeat(39_999), ""),
        (50_000, state(runs(50_000, 1, 550)), "runs 1 for 550000"),
    ]);
}

#[test]
fn delays_that_shrink_gradually_correct_the_reported_end() {
    history([
        (0, Link(1), "here"),
        (1_600, state(runs(1_000, 1, 60)), "runs 1 for 60000, asks on 1"),
        (2_510, heartbeat(2_000), ""),
        (3_420, heartbeat(3_000), "runs 1 for 58000"),
        (4_330, heartbeat(4_000), ""),
        (5_310, heartbeat(5_000), "runs 1 for 56000"),
    ]);
}

#[test]
fn another_boot_has_another_clock() {
    history([
        (0, Link(1), "here"),
        (500_000, state(idle(500_000, 0)), "asks on 1"),
        (600_000, Link(2), ""),
        (600_100, Receive(2, of_boot(2, runs(100, 1, 60))), "runs 1 for 60000, asks on 2"),
    ]);
}

// --- a start ---

#[test]
fn a_start_waits_for_the_first_state_of_a_connection() {
    history([
        (0, Link(1), "here"),
        (10, Begin(1), ""),
        (60, state(idle(60, 0)), "asks on 1, Start 1 on 1"),
        (3_000, Send(Op::Start, 1), "Start 1 on 1"),
        // A device without a state report receives the start all the same.
        (4_000, Link(2), ""),
        (5_999, Send(Op::Start, 1), ""),
        (6_000, Send(Op::Start, 1), "Start 1 on 2"),
        // An unanswered start is sent to a new connection at once, until it expires.
        (7_000, Link(3), ""),
        (7_050, Receive(3, DeviceMessage::State(idle(7_050, 0))), "asks on 3, Start 1 on 3"),
        (9_000, Link(4), ""),
        (9_999, Receive(4, DeviceMessage::State(idle(9_999, 0))), "asks on 4, Start 1 on 4"),
        (10_000, Send(Op::Start, 1), ""),
    ]);
    history([
        (0, Link(1), "here"),
        (60, state(idle(60, 0)), "asks on 1"),
        (100, Begin(1), "Start 1 on 1"),
        (150, ack(150, 1, AckResult::Started), "Started 1 by Ack"),
        (200, Link(2), ""),
        (250, Receive(2, DeviceMessage::State(runs(250, 1, 600))), "runs 1 for 600000, asks on 2"),
    ]);
    // A heartbeat does not count as a state report.
    history([(0, Link(1), "here"), (10, heartbeat(10), ""), (20, Begin(1), ""), (2_000, Send(Op::Start, 1), "Start 1 on 1")]);
}

#[test]
fn a_start_that_never_left_is_void_when_it_is_too_late() {
    history([(0, Begin(1), ""), (3_000, Send(Op::Start, 1), ""), (10_000, Send(Op::Query, 1), "Expired 1 by NotWritten")]);
    // Before that moment the start may still be sent.
    history([(0, Begin(1), ""), (9_999, Send(Op::Query, 1), ""), (10_000, Send(Op::Query, 1), "Expired 1 by NotWritten")]);
    // The start was sent once, to a connection that was already dead.
    history([
        (0, Link(1), "here"),
        (10, state(idle(10, 0)), "asks on 1"),
        (20, Begin(1), "Start 1 on 1"),
        (30, Unlink(1), "away"),
        (10_000, Send(Op::Query, 1), ""),
    ]);
    // Another process may have written the start.
    history([(0, Send(Op::Start, 1), ""), (10_000, Send(Op::Query, 1), "")]);
    history([(0, Send(Op::Query, 1), ""), (10_000, Send(Op::Query, 1), "")]);
}

// --- what decides an unsure purchase ---

/// A start is written to a connection that breaks; the device then sends its first state report on a new one at that millisecond.
fn comes_back(at: i64, reported: State, expected: &'static str) {
    history([
        (0, Link(1), "here"),
        (10, state(idle(10, 0)), "asks on 1"),
        (20, Begin(1), "Start 1 on 1"),
        (30, Unlink(1), "away"),
        (10_000, Send(Op::Query, 1), ""),
        (at - 5, Link(2), "here"),
        (at, Receive(2, DeviceMessage::State(reported)), expected),
    ]);
}

#[test]
fn its_first_state_decides_an_unsure_purchase() {
    let at = 20_000;
    comes_back(at, last(at, 1, AckResult::Done), "Done 1 by Last, free, asks on 2");
    comes_back(at, last(at, 1, AckResult::Refused), "Refused 1 by Last, free, asks on 2");
    comes_back(at, last(at, 1, AckResult::Expired), "Expired 1 by Last, free, asks on 2");
    comes_back(at, runs(at, 1, 580), "runs 1 for 580000, asks on 2");
    comes_back(at, idle(at, 0), "Expired 1 by Epoch, asks on 2");
    // The state report decides nothing, so the server queries at once.
    comes_back(at, idle(at, 1), "free, Query 1 on 2");
    comes_back(at, last(at, 1, AckResult::Started), "free, Query 1 on 2");
    comes_back(at, State { epoch: None, ..idle(at, 0) }, "Query 1 on 2");
}

#[test]
fn an_epoch_below_decides_only_when_a_start_would_be_too_late() {
    // The device's own clock decides, and it may be late by two seconds.
    comes_back(12_010, idle(12_010, 0), "Expired 1 by Epoch, asks on 2");
    comes_back(11_980, idle(11_980, 0), "Query 1 on 2");
    // The state report was sent in time for a start, and arrived long after.
    comes_back(30_000, idle(5_000, 0), "Query 1 on 2");
    // The state report carries no uptime.
    comes_back(30_000, State { stamp: Stamp::default(), ..idle(0, 0) }, "Query 1 on 2");
}

/// Each message takes four seconds, so the device seems to have sent them later than it did: its start may be behind this one.
#[test]
fn an_epoch_below_decides_nothing_on_a_connection_that_is_older_than_the_start() {
    history([
        (0, Link(1), "here"),
        (4_010, state(idle(10, 0)), "asks on 1"),
        (8_010, state(idle(4_010, 0)), ""),
        (8_020, Begin(1), "Start 1 on 1"),
        (10_000, Send(Op::Query, 1), "Query 1 on 1"),
        (18_000, state(idle(9_000, 0)), ""),
        (18_000, state(runs(9_000, 1, 60)), "runs 1 for 55000"),
    ]);
}

#[test]
fn an_epoch_below_decides_nothing_about_what_has_run_or_was_forgotten() {
    history([
        (0, Link(1), "here"),
        (10, state(idle(10, 0)), "asks on 1"),
        (20, Begin(1), "Start 1 on 1"),
        (30, ack(30, 1, AckResult::Started), "Started 1 by Ack"),
        (40, Unlink(1), "away"),
        (19_990, Link(2), "here"),
        (20_000, Receive(2, DeviceMessage::State(idle(20_000, 0))), "asks on 2"),
    ]);
    history([
        (0, Link(1), "here"),
        (10, state(idle(10, 5)), "asks on 1"),
        (20, Begin(6), "Start 6 on 1"),
        (10_000, Send(Op::Query, 6), "Query 6 on 1"),
        (10_010, Unlink(1), "away"),
        (19_990, Link(2), "here"),
        (20_000, Receive(2, DeviceMessage::State(idle(20_000, 0))), "MemoryLost { before: 5, now: 0 }, Query 6 on 2"),
        (20_100, Receive(2, DeviceMessage::State(idle(20_100, 0))), ""),
    ]);
}

#[test]
fn a_state_of_a_purchase_without_a_command_goes_to_the_actor() {
    history([(0, Link(1), "here"), (10, state(last(10, 1, AckResult::Done)), "Done 1 by Last, asks on 1")]);
    history([(0, Link(1), "here"), (10, state(last(10, 1, AckResult::Started)), "asks on 1")]);
    // The reported purchase is not the open one.
    history([(0, Send(Op::Query, 2), ""), (5, Link(1), "here"), (10, state(last(10, 1, AckResult::Done)), "asks on 1")]);
}

// --- the end of a run, and what staff must know ---

#[test]
fn a_run_that_ends_early_is_trouble_and_refunds_nothing() {
    let ran = || {
        vec![
            (0, Link(1), "here"),
            (10, state(idle(10, 0)), "asks on 1"),
            (20, Begin(1), "Start 1 on 1"),
            (30, ack(30, 1, AckResult::Started), "Started 1 by Ack"),
            (40, state(runs(40, 1, 600)), "runs 1 for 600000"),
        ]
    };
    // The next state report makes it free; until then the machine waits for staff.
    for (at, expected, next) in [(540_030, "ended 60010 early", "free"), (540_040, "free", ""), (600_040, "free, asks on 1", "")]
    {
        let again = (at + 10, state(idle(at + 10, 1)), next);
        history(ran().into_iter().chain([(at, state(idle(at, 1)), expected), again, (at + 20, state(idle(at + 20, 1)), "")]));
    }
    // The device's ack that it is done is no better reason.
    history(ran().into_iter().chain([
        (100_000, ack(100_000, 1, AckResult::Done), "Done 1 by Ack"),
        (100_010, state(last(100_010, 1, AckResult::Done)), "Done 1 by Last, ended 500030 early"),
    ]));
    // An operator requested a stop: a state report without a run confirms it.
    history(ran().into_iter().chain([
        (100_000, Send(Op::Stop, 1), "Stop 1 on 1"),
        (100_060, state(idle(100_055, 1)), "Done 1 by Run, free"),
        (100_070, state(idle(100_065, 1)), ""),
    ]));
    history(ran().into_iter().chain([
        (100_000, Send(Op::Stop, 1), "Stop 1 on 1"),
        (100_060, ack(100_055, 1, AckResult::Done), "Done 1 by Ack"),
        (100_070, state(idle(100_065, 1)), "free"),
    ]));
    // A state report that was sent before the stop, or even before the run, does not confirm it. The ack may arrive first on another
    // connection.
    history([
        (0, Link(1), "here"),
        (10, state(idle(10, 0)), "asks on 1"),
        (20, Begin(1), "Start 1 on 1"),
        (30, ack(30, 1, AckResult::Started), "Started 1 by Ack"),
        (100_000, Send(Op::Stop, 1), "Stop 1 on 1"),
        (100_050, Receive(2, DeviceMessage::State(idle(25, 1))), "free"),
    ]);
    // A power cut ended a run that is stored.
    history([(0, Recall(1), ""), (5, Link(1), "here"), (100, state(idle(100, 1)), "ended 599900 early, asks on 1")]);
    history([(0, Recall(1), ""), (5, Link(1), "here"), (100, state(runs(100, 1, 590)), "runs 1 for 590000, asks on 1")]);
    // A second recall from the store does not overwrite the stop that is known here.
    history([
        (0, Recall(1), ""),
        (5, Link(1), "here"),
        (100, state(runs(100, 1, 590)), "runs 1 for 590000, asks on 1"),
        (1_000, Send(Op::Stop, 1), "Stop 1 on 1"),
        (1_010, Recall(1), ""),
        (1_050, state(idle(1_045, 1)), "Done 1 by Run, free"),
    ]);
}

#[test]
fn a_machine_is_reported_free_when_its_device_has_the_last_epoch() {
    history([
        (0, Link(1), "here"),
        (10, state(idle(10, 0)), "asks on 1"),
        (20, Begin(1), "Start 1 on 1"),
        (10_000, Send(Op::Query, 1), "Query 1 on 1"),
        // Long after the refund, the machine waits for staff.
        (1_000_000, Ask, "Query 1 on 1"),
        (1_000_050, state(idle(5_000, 0)), "Query 1 on 1"),
        (1_000_100, state(idle(1_000_100, 1)), "free"),
        (1_000_150, Ask, "asks on 1"),
        (1_000_200, state(idle(1_000_200, 1)), "free"),
        (1_000_300, state(idle(1_000_300, 1)), ""),
    ]);
}

#[test]
fn the_last_epoch_survives_the_process() {
    let mut talk = Conversation::default();
    let held = step::first(PurchaseId::new(1), StartCommand { cmd_id: id(3), epoch: 3, duration_s: 600, pulses: None }, T0, T0);
    talk.recall(MachineId::new(1), &step::Purchase { state: PurchaseState::Expired, ..held });
    let mut at =
        |ms: i64, what: &Do| -> Vec<String> { happens(&mut talk, what, T0.plus_ms(1_000_000 + ms)).iter().map(name).collect() };
    for (ms, what, expected) in [
        (0, Link(1), "here"),
        (5, Ask, "asks on 1"),
        // The device's first message to this process. Its delay is unknown, so it may have been sent before the start.
        (10, state(idle(10, 2)), "Query 3 on 1"),
        (15_000, Ask, "Query 3 on 1"),
        (15_010, state(idle(15_010, 3)), "free"),
    ] {
        assert_eq!(at(ms, &what).join(", "), expected, "at {ms}");
    }
}

#[test]
fn an_epoch_that_no_command_has_brought_is_compared_once() {
    let mut talk = Conversation::default();
    let mut epochs = |what: &Do, ms: i64| -> Vec<i64> {
        let effects = happens(&mut talk, what, T0.plus_ms(ms));
        effects.into_iter().filter_map(|effect| if let Effect::Epoch(epoch) = effect { Some(epoch) } else { None }).collect()
    };
    epochs(&Link(1), 0);
    assert_eq!(epochs(&state(idle(10, 4)), 10), [4]);
    assert_eq!(epochs(&state(idle(20, 4)), 20), [0; 0], "it was compared");
    epochs(&Begin(5), 30);
    assert_eq!(epochs(&state(idle(40, 5)), 40), [0; 0], "the command told it");
    assert_eq!(epochs(&state(idle(50, 9)), 50), [9]);
}

#[test]
fn the_actor_receives_only_what_it_wants_of_an_idle_device() {
    history([
        (0, Link(1), "here"),
        (10, state(idle(10, 4)), "asks on 1"),
        (20, state(idle(20, 4)), ""),
        (30, Ask, "asks on 1"),
        (40, state(idle(40, 4)), "free"),
        (50, state(idle(50, 4)), ""),
        // The device reports an unpaid cycle.
        (60, state(runs(60, 9, 60)), "runs 9 for 60000"),
        (70, state(idle(70, 9)), "free"),
    ]);
}

#[test]
fn two_devices_with_one_key_are_trouble() {
    let boot = |connection, of, up_ms| Receive(connection, of_boot(of, idle(up_ms, 0)));
    history([
        (0, Link(1), "here"),
        (10, boot(1, 1, 10), "asks on 1"),
        (1_000, Link(2), ""),
        (1_010, boot(2, 2, 10), "asks on 2"),
        (2_000, Link(3), ""),
        (2_010, boot(3, 1, 2_010), "asks on 3"),
        (3_000, Link(4), ""),
        (3_010, boot(4, 2, 2_010), "Clone, asks on 4"),
    ]);
}

// --- a scan ---
