//! When a device is asked for a state report.

use super::*;

#[test]
fn a_first_state_that_a_later_message_has_overtaken_is_asked_for() {
    let heartbeat =
        |up_ms| Receive(3, DeviceMessage::Heartbeat(Heartbeat { stamp: idle(up_ms, 0).stamp, ..Heartbeat::default() }));
    history([
        (0, Link(1), "here"),
        (900, heartbeat(800), ""),
        (950, Receive(2, DeviceMessage::State(idle(700, 0))), "Stale"),
        (20_000, Alive(1), "asks on 1"),
        (20_100, Receive(4, DeviceMessage::State(idle(20_050, 0))), "asks on 1"),
        (30_900, heartbeat(30_800), ""),
    ]);
}

#[test]
fn a_connections_first_state_and_one_each_ten_minutes_are_answered_and_no_other() {
    let mut steps = vec![
        (0, Link(1), "here"),
        (100, state(idle(100, 0)), "asks on 1"),
        (200, state(idle(200, 0)), ""),
        (300, state(idle(300, 0)), ""),
    ];
    steps.extend((1..20).map(|n| (n * 30_000, heartbeat(n * 30_000), "")));
    steps.extend([
        (600_000, heartbeat(600_000), ""),
        (600_100, Alive(1), "asks on 1"),
        (600_200, Alive(1), ""),
        // The device does not answer: the server asks again.
        (630_000, heartbeat(630_000), "asks on 1"),
        (630_100, state(idle(630_100, 0)), "asks on 1"),
        (630_200, state(idle(630_200, 0)), ""),
        (700_000, Unlink(1), "away"),
        (700_100, Link(2), "here"),
        (700_200, Receive(2, DeviceMessage::State(idle(700_200, 0))), "asks on 2"),
    ]);
    history(steps);
}

#[test]
fn a_level_that_no_state_report_had_is_asked_for() {
    let sees = |up_ms, runs| state(State { sense: Some(runs), ..idle(up_ms, 0) });
    history([
        (0, Link(1), "here"),
        (5, senses(5, true), ""),
        (10, sees(10, true), "free, asks on 1"),
        (30_000, senses(30_000, true), ""),
        (60_000, senses(60_000, false), "asks on 1"),
        (60_010, sees(60_010, false), "free"),
        (90_000, senses(90_000, false), ""),
    ]);
}

#[test]
fn a_scan_asks_a_device_after_three_seconds_without_a_message() {
    history([
        (0, Do::Probe, "away"),
        (0, Link(1), "here"),
        // The first state report is still expected.
        (5, Do::Probe, "here"),
        (10, state(idle(10, 0)), "asks on 1"),
        (60, state(idle(50, 0)), ""),
        (3_060, Do::Probe, ""),
        (3_061, Do::Probe, "asks on 1"),
        (3_062, Do::Probe, "here"),
        // A ping does not count as a message.
        (3_070, Alive(1), ""),
        (3_080, Do::Probe, "here"),
        (3_150, state(idle(3_150, 0)), ""),
        (3_160, Do::Probe, ""),
        (9_000, Do::Probe, "asks on 1"),
        (10_499, Do::Probe, "here"),
        (10_500, Do::Probe, "asks on 1"),
    ]);
    // A device that sends no first state report is asked all the same.
    history([(0, Link(1), "here"), (1_999, Do::Probe, "here"), (3_500, Do::Probe, "asks on 1")]);
}

#[test]
fn a_device_whose_first_state_is_lost_is_asked_for_one() {
    history([
        (0, Link(1), "here"),
        (1_000, heartbeat(1_000), ""),
        (31_000, heartbeat(31_000), "asks on 1"),
        (31_500, heartbeat(31_500), ""),
        // A customer scans. Another heartbeat is no answer: a device without a clock would refuse the start.
        (41_000, Do::Probe, "asks on 1"),
        (41_100, heartbeat(41_100), ""),
        (41_110, Do::Probe, "here"),
        (41_200, state(idle(41_150, 0)), "asks on 1"),
        (41_300, state(idle(41_250, 0)), ""),
        (41_310, Do::Probe, ""),
    ]);
}

#[test]
fn a_device_that_may_have_no_clock_is_asked_so_that_its_start_tells_the_time() {
    let slow = |up_ms| {
        vec![
            (0, Link(1), "here"),
            (10, state(idle(0, 0)), "asks on 1"),
            (4_000, state(idle(up_ms, 0)), ""),
            (4_100, heartbeat(4_050), ""),
        ]
    };
    history(slow(1_999).into_iter().chain([(4_200, Do::Probe, "")]));
    history(slow(2_000).into_iter().chain([
        (4_200, Do::Probe, "asks on 1"),
        (4_250, state(idle(4_230, 0)), ""),
        (4_260, Begin(1), "Start 1 on 1"),
    ]));
    // An hour later the device has no clock any more.
    let later = 55 * 60_000 + 4_000;
    history(slow(1_000).into_iter().chain([(later, heartbeat(later), "asks on 1"), (later + 2_000, Do::Probe, "asks on 1")]));
}
