//! The end of a run that its machine's sensor moves (docs/contract.md §3 and §6), whatever becomes of the reports.

use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::DeviceRun;
use nyala_core::purchase::step::{Purchase, PurchaseEvent, StartCommand, first, step};
use nyala_core::purchase::times::PROMPT_MS;
use proptest::prelude::*;
use uuid::Uuid;

const T0: Timestamp = Timestamp::from_ms(1_800_000_000_000);
const DURATION_S: i64 = 1_800;
/// Between two moves of the end, far below the duration.
const EVERY_MS: i64 = 20_000;

/// A device's report of its run, which takes `delay_ms` to the server.
#[derive(Debug, Clone, Copy)]
struct Report {
    said_at: Timestamp,
    delay_ms: i64,
    ends_at: Timestamp,
    added_s: i64,
    boot: i64,
    before_boot: Option<Timestamp>,
}

impl Report {
    fn arrives(self, p: &Purchase) -> Purchase {
        let Self { said_at, delay_ms, ends_at, added_s, boot, before_boot } = self;
        let run = DeviceRun { added_s, boot: Some(boot), before_boot, ..DeviceRun::new(Uuid::nil(), said_at.ms_until(ends_at)) };
        step(p, &PurchaseEvent::Runs(run), said_at.plus_ms(delay_ms)).next
    }
}

/// Reports of one boot, whose sensor adds time before each of them.
fn reports(from: Timestamp, unmoved_end: Timestamp, added_s: i64, boot: i64, moves: &[(i64, i64)]) -> Vec<Report> {
    let sum = moves.iter().scan((from, added_s), |(said_at, added_s), (add_s, delay_ms)| {
        (*said_at, *added_s) = (said_at.plus_ms(EVERY_MS), *added_s + add_s);
        let ends_at = unmoved_end.plus_ms(*added_s * 1_000);
        Some(Report { said_at: *said_at, delay_ms: *delay_ms, ends_at, added_s: *added_s, boot, before_boot: None })
    });
    sum.collect()
}

/// Seconds that the sensor adds, and the delay of the report about it.
fn moves() -> impl Strategy<Value = Vec<(i64, i64)>> {
    prop::collection::vec((prop_oneof![Just(0), 1..300_i64], 0..20_000_i64), 1..12)
}

fn within_a_second(p: &Purchase, ends_at: Timestamp) -> bool {
    ends_at.ms_until(p.ends_at).abs() <= PROMPT_MS
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// Of the reports that arrive, in whatever order and however often, the quickest says when the run ends without its sensor, and the one
    /// that has added most says by how much it ends later.
    #[test]
    fn the_order_the_loss_and_the_doubling_of_reports_change_nothing(moves in moves(), arrive in prop::collection::vec(any::<prop::sample::Index>(), 1..30)) {
        let unmoved_end = T0.plus_ms(DURATION_S * 1_000);
        let said = reports(T0, unmoved_end, 0, 1, &moves);
        let arrive: Vec<Report> = arrive.iter().map(|index| *index.get(&said)).collect();
        let held = first(PurchaseId::new(1), StartCommand { cmd_id: Uuid::nil(), epoch: 1, duration_s: DURATION_S, pulses: None }, T0, T0);
        let p = arrive.iter().fold(held, |p, report| report.arrives(&p));
        let quickest_ms = arrive.iter().map(|report| report.delay_ms).min().unwrap();
        let added_s = arrive.iter().map(|report| report.added_s).max().unwrap();
        prop_assert_eq!(p.added_s, added_s);
        let ends_at = unmoved_end.plus_ms(quickest_ms + added_s * 1_000);
        prop_assert!(within_a_second(&p, ends_at), "{:?} instead of {ends_at:?}", p.ends_at);
    }

    /// A loss of power moves the end without saying so in the seconds that were added: what the new boot reports counts from its beginning.
    #[test]
    fn a_new_boot_begins_anew(before in moves(), after in moves(), off_s in 1..600_i64) {
        let unmoved_end = T0.plus_ms(DURATION_S * 1_000);
        let old = reports(T0, unmoved_end, 0, 1, &before);
        let last = *old.last().unwrap();
        let off_ms = off_s * 1_000;
        let mut new = reports(last.said_at.plus_ms(off_ms), unmoved_end.plus_ms(off_ms), last.added_s, 2, &after);
        let heard_at = old.iter().map(|report| report.said_at.plus_ms(report.delay_ms)).max();
        new.iter_mut().for_each(|report| report.before_boot = heard_at);
        // In order: the connections of two boots follow each other.
        let held = first(PurchaseId::new(1), StartCommand { cmd_id: Uuid::nil(), epoch: 1, duration_s: DURATION_S, pulses: None }, T0, T0);
        let p = old.iter().chain(&new).fold(held, |p, report| report.arrives(&p));
        let quickest_ms = new.iter().map(|report| report.delay_ms).min().unwrap();
        let ends_at = new.last().unwrap().ends_at.plus_ms(quickest_ms);
        prop_assert!(within_a_second(&p, ends_at), "{:?} instead of {ends_at:?}", p.ends_at);
    }
}
