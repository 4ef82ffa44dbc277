//! Faults of ticks and sessions, which `watch` has to see. 12 sessions watch a machine each for 4 s: 48 ticks.

use crate::cases::told;

#[test]
fn a_server_without_fault_is_clean() {
    let told = told("watch");
    told.clean();
    assert_eq!((told.metric("expected"), told.metric("deliveries")), (48.0, 48.0), "{}", told.said);
    for name in ["missed", "duplicates", "unexpected", "tl_wrong", "tl_not_falling", "late_max_ms", "balances_wrong", "errors"] {
        assert_eq!(told.metric(name), 0.0, "{name}: {}", told.said);
    }
    assert!(told.said.contains("ledger was not verified"), "{}", told.said);
    assert_eq!(told.report["schema"], 1);
    assert!(!told.report.to_string().contains("\"root\""), "the key is not kept");
    assert!(
        told.drawn.contains("<svg") && !told.page.contains("http-equiv") && !told.page.contains("src="),
        "one page, plots in it"
    );
}

#[test]
fn lost_ticks_are_missed() {
    let told = told("watch: lost");
    told.failed("missed > 0: it is 12");
    told.faulty("missed");
    assert_eq!((told.metric("expected"), told.metric("deliveries")), (48.0, 36.0), "{}", told.said);
}

#[test]
fn doubled_ticks_are_duplicates() {
    let told = told("watch: doubled");
    told.failed("duplicates > 0");
    told.faulty("duplicates");
    assert!(told.metric("duplicates") >= 12.0, "{}", told.said);
    assert_eq!((told.metric("deliveries"), told.metric("missed")), (48.0, 0.0), "{}", told.said);
}

#[test]
fn ticks_made_late_are_the_servers_lateness() {
    let told = told("watch: late");
    told.failed("late_max_ms > 100");
    assert!((149.0..=151.0).contains(&told.metric("late_max_ms")), "{}", told.said);
    assert!(told.metric("tick_max_ms") >= 149.0, "{}", told.said);
    assert_eq!((told.metric("missed"), told.metric("duplicates")), (0.0, 0.0), "{}", told.said);
}

#[test]
fn ticks_that_travel_long_are_late_though_made_in_time() {
    let told = told("watch: slow");
    told.failed("tick_p50_ms > 100");
    assert_eq!(told.metric("late_max_ms"), 0.0, "{}", told.said);
}

#[test]
fn a_stall_is_missed_ticks_and_nothing_else() {
    // For 2.5 s nothing is made: one tick is lost, the next is made half a period late.
    let told = told("watch: stall");
    told.failed("missed > 0: it is 12");
    told.faulty("missed");
    assert_eq!((told.metric("expected"), told.metric("deliveries")), (48.0, 36.0), "{}", told.said);
    assert!((499.0..=501.0).contains(&told.metric("late_max_ms")), "{}", told.said);
    for name in ["duplicates", "unexpected", "tl_wrong", "tl_not_falling", "sessions_lost", "errors"] {
        assert_eq!(told.metric(name), 0.0, "{name}: {}", told.said);
    }
}

#[test]
fn a_stall_that_ends_beside_the_next_tick_makes_no_duplicate() {
    // The overdue tick is made 30 ms before the next one: nobody needs it any more.
    let told = told("watch: stall until a tick");
    told.failed("missed > 0: it is 24");
    assert_eq!((told.metric("expected"), told.metric("deliveries")), (48.0, 24.0), "{}", told.said);
    for name in ["duplicates", "unexpected", "tl_wrong", "tl_not_falling"] {
        assert_eq!(told.metric(name), 0.0, "{name}: {}", told.said);
    }
}

#[test]
fn a_wrong_countdown_is_told() {
    let told = told("watch: tl off");
    told.failed("tl_wrong > 0");
    told.faulty("tl_wrong");
    assert!(told.metric("tl_wrong") >= 48.0, "{}", told.said);
}

#[test]
fn a_counter_is_no_countdown() {
    let told = told("watch: tl stands");
    told.failed("tl_wrong > 0");
    assert!(told.metric("tl_wrong") >= 48.0, "{}", told.said);
}

#[test]
fn sessions_that_break_come_back_and_are_told() {
    let told = told("watch: cut");
    told.failed("sessions_lost > 0");
    told.faulty("sessions_lost");
    assert!(told.metric("sessions_lost") >= 12.0, "{}", told.said);
    assert!(told.metric("missed") > 0.0, "what was lost meanwhile counts: {}", told.said);
    assert_eq!(told.metric("deliveries") + told.metric("missed"), 48.0, "{}", told.said);
    assert!(told.errors("closed by the server") >= 12, "{}", told.said);
}

#[test]
fn money_that_is_not_right_ends_with_2() {
    let told = told("watch: cheat");
    told.failed("balances_wrong > 0: it is 12");
    assert!(told.said.contains("rupiah, and"), "{}", told.said);
}
