//! What one loss of power does to a purchase by pulses, at each edge of it: the board refuses, and the money goes back, whatever the machine has
//! counted. The other policies are decided by the same edges, to show what they would cost.

use nyala_core::purchase::device::{AckResult, Pulses};
use nyala_machines::device::memory::DeviceMemory;

use super::tests::{acts_on, device_of, id, start};
use super::*;

/// When the power is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    BeforeFirstMark,
    AfterFirstMark,
    /// In that pulse: the machine has counted it, or not.
    InPulse(i32, bool),
    AfterPulse(i32),
    AfterSecondMark,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ends {
    paid: bool,
    washed: bool,
    pulses: i32,
}

fn edges(n: i32) -> Vec<Edge> {
    let of_pulse = |k| [Edge::InPulse(k, false), Edge::InPulse(k, true), Edge::AfterPulse(k)];
    let outer = [Edge::BeforeFirstMark, Edge::AfterFirstMark, Edge::AfterSecondMark];
    outer.into_iter().chain((1..=n).flat_map(of_pulse)).collect()
}

/// Pulses that were sent before the power was lost, and those of them that the machine has counted.
const fn before(edge: Edge, n: i32) -> (i32, i32) {
    match edge {
        Edge::BeforeFirstMark | Edge::AfterFirstMark => (0, 0),
        Edge::InPulse(k, counted) => (k, if counted { k } else { k - 1 }),
        Edge::AfterPulse(k) => (k, k),
        Edge::AfterSecondMark => (n, n),
    }
}

/// The model's board; the server sends the command again when it is back.
fn with_the_board(n: i32, edge: Edge, keeps_credit: bool) -> Ends {
    let board = Board { pulse: true, beat_ms: None, ..Board::default() };
    let pulses = Pulses { n, width_ms: 50, gap_ms: 100, sense_s: 60 };
    let cmd = Cmd { pulses: Some(pulses), ..start(1, 1) };
    let mut device = device_of(board, DeviceMemory::default());
    if edge != Edge::BeforeFirstMark {
        acts_on(&mut device, &cmd, 100);
    }
    if edge == Edge::AfterSecondMark {
        device.pulsed(100 + pulses.total_ms());
    }
    let (sent, counted) = before(edge, n);
    let mut again = device_of(board, device.journal());
    let resumed = again.on_command(&cmd, 100);
    let more = if resumed.contains(&Act::Pulse(pulses)) { n } else { 0 };
    again.pulsed(100 + pulses.total_ms());
    let result = again.journal().result_of(id(1), Timestamp::from_ms(10_000));
    let credit = if keeps_credit { counted } else { 0 } + more;
    let paid = matches!(result, Some(AckResult::Started | AckResult::Done));
    Ends { paid, washed: credit >= n, pulses: sent + more }
}

/// A board that does something else when it finds pulses that were cut off: it keeps the money, or sends the pulses after the `from`th.
fn otherwise(n: i32, edge: Edge, keeps_credit: bool, from: Option<i32>) -> Ends {
    if matches!(edge, Edge::BeforeFirstMark | Edge::AfterSecondMark) {
        return with_the_board(n, edge, keeps_credit);
    }
    let (sent, counted) = before(edge, n);
    let more = from.map_or(0, |from| n - from);
    let credit = if keeps_credit { counted } else { 0 } + more;
    Ends { paid: true, washed: credit >= n, pulses: sent + more }
}

/// Pulses of which the cut one counts as sent, or not, for a board that sends the rest.
const fn sent_by(edge: Edge, cut_counts: bool) -> i32 {
    match edge {
        Edge::InPulse(k, _) if !cut_counts => k - 1,
        Edge::InPulse(k, _) | Edge::AfterPulse(k) => k,
        _ => 0,
    }
}

/// How often it is paid without a wash and washed without a payment, and the most pulses.
fn table(n: i32, ends: impl Fn(Edge, bool) -> Ends) -> (usize, usize, i32) {
    let all = edges(n).into_iter().flat_map(|edge| [true, false].map(|keeps| (edge, keeps)));
    // A machine that forgets a complete credit does so in a wash as well.
    let all = all.filter(|(edge, keeps)| *keeps || before(*edge, n).1 < n || *edge != Edge::AfterSecondMark);
    let all: Vec<Ends> = all.map(|(edge, keeps)| ends(edge, keeps)).collect();
    let count = |paid, washed| all.iter().filter(|ends| (ends.paid, ends.washed) == (paid, washed)).count();
    (count(true, false), count(false, true), all.iter().map(|ends| ends.pulses).max().unwrap_or_default())
}

#[test]
fn a_refund_never_takes_money_for_no_wash_and_never_sends_more_pulses_than_were_bought() {
    for n in [1, 4, 10] {
        // Free washes: only when the machine had the last pulse, whatever their number.
        assert_eq!(table(n, |edge, keeps| with_the_board(n, edge, keeps)), (0, 2, n), "{n} pulses");
    }
}

#[test]
fn every_other_policy_takes_money_for_nothing_or_gives_more_than_was_bought() {
    for n in [1, 4, 10] {
        let keeps_the_money = table(n, |edge, keeps| otherwise(n, edge, keeps, None));
        assert!(keeps_the_money.0 > 0, "{n}: {keeps_the_money:?}");
        let sends_all_again = table(n, |edge, keeps| otherwise(n, edge, keeps, Some(0)));
        assert_eq!((sends_all_again.0, sends_all_again.2), (0, 2 * n), "{n} pulses");
        let sends_the_rest = |cut_counts| table(n, |edge, keeps| otherwise(n, edge, keeps, Some(sent_by(edge, cut_counts))));
        let (counted, not_counted) = (sends_the_rest(true), sends_the_rest(false));
        assert!(counted.0 > 0 && counted.2 == n, "{n}: {counted:?}");
        assert!(not_counted.0 > 0 && not_counted.2 == n + 1, "{n}: {not_counted:?}");
    }
}
