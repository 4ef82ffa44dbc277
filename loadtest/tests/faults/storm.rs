//! Faults of reconnects. 12 sessions disconnect at once, and the fault applies to every fourth reconnect.

use crate::cases::report_of;

#[test]
fn all_are_back_at_a_server_without_fault() {
    let report = report_of("storm");
    report.clean();
    assert!(report.has("storm_all_s"), "{}", report.output);
    assert_eq!(report.has("listener_overflows"), cfg!(target_os = "linux"), "{}", report.output);
    assert_eq!((report.metric("expected"), report.metric("missed")), (24.0, 0.0), "{}", report.output);
}

#[test]
fn refused_sessions_reconnect_later_and_are_reported() {
    let report = report_of("storm: refused");
    // Sessions pause for a second before they try again.
    report.failed("storm_all_s > 0.9");
    assert_eq!((report.metric("sessions_not_back"), report.errors("websocket refused: HTTP 503")), (0.0, 3), "{}", report.output);
    report.faulty("errors");
}

#[test]
fn sessions_that_never_reconnect_are_counted_without_a_time() {
    let report = report_of("storm: forgotten");
    report.failed("sessions_not_back > 0: it is 3");
    report.faulty("sessions_not_back");
    assert!(!report.has("storm_all_s"), "not all were back: {}", report.output);
    assert!(report.output.contains("not all sessions were back or had given up after 10 s"), "{}", report.output);
    assert_eq!((report.metric("expected"), report.metric("missed")), (24.0, 6.0), "{}", report.output);
}

#[test]
fn sessions_that_come_back_late_take_their_time() {
    let report = report_of("storm: late");
    report.failed("storm_all_s > 0.6");
    assert!(report.metric("storm_all_s") >= 0.7 && report.metric("connect_p50_ms") >= 690.0, "{}", report.output);
    assert_eq!(report.metric("sessions_not_back"), 0.0, "{}", report.output);
}
