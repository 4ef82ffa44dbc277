//! Tests of the rules, tick by tick.

use std::time::Instant;

use super::*;

struct Desk {
    counters: Counters,
    spans: Spans,
    clock: ServerClock,
    phase: Phase,
    watch: WatchedTopic,
}

impl Desk {
    fn new() -> Self {
        let mut clock = ServerClock::new(Instant::now());
        clock.answered(0, 0, 0);
        let spans = Spans::new().unwrap();
        Self { counters: Counters::default(), spans, clock, phase: Phase::new(1000), watch: WatchedTopic::new(7, 0) }
    }

    fn run(&mut self, counting: Counting, act: impl FnOnce(&mut WatchedTopic, &mut Phase, &mut Findings<'_>)) -> &Counters {
        let mut findings = Findings { counters: &mut self.counters, spans: &mut self.spans, clock: &self.clock, counting };
        act(&mut self.watch, &mut self.phase, &mut findings);
        &self.counters
    }

    /// Passes a tick with this `server_time`, which took 1 ms.
    fn tick(&mut self, counting: Counting, ends_at: i64, server_time: i64) {
        self.tick_with(counting, ends_at, server_time, ends_at - server_time);
    }

    fn tick_with(&mut self, counting: Counting, ends_at: i64, server_time: i64, tl: i64) {
        let tick = Heartbeat { idmesin: 7, tl, ends_at: Some(ends_at), server_time };
        self.run(counting, |watch, phase, findings| {
            watch.on_tick(&tick, (server_time + 1) * 1000, phase, findings);
        });
    }

    fn joined(&mut self, counting: Counting, ends_at: i64, server_time: i64) {
        let snapshot =
            Snapshot { status: 200, tl: Some(ends_at - server_time), ends_at: Some(ends_at), server_time: Some(server_time) };
        self.run(counting, |watch, phase, findings| watch.acknowledged(&snapshot, phase, findings));
    }
}

const END: i64 = 100_900;

/// Desk that has joined and measured its phase (400), with an open window of five seconds.
fn in_window() -> Desk {
    let mut desk = Desk::new();
    desk.joined(Counting::Not, END, 1_000);
    for at in [1_400, 2_401, 3_400] {
        desk.tick(Counting::Not, END, at);
    }
    desk.run(Counting::Window { ms: 5_000 }, |watch, phase, _| {
        phase.settle();
        watch.open_window(3_700, 5_000, phase);
    });
    desk
}

const WINDOW: Counting = Counting::Window { ms: 5_000 };

fn close(desk: &mut Desk) -> Counters {
    desk.run(WINDOW, |watch, phase, findings| watch.close_window(20_000, phase, findings));
    desk.counters
}

#[test]
fn a_clean_window_expects_what_came() {
    let mut desk = in_window();
    for n in 4..12 {
        desk.tick(WINDOW, END, n * 1000 + 402);
    }
    let counters = close(&mut desk);
    assert_eq!((counters.expected, counters.deliveries, counters.missed, counters.duplicates), (5, 5, 0, 0));
    assert_eq!(desk.spans.tick.len(), 5);
    assert!((3.4..3.7).contains(&desk.spans.tick.quantile_ms(0.5)), "2 ms late, 1 ms on its way, half a ms of clocks");
}

#[test]
fn lost_ticks_are_missed_wherever_they_are() {
    for lost in 4..9 {
        let mut desk = in_window();
        // Ticks continue after the window, which ends with the one at 8,402.
        (4..12).filter(|n| *n != lost).for_each(|n| desk.tick(WINDOW, END, n * 1000 + 402));
        let counters = close(&mut desk);
        assert_eq!((counters.expected, counters.deliveries, counters.missed), (5, 4, 1), "tick {lost}");
    }
    let mut desk = in_window();
    assert_eq!(close(&mut desk).missed, 5, "all of them");
}

#[test]
fn duplicate_and_forbidden_ticks_are_counted() {
    let mut desk = in_window();
    desk.tick(WINDOW, END, 4_402);
    desk.tick(WINDOW, END, 4_402);
    desk.tick(WINDOW, END, 4_500);
    desk.tick_with(WINDOW, END, 5_402, END - 5_403);
    let counters = close(&mut desk);
    assert_eq!((counters.duplicates, counters.tl_wrong, counters.deliveries), (2, 1, 2));
}

#[test]
fn a_tick_of_the_past_is_not_falling() {
    let mut desk = in_window();
    desk.tick(WINDOW, END, 5_402);
    desk.tick(WINDOW, END, 4_402);
    assert_eq!(desk.counters.tl_not_falling, 1);
}

#[test]
fn a_whole_run_has_its_ticks_and_one_final() {
    let mut desk = Desk::new();
    let snapshot = Snapshot { status: 200, tl: None, ends_at: None, server_time: Some(900) };
    desk.run(Counting::Runs, |watch, phase, findings| watch.acknowledged(&snapshot, phase, findings));
    desk.phase.learn(400);
    // From 1,000 to 5,500: the tick at 5,400 is within 200 ms of the end.
    for at in [1_000, 1_400, 2_400, 3_400, 4_400] {
        desk.tick(Counting::Runs, 5_500, at);
    }
    desk.tick_with(Counting::Runs, 5_500, 5_503, 0);
    let counters = desk.counters;
    assert_eq!((counters.starts, counters.finals, counters.missed, counters.unexpected), (1, 1, 0, 0));
    assert_eq!((counters.expected, counters.deliveries), (4, 4));
    assert!((4.4..4.7).contains(&desk.spans.last.max_ms()));
    desk.tick_with(Counting::Runs, 5_500, 5_503, 0);
    desk.tick(Counting::Runs, 5_500, 5_400);
    assert_eq!((desk.counters.finals_duplicate, desk.counters.unexpected), (1, 1));
}

#[test]
fn a_final_tick_that_does_not_come_is_missing() {
    let mut desk = Desk::new();
    desk.joined(Counting::Runs, 5_500, 1_000);
    desk.run(Counting::Runs, |watch, phase, findings| watch.check(8_000, phase, findings));
    assert_eq!(desk.counters.finals_missing, 0);
    desk.run(Counting::Runs, |watch, phase, findings| watch.check(9_000, phase, findings));
    assert_eq!(desk.counters.finals_missing, 1);
    // Without any tick the phase is unknown, and ticks still count as missing.
    assert!(desk.counters.missed >= 4, "{}", desk.counters.missed);
}

#[test]
fn an_end_that_is_moved_is_no_fault_before_it_has_come_and_after_it() {
    let mut desk = Desk::new();
    desk.joined(Counting::Runs, 5_500, 1_000);
    for at in [1_400, 2_400] {
        desk.tick(Counting::Runs, 5_500, at);
    }
    // Later, sooner, and after the final tick later again.
    desk.tick(Counting::Runs, 9_500, 2_700);
    for at in [3_400, 4_400] {
        desk.tick(Counting::Runs, 9_500, at);
    }
    desk.tick(Counting::Runs, 6_500, 4_600);
    desk.tick(Counting::Runs, 6_500, 5_400);
    desk.tick_with(Counting::Runs, 6_500, 6_500, 0);
    desk.tick(Counting::Runs, 8_500, 6_900);
    desk.tick(Counting::Runs, 8_500, 7_400);
    desk.tick_with(Counting::Runs, 8_500, 8_500, 0);
    let c = &desk.counters;
    assert_eq!((c.finals, c.finals_missing, c.missed, c.unexpected, c.tl_not_falling), (2, 0, 0, 0, 0));
}

#[test]
fn a_tick_beside_the_end_is_unexpected() {
    let mut desk = Desk::new();
    desk.joined(Counting::Runs, 5_500, 1_000);
    for at in [1_400, 2_400, 3_400, 4_400, 5_400] {
        desk.tick(Counting::Runs, 5_500, at);
    }
    assert_eq!(desk.counters.unexpected, 1);
}

#[test]
fn a_late_tick_of_a_start_is_no_fault() {
    let mut desk = Desk::new();
    desk.phase.learn(400);
    // The run is from 1,150 to 4,150; its first tick was made at 1,330, and the phase tick at 1,400 is 250 ms after the start.
    for at in [1_330, 1_400, 2_400, 3_400] {
        desk.tick(Counting::Runs, 4_150, at);
    }
    assert_eq!((desk.counters.unexpected, desk.counters.starts), (0, 1));
    // A run that began at 5,330 has no tick at 5,400.
    for at in [5_330, 5_400] {
        desk.tick(Counting::Runs, 9_330, at);
    }
    assert_eq!(desk.counters.unexpected, 1);
}

#[test]
fn the_tick_of_a_start_that_comes_after_the_answer_says_nothing_about_the_phase() {
    let mut desk = Desk::new();
    (0..20).for_each(|n| desk.phase.learn(n * 1000 + 400));
    // One run after the other, of 3 s: each is joined 2 ms after it began, and the tick of its start comes after that answer.
    for n in 10..40 {
        let began = n * 4_000 + 310 + n;
        desk.joined(Counting::Runs, began + 3_000, began + 2);
        desk.tick(Counting::Runs, began + 3_000, began + 1);
        (1..4).map(|s| n * 4_000 + s * 1000 + 400).filter(|at| *at <= began + 2_800).for_each(|at| {
            desk.tick(Counting::Runs, began + 3_000, at);
        });
        desk.tick_with(Counting::Runs, began + 3_000, began + 3_000, 0);
        desk.watch.subscribed = false;
    }
    assert_eq!(desk.phase.due(desk.phase.index(200_400)), 200_400);
    let counters = desk.counters;
    assert_eq!((counters.finals, counters.missed, counters.unexpected, counters.duplicates), (30, 0, 0, 0));
    assert_eq!((counters.deliveries, counters.expected), (60, 60));
    assert_eq!((desk.spans.late.max_ms(), desk.spans.jitter.max_ms()), (0.0, 0.0));
}

#[test]
fn a_tick_that_is_nearly_a_period_late_makes_no_duplicate() {
    let mut desk = in_window();
    for at in [4_402, 6_380, 6_402, 7_402, 8_402] {
        desk.tick(WINDOW, END, at);
    }
    // The tick that was due at 5,400 was made at 6,380, next to the following one.
    let counters = close(&mut desk);
    assert_eq!((counters.duplicates, counters.missed, counters.expected), (0, 1, 5));
}

#[test]
fn a_phase_that_was_found_from_late_ticks_makes_no_fault() {
    let mut desk = Desk::new();
    desk.joined(Counting::Not, END, 1_000);
    // The true phase is 400.
    for at in [1_520, 2_520, 3_521] {
        desk.tick(Counting::Not, END, at);
    }
    desk.run(WINDOW, |watch, phase, _| {
        phase.settle();
        watch.open_window(3_700, 5_000, phase);
    });
    (4..12).for_each(|n| desk.tick(WINDOW, END, n * 1000 + 400));
    let counters = close(&mut desk);
    assert_eq!((counters.expected, counters.deliveries, counters.missed, counters.duplicates), (5, 5, 0, 0));
}
