//! Faults of purchases, at an arrival rate, by many at one machine, and of new customers.

use crate::cases::told;

#[test]
fn a_purchase_counts_from_its_planned_moment() {
    // One request takes 400 ms, and the tool plans on: all of them wait as long as a customer would.
    let told = told("purchase: slow");
    told.failed("failed > 0");
    told.faulty("failed");
    assert!(told.metric("total_p50_ms") >= 400.0, "{}", told.said);
    let (planned, done, failed) = (told.metric("planned"), told.metric("done"), told.metric("failed"));
    assert!(planned >= 19.0 && done + failed == planned && failed >= 3.0, "{}", told.said);
    assert!(told.errors("pay answered 500 terjadi kesalahan") >= 3, "{}", told.said);
}

#[test]
fn a_lost_answer_is_asked_for_again_and_costs_nothing_twice() {
    let told = told("purchase: unanswered");
    told.clean();
    assert_eq!(told.metric("done"), told.metric("planned"), "{}", told.said);
}

#[test]
fn a_repeat_that_is_charged_again_ends_with_2() {
    let told = told("purchase: repeated");
    told.failed("balances_wrong > 0");
    told.faulty("balances_wrong");
}

#[test]
fn a_purchase_that_costs_nothing_ends_with_2() {
    let told = told("purchase: not charged");
    told.failed("balances_wrong > 0");
    assert_eq!(told.metric("failed"), 0.0, "{}", told.said);
}

#[test]
fn a_purchase_that_is_lost_has_failed() {
    let told = told("purchase: lost");
    told.failed("failed > 0");
    assert_eq!((told.metric("done"), told.metric("failed")), (0.0, told.metric("planned")), "{}", told.said);
    assert_eq!(told.errors("paid, but the machine does not run") as f64, told.metric("failed"), "{}", told.said);
}

#[test]
fn a_machine_that_never_ends_is_no_purchase() {
    let told = told("purchase: no final");
    told.failed("failed > 0");
    told.faulty("finals_missing");
    assert_eq!(told.errors("paid, but no final tick came") as f64, told.metric("planned"), "{}", told.said);
}

#[test]
fn two_winners_of_one_machine_end_with_2() {
    let told = told("hot: many winners");
    told.failed("rounds_without_one_winner > 0: it is 2");
    told.faulty("rounds_without_one_winner");
}

#[test]
fn one_winner_and_failed_presses_are_told() {
    let told = told("hot: failed presses");
    told.failed("failed > 0: it is 2");
    assert_eq!((told.metric("winners"), told.errors("pay answered 500 terjadi kesalahan")), (2.0, 2), "{}", told.said);
}

#[test]
fn presses_that_are_repeated_are_counted() {
    let told = told("hot: busy");
    // 20 presses, each put off three times.
    told.failed("pay_503 > 0: it is 40");
    assert_eq!((told.metric("pay_504"), told.metric("pay_unanswered")), (20.0, 0.0), "{}", told.said);
    assert_eq!((told.metric("winners"), told.metric("failed"), told.metric("errors")), (2.0, 0.0, 0.0), "{}", told.said);
}

#[test]
fn a_winner_who_is_charged_twice_ends_with_2() {
    let told = told("hot: charged twice");
    told.failed("balances_wrong > 0");
    assert_eq!((told.metric("winners"), told.metric("rounds_without_one_winner")), (2.0, 0.0), "{}", told.said);
}

#[test]
fn losers_who_are_charged_end_with_2() {
    let told = told("hot: losers charged");
    told.failed("balances_wrong > 0");
    assert!(told.metric("balances_wrong") >= 9.0, "{}", told.said);
}

#[test]
fn a_balance_that_is_not_told_is_not_wrong_and_ends_with_2() {
    let told = told("hot: hidden balances");
    told.failed("balances_unknown > 0");
    assert_eq!((told.metric("balances_unknown"), told.metric("balances_checked")), (10.0, 0.0), "{}", told.said);
    assert!(!told.has("balances_wrong"), "{}", told.said);
    assert!(told.said.contains("Balance not known: account") && told.said.contains("balances_unknown 10"), "{}", told.said);
}

#[test]
fn journeys_to_a_server_without_fault_are_clean() {
    let told = told("journey");
    told.clean();
    assert_eq!((told.metric("done"), told.metric("balances_checked")), (8.0, 8.0), "{}", told.said);
}

#[test]
fn a_lost_code_ends_the_journey() {
    let told = told("journey: no code");
    told.failed("failed > 0: it is 8");
    assert_eq!(told.errors("whatsapp: no code"), 8, "{}", told.said);
}

#[test]
fn what_a_limit_refuses_is_one_kind_and_its_setting_is_named() {
    let told = told("journey: limited");
    told.failed("failed > 0: it is 5");
    assert_eq!(told.errors("request_otp answered 429"), 5, "{}", told.said);
    assert_eq!(told.report["errors"].as_array().map(Vec::len), Some(1), "one line: {}", told.said);
    assert!(
        told.said.contains("5 of request_otp were refused") && told.said.contains("NYALA__AUTH__OTP_PER_IP_HOUR"),
        "{}",
        told.said
    );
}

#[test]
fn a_history_without_a_row_is_told() {
    let told = told("journey: short history");
    told.failed("failed > 0: it is 8");
    assert_eq!(told.errors("history: not one top-up and one purchase"), 8, "{}", told.said);
    assert_eq!((told.metric("balances_checked"), told.metric("balances_wrong")), (8.0, 0.0), "{}", told.said);
}

#[test]
fn money_is_looked_at_though_the_journey_failed() {
    let told = told("journey: charged twice");
    told.failed("balances_wrong > 0: it is 8");
    assert_eq!(told.metric("failed"), 8.0, "{}", told.said);
}
