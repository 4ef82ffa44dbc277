//! Faults of final ticks. 6 sessions watch 3 machines.

use crate::cases::report_of;

#[test]
fn one_final_tick_in_time_is_clean() {
    let report = report_of("finish");
    report.clean();
    assert_eq!((report.metric("finals"), report.metric("runs_started")), (6.0, 6.0), "{}", report.output);
}

#[test]
fn missing_final_ticks_are_reported() {
    let report = report_of("finish: no final");
    report.failed("finals_missing > 0: it is 6");
    report.faulty("finals_missing");
    assert_eq!(report.metric("finals"), 0.0, "{}", report.output);
}

#[test]
fn duplicate_final_ticks_are_reported() {
    let report = report_of("finish: two finals");
    report.failed("finals_duplicate > 0: it is 6");
    report.faulty("finals_duplicate");
    assert_eq!(report.metric("finals"), 6.0, "{}", report.output);
}

#[test]
fn a_late_end_is_measured() {
    let report = report_of("finish: late");
    report.failed("final_p50_ms > 400");
    assert_eq!((report.metric("finals"), report.metric("finals_early")), (6.0, 0.0), "{}", report.output);
}

#[test]
fn an_early_end_is_reported() {
    let report = report_of("finish: early");
    report.failed("finals_early > 0: it is 6");
    report.faulty("finals_early");
}

#[test]
fn machines_that_are_paid_and_never_start_have_no_end() {
    let report = report_of("finish: no run");
    report.failed("finals_missing > 0: it is 6");
    report.faulty("finals_missing");
}

#[test]
fn who_hears_nothing_of_a_run_misses_its_final_tick() {
    let report = report_of("finish: deaf");
    report.failed("finals_missing > 0: it is 2");
    report.faulty("finals_missing");
    assert_eq!((report.metric("finals_expected"), report.metric("finals")), (6.0, 4.0), "{}", report.output);
}

#[test]
fn a_machine_that_was_not_started_has_no_final_tick() {
    let report = report_of("finish: not started");
    report.failed("failed > 0: it is 1");
    let finals = ["finals_expected", "finals", "finals_missing"].map(|name| report.metric(name));
    assert_eq!(finals, [4.0, 4.0, 0.0], "{}", report.output);
}
