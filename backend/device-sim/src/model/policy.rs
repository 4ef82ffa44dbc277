//! What one loss of power does to a purchase by pulses, at each edge of it: the board refuses, and the money goes back, whatever the machine has
//! counted. The other policies are decided by the same edges, to show what they would cost (docs/decisions/0037-pulses-that-are-cut-off-give-the-money-back.md).

use nyala_core::purchase::device::{AckResult, Pulses};
use nyala_machines::device::memory::DeviceMemory;

use super::tests::{acts_on, device_of, id, start};
use super::*;

/// When the power is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    BeforeFirstMark,
    AfterFirstMark,
    BeforePulse(i32),
    InPulse(i32),
    AfterPulse(i32),
    AfterPulses,
    AfterSecondMark,
}

/// One loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Loss {
    edge: Edge,
    /// Whether the machine has counted the pulse that was cut.
    counted: bool,
    /// The machine has lost power with its board, and with it its credit.
    credit_lost: bool,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ends {
    paid: bool,
    washed: bool,
    pulses: i32,
}

/// A row of the table: how often it is paid without a wash and washed without a payment, and the most pulses.
type Row = (usize, usize, i32);

const PULSES: [i32; 3] = [1, 4, 10];

/// Each edge, the cut pulse counted or not; the board alone without power, or the machine, too, which keeps its credit or loses it.
fn losses(n: i32) -> Vec<Loss> {
    let of_pulse = |k| [Edge::BeforePulse(k), Edge::InPulse(k), Edge::AfterPulse(k)];
    let outer = [Edge::BeforeFirstMark, Edge::AfterFirstMark, Edge::AfterPulses, Edge::AfterSecondMark];
    let edges = outer.into_iter().chain((1..=n).flat_map(of_pulse));
    let counted = edges.flat_map(|edge| [true, false].map(|counted| (edge, counted)));
    let of_machine = |(edge, counted)| [false, false, true].map(|credit_lost| Loss { edge, counted, credit_lost });
    counted.flat_map(of_machine).collect()
}

impl Loss {
    /// Pulses that were sent, and those of them that the machine has counted and kept.
    const fn before(self, n: i32) -> (i32, i32) {
        let (sent, counted) = match self.edge {
            Edge::BeforeFirstMark | Edge::AfterFirstMark => (0, 0),
            Edge::BeforePulse(k) => (k - 1, k - 1),
            Edge::InPulse(k) => (k, if self.counted { k } else { k - 1 }),
            Edge::AfterPulse(k) => (k, k),
            Edge::AfterPulses | Edge::AfterSecondMark => (n, n),
        };
        (sent, if self.credit_lost { 0 } else { counted })
    }

    /// The pulse that a journal of each pulse would name: it is written before the pulse.
    const fn journaled(self, n: i32) -> i32 {
        match self.edge {
            Edge::BeforeFirstMark | Edge::AfterFirstMark => 0,
            Edge::BeforePulse(k) | Edge::InPulse(k) | Edge::AfterPulse(k) => k,
            Edge::AfterPulses | Edge::AfterSecondMark => n,
        }
    }
}

/// The model's board; the server sends the command again when it is back.
fn with_the_board(n: i32, loss: Loss) -> Ends {
    let board = Board { pulse: true, beat_ms: None, ..Board::default() };
    let pulses = Pulses { n, width_ms: 50, gap_ms: 100, sense_s: 60 };
    let cmd = Cmd { pulses: Some(pulses), ..start(1, 1) };
    let mut device = device_of(board, DeviceMemory::default());
    if loss.edge != Edge::BeforeFirstMark {
        acts_on(&mut device, &cmd, 100);
    }
    if loss.edge == Edge::AfterSecondMark {
        device.pulsed(100 + pulses.total_ms());
    }
    let (sent, credit) = loss.before(n);
    let mut again = device_of(board, device.journal());
    let resumed = again.on_command(&cmd, 100);
    let more = if resumed.contains(&Act::Pulse(pulses)) { n } else { 0 };
    again.pulsed(100 + pulses.total_ms());
    let result = again.journal().result_of(id(1), Timestamp::from_ms(10_000));
    let paid = matches!(result, Some(AckResult::Started | AckResult::Done));
    Ends { paid, washed: credit + more >= n, pulses: sent + more }
}

/// A board that keeps the money when it finds pulses that were cut off, and sends `more` of them.
fn otherwise(n: i32, loss: Loss, more: impl Fn(Loss) -> i32) -> Ends {
    if matches!(loss.edge, Edge::BeforeFirstMark | Edge::AfterSecondMark) {
        return with_the_board(n, loss);
    }
    let ((sent, credit), more) = (loss.before(n), more(loss));
    Ends { paid: true, washed: credit + more >= n, pulses: sent + more }
}

fn row(n: i32, ends: impl Fn(Loss) -> Ends) -> Row {
    // A machine that forgets a complete credit does so in a wash as well.
    let all = losses(n).into_iter().filter(|loss| loss.edge != Edge::AfterSecondMark || !loss.credit_lost);
    let all: Vec<Ends> = all.map(ends).collect();
    let count = |paid, washed| all.iter().filter(|ends| (ends.paid, ends.washed) == (paid, washed)).count();
    (count(true, false), count(false, true), all.iter().map(|ends| ends.pulses).max().unwrap_or_default())
}

#[test]
fn a_refund_never_takes_money_for_no_wash_and_never_sends_more_pulses_than_were_bought() {
    assert_eq!(PULSES.map(|n| losses(n).len()), [42, 96, 204]);
    // Free washes: only when the machine had the last pulse, whatever their number.
    assert_eq!(PULSES.map(|n| row(n, |loss| with_the_board(n, loss))), [(0, 10, 1), (0, 10, 4), (0, 10, 10)]);
}

#[test]
fn every_other_policy_takes_money_for_nothing_or_gives_more_than_was_bought() {
    let rows = |more: fn(i32, Loss) -> i32| PULSES.map(|n| row(n, |loss| otherwise(n, loss, |loss| more(n, loss))));
    let keeps_the_money = rows(|_, _| 0);
    assert_eq!(keeps_the_money, [(20, 0, 1), (74, 0, 4), (182, 0, 10)]);
    let sends_all_again = rows(|n, _| n);
    assert_eq!(sends_all_again, [(0, 0, 2), (0, 0, 8), (0, 0, 20)]);
    let sends_the_rest = rows(|n, loss| n - loss.journaled(n));
    assert_eq!(sends_the_rest, [(14, 0, 1), (50, 0, 4), (122, 0, 10)]);
    let sends_the_cut_one_too = rows(|n, loss| n - (loss.journaled(n) - 1).max(0));
    assert_eq!(sends_the_cut_one_too, [(0, 0, 2), (20, 0, 5), (56, 0, 11)]);
}
