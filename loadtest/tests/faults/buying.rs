//! Faults of purchases: at an arrival rate, of many customers at one machine, and of new customers.

use crate::cases::report_of;

#[test]
fn a_purchase_counts_from_its_planned_moment() {
    // One request takes 400 ms, and the tool keeps its planned moments: the waits count as they would for a customer.
    let report = report_of("purchase: slow");
    report.failed("failed > 0");
    report.faulty("failed");
    assert!(report.metric("total_p50_ms") >= 400.0, "{}", report.output);
    let (planned, done, failed) = (report.metric("planned"), report.metric("done"), report.metric("failed"));
    assert!(planned >= 19.0 && done + failed == planned && failed >= 3.0, "{}", report.output);
    assert!(report.errors("pay answered 500 terjadi kesalahan") >= 3, "{}", report.output);
}

#[test]
fn a_lost_answer_is_asked_for_again_and_costs_nothing_twice() {
    let report = report_of("purchase: unanswered");
    report.clean();
    assert_eq!(report.metric("done"), report.metric("planned"), "{}", report.output);
}

#[test]
fn a_repeat_that_is_charged_again_ends_with_2() {
    let report = report_of("purchase: repeated");
    report.failed("balances_wrong > 0");
    report.faulty("balances_wrong");
}

#[test]
fn a_purchase_that_costs_nothing_ends_with_2() {
    let report = report_of("purchase: not charged");
    report.failed("balances_wrong > 0");
    assert_eq!(report.metric("failed"), 0.0, "{}", report.output);
}

#[test]
fn a_purchase_that_is_lost_has_failed() {
    let report = report_of("purchase: lost");
    report.failed("failed > 0");
    assert_eq!((report.metric("done"), report.metric("failed")), (0.0, report.metric("planned")), "{}", report.output);
    assert_eq!(report.errors("paid, but the machine does not run") as f64, report.metric("failed"), "{}", report.output);
}

#[test]
fn a_machine_that_never_ends_is_no_purchase() {
    let report = report_of("purchase: no final");
    report.failed("failed > 0");
    report.faulty("finals_missing");
    assert_eq!(report.errors("paid, but no final tick came") as f64, report.metric("planned"), "{}", report.output);
}

#[test]
fn two_winners_of_one_machine_end_with_2() {
    let report = report_of("hot: many winners");
    report.failed("rounds_without_one_winner > 0: it is 2");
    report.faulty("rounds_without_one_winner");
}

#[test]
fn failed_presses_are_reported_beside_one_winner() {
    let report = report_of("hot: failed presses");
    report.failed("failed > 0: it is 2");
    assert_eq!((report.metric("winners"), report.errors("pay answered 500 terjadi kesalahan")), (2.0, 2), "{}", report.output);
}

#[test]
fn presses_that_are_repeated_are_counted() {
    let report = report_of("hot: busy");
    // 20 presses, each delayed three times.
    report.failed("pay_503 > 0: it is 40");
    assert_eq!((report.metric("pay_504"), report.metric("pay_unanswered")), (20.0, 0.0), "{}", report.output);
    assert_eq!(
        (report.metric("winners"), report.metric("failed"), report.metric("errors")),
        (2.0, 0.0, 0.0),
        "{}",
        report.output
    );
}

#[test]
fn a_winner_who_is_charged_twice_ends_with_2() {
    let report = report_of("hot: charged twice");
    report.failed("balances_wrong > 0");
    assert_eq!((report.metric("winners"), report.metric("rounds_without_one_winner")), (2.0, 0.0), "{}", report.output);
}

#[test]
fn losers_who_are_charged_end_with_2() {
    let report = report_of("hot: losers charged");
    report.failed("balances_wrong > 0");
    assert!(report.metric("balances_wrong") >= 9.0, "{}", report.output);
}

#[test]
fn an_unknown_balance_is_not_wrong_and_ends_with_2() {
    let report = report_of("hot: hidden balances");
    report.failed("balances_unknown > 0");
    assert_eq!((report.metric("balances_unknown"), report.metric("balances_checked")), (10.0, 0.0), "{}", report.output);
    assert!(!report.has("balances_wrong"), "{}", report.output);
    assert!(
        report.output.contains("Balance not known: account") && report.output.contains("balances_unknown 10"),
        "{}",
        report.output
    );
}

#[test]
fn journeys_to_a_server_without_fault_are_clean() {
    let report = report_of("journey");
    report.clean();
    assert_eq!((report.metric("done"), report.metric("balances_checked")), (8.0, 8.0), "{}", report.output);
}

#[test]
fn a_lost_code_ends_the_journey() {
    let report = report_of("journey: no code");
    report.failed("failed > 0: it is 8");
    assert_eq!(report.errors("whatsapp: no code"), 8, "{}", report.output);
}

#[test]
fn what_a_limit_refuses_is_one_kind_and_its_setting_is_named() {
    let report = report_of("journey: limited");
    report.failed("failed > 0: it is 5");
    assert_eq!(report.errors("request_otp answered 429"), 5, "{}", report.output);
    assert_eq!(report.json["errors"].as_array().map(Vec::len), Some(1), "one line: {}", report.output);
    assert!(
        report.output.contains("5 of request_otp were refused") && report.output.contains("NYALA__AUTH__OTP_PER_IP_HOUR"),
        "{}",
        report.output
    );
}

#[test]
fn a_history_without_a_row_is_reported() {
    let report = report_of("journey: short history");
    report.failed("failed > 0: it is 8");
    assert_eq!(report.errors("history: not one top-up and one purchase"), 8, "{}", report.output);
    assert_eq!((report.metric("balances_checked"), report.metric("balances_wrong")), (8.0, 0.0), "{}", report.output);
}

#[test]
fn money_is_looked_at_though_the_journey_failed() {
    let report = report_of("journey: charged twice");
    report.failed("balances_wrong > 0: it is 8");
    assert_eq!(report.metric("failed"), 8.0, "{}", report.output);
}
