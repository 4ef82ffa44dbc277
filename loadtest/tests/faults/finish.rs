//! Machines whose end is not told as it should be. 6 sessions watch 3 machines.

use crate::cases::told;

#[test]
fn one_final_tick_in_time_is_clean() {
    let told = told("finish");
    told.clean();
    assert_eq!((told.metric("finals"), told.metric("runs_started")), (6.0, 6.0), "{}", told.said);
}

#[test]
fn final_ticks_that_do_not_come_are_told() {
    let told = told("finish: no final");
    told.failed("finals_missing > 0: it is 6");
    told.faulty("finals_missing");
    assert_eq!(told.metric("finals"), 0.0, "{}", told.said);
}

#[test]
fn final_ticks_that_come_twice_are_told() {
    let told = told("finish: two finals");
    told.failed("finals_duplicate > 0: it is 6");
    told.faulty("finals_duplicate");
    assert_eq!(told.metric("finals"), 6.0, "{}", told.said);
}

#[test]
fn a_late_end_is_measured() {
    let told = told("finish: late");
    told.failed("final_p50_ms > 400");
    assert_eq!((told.metric("finals"), told.metric("finals_early")), (6.0, 0.0), "{}", told.said);
}

#[test]
fn an_early_end_is_told() {
    let told = told("finish: early");
    told.failed("finals_early > 0: it is 6");
    told.faulty("finals_early");
}

#[test]
fn machines_that_are_paid_and_never_start_have_no_end() {
    let told = told("finish: no run");
    told.failed("finals_missing > 0: it is 6");
    told.faulty("finals_missing");
}

#[test]
fn who_hears_nothing_of_a_run_misses_its_final_tick() {
    let told = told("finish: deaf");
    told.failed("finals_missing > 0: it is 2");
    told.faulty("finals_missing");
    assert_eq!((told.metric("finals_expected"), told.metric("finals")), (6.0, 4.0), "{}", told.said);
}

#[test]
fn a_machine_that_was_not_started_has_no_final_tick() {
    let told = told("finish: not started");
    told.failed("failed > 0: it is 1");
    let finals = ["finals_expected", "finals", "finals_missing"].map(|name| told.metric(name));
    assert_eq!(finals, [4.0, 4.0, 0.0], "{}", told.said);
}
