//! Faults of ticks and sessions that `watch` must find. 12 sessions watch a machine each for 4 s: 48 ticks.

use crate::cases::report_of;

#[test]
fn a_server_without_fault_is_clean() {
    let report = report_of("watch");
    report.clean();
    assert_eq!((report.metric("expected"), report.metric("deliveries")), (48.0, 48.0), "{}", report.output);
    for name in ["missed", "duplicates", "unexpected", "tl_wrong", "tl_not_falling", "late_max_ms", "balances_wrong", "errors"] {
        assert_eq!(report.metric(name), 0.0, "{name}: {}", report.output);
    }
    assert!(report.output.contains("ledger was not verified"), "{}", report.output);
    assert_eq!(report.json["schema"], 1);
    assert!(!report.json.to_string().contains("\"root\""), "the key is not kept");
    assert!(
        report.drawn.contains("<svg") && !report.page.contains("http-equiv") && !report.page.contains("src="),
        "one page, plots in it"
    );
}

#[test]
fn lost_ticks_are_missed() {
    let report = report_of("watch: lost");
    report.failed("missed > 0: it is 12");
    report.faulty("missed");
    assert_eq!((report.metric("expected"), report.metric("deliveries")), (48.0, 36.0), "{}", report.output);
}

#[test]
fn doubled_ticks_are_duplicates() {
    let report = report_of("watch: doubled");
    report.failed("duplicates > 0");
    report.faulty("duplicates");
    assert!(report.metric("duplicates") >= 12.0, "{}", report.output);
    assert_eq!((report.metric("deliveries"), report.metric("missed")), (48.0, 0.0), "{}", report.output);
}

#[test]
fn ticks_made_late_are_the_servers_lateness() {
    let report = report_of("watch: late");
    report.failed("late_max_ms > 100");
    assert!((149.0..=151.0).contains(&report.metric("late_max_ms")), "{}", report.output);
    assert!(report.metric("tick_max_ms") >= 149.0, "{}", report.output);
    assert_eq!((report.metric("missed"), report.metric("duplicates")), (0.0, 0.0), "{}", report.output);
}

#[test]
fn ticks_that_travel_long_are_late_though_made_in_time() {
    let report = report_of("watch: slow");
    report.failed("tick_p50_ms > 100");
    assert_eq!(report.metric("late_max_ms"), 0.0, "{}", report.output);
}

#[test]
fn a_stall_is_missed_ticks_and_nothing_else() {
    // For 2.5 s no tick is made: one tick is lost, the next is half a period late.
    let report = report_of("watch: stall");
    report.failed("missed > 0: it is 12");
    report.faulty("missed");
    assert_eq!((report.metric("expected"), report.metric("deliveries")), (48.0, 36.0), "{}", report.output);
    assert!((499.0..=501.0).contains(&report.metric("late_max_ms")), "{}", report.output);
    for name in ["duplicates", "unexpected", "tl_wrong", "tl_not_falling", "sessions_lost", "errors"] {
        assert_eq!(report.metric(name), 0.0, "{name}: {}", report.output);
    }
}

#[test]
fn a_stall_that_ends_beside_the_next_tick_makes_no_duplicate() {
    // The overdue tick is made 30 ms before the next one, so it is of no use any more.
    let report = report_of("watch: stall until a tick");
    report.failed("missed > 0: it is 24");
    assert_eq!((report.metric("expected"), report.metric("deliveries")), (48.0, 24.0), "{}", report.output);
    for name in ["duplicates", "unexpected", "tl_wrong", "tl_not_falling"] {
        assert_eq!(report.metric(name), 0.0, "{name}: {}", report.output);
    }
}

#[test]
fn a_wrong_countdown_is_reported() {
    let report = report_of("watch: tl off");
    report.failed("tl_wrong > 0");
    report.faulty("tl_wrong");
    assert!(report.metric("tl_wrong") >= 48.0, "{}", report.output);
}

#[test]
fn a_counter_is_no_countdown() {
    let report = report_of("watch: tl stands");
    report.failed("tl_wrong > 0");
    assert!(report.metric("tl_wrong") >= 48.0, "{}", report.output);
}

#[test]
fn broken_sessions_reconnect_and_are_reported() {
    let report = report_of("watch: cut");
    report.failed("sessions_lost > 0");
    report.faulty("sessions_lost");
    assert!(report.metric("sessions_lost") >= 12.0, "{}", report.output);
    assert!(report.metric("missed") > 0.0, "what was lost meanwhile counts: {}", report.output);
    assert_eq!(report.metric("deliveries") + report.metric("missed"), 48.0, "{}", report.output);
    assert!(report.errors("closed by the server") >= 12, "{}", report.output);
}

#[test]
fn money_that_is_not_right_ends_with_2() {
    let report = report_of("watch: cheat");
    report.failed("balances_wrong > 0: it is 12");
    assert!(report.output.contains("rupiah, and"), "{}", report.output);
}
