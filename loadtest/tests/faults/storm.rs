//! Sessions that do not come back as they should. 12 hang up at once; of those that come back each fourth meets the fault.

use crate::cases::told;

#[test]
fn all_are_back_at_a_server_without_fault() {
    let told = told("storm");
    told.clean();
    assert!(told.has("storm_all_s"), "{}", told.said);
    assert_eq!(told.has("listener_overflows"), cfg!(target_os = "linux"), "{}", told.said);
    assert_eq!((told.metric("expected"), told.metric("missed")), (24.0, 0.0), "{}", told.said);
}

#[test]
fn sessions_that_are_refused_come_back_later_and_are_told() {
    let told = told("storm: refused");
    // They rest for a second before they try again.
    told.failed("storm_all_s > 0.9");
    assert_eq!((told.metric("sessions_not_back"), told.errors("websocket refused: HTTP 503")), (0.0, 3), "{}", told.said);
    told.faulty("errors");
}

#[test]
fn sessions_that_never_come_back_are_counted_and_no_time_is_told() {
    let told = told("storm: forgotten");
    told.failed("sessions_not_back > 0: it is 3");
    told.faulty("sessions_not_back");
    assert!(!told.has("storm_all_s"), "not all were back: {}", told.said);
    assert!(told.said.contains("not all sessions were back or had given up after 10 s"), "{}", told.said);
    assert_eq!((told.metric("expected"), told.metric("missed")), (24.0, 6.0), "{}", told.said);
}

#[test]
fn sessions_that_come_back_late_take_their_time() {
    let told = told("storm: late");
    told.failed("storm_all_s > 0.6");
    assert!(told.metric("storm_all_s") >= 0.7 && told.metric("connect_p50_ms") >= 690.0, "{}", told.said);
    assert_eq!(told.metric("sessions_not_back"), 0.0, "{}", told.said);
}
