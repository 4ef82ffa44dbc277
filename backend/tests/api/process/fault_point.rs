//! The server is killed exactly at an edge of a purchase and started again. The purchase must end in the one right state.

use nyala_core::purchase::edge::{MONEY_POINTS, POINTS};
use serde_json::json;

use super::{PRICE, ProcessShop, Site};

/// The conditions of a purchase, and the state in which it must end.
struct Case {
    point: &'static str,
    /// The device fault before the crash.
    mode: &'static str,
    duration_s: i64,
    /// The stored states when the server is gone.
    left: &'static [&'static str],
    end: &'static str,
    /// The customer's answer when the same receipt is sent again.
    reply: (u16, &'static str),
    balance: i64,
}

const RUNS: (u16, &str) = (200, "Mesin Berhasil dinyalakan");
const REFUSED: (u16, &str) = (409, "mesin gagal dinyalakan, saldo dikembalikan");
const LONG_S: i64 = 600;

/// A device that starts at once.
const STARTS: Case = Case { point: "", mode: "ok", duration_s: LONG_S, left: &["HELD"], end: "RUNNING", reply: RUNS, balance: 0 };

async fn case(case: Case) {
    let mut site = Site::new().await;
    site.start(case.point).await;
    let shop = site.shop(case.duration_s).await;
    site.fault(&shop, case.mode).await;
    // A purchase with a slow device gets 504 before the edge is reached; every other one gets no answer.
    if let Ok(answer) = site.buy(&shop).await {
        assert!(answer.status == 504 || case.duration_s < LONG_S, "{answer:?}");
    }
    site.killed().await;
    assert_eq!(site.states().await, case.left, "what the crash left behind");
    site.assert_sound().await;
    site.start("").await;
    settle(&site, &shop, &case).await;
}

/// Checks after the restart: the end state, the answer to a repeat, the money, the rules, and the machine for the next customer.
async fn settle(site: &Site, shop: &ProcessShop, case: &Case) {
    if case.mode == "silent" {
        // Only after the start has expired: until then the command could still reach a repaired device.
        site.until("UNSURE").await;
        site.fault(shop, "ok").await;
    }
    if !case.left.is_empty() {
        site.until(case.end).await;
    }
    site.buy(shop).await.expect("an answer").expect(case.reply.0, case.reply.1);
    assert_eq!(site.states().await, [case.end]);
    assert_eq!(site.balance().await, case.balance);
    site.assert_sound().await;
    let machine =
        site.ask("GET", &format!("/ops/v1/mesin/{}", shop.idmesin), &shop.key, &json!(null)).await.expect("an answer").ok();
    let (status, sent) = if case.end == "RUNNING" { ("busy", shop.body["id"].clone()) } else { ("idle", json!(null)) };
    assert_eq!((machine["status"].as_str(), &machine["idtransaksi"]), (Some(status), &sent), "{machine}");
    if let Some(tl_ms) = machine["tl"].as_i64() {
        assert!((1..=LONG_S * 1000).contains(&tl_ms), "{machine}");
    }
}

#[actix_web::test]
async fn before_the_hold() {
    case(Case { point: "before_hold", left: &[], ..STARTS }).await;
}

#[actix_web::test]
async fn after_the_hold() {
    case(Case { point: "after_hold", ..STARTS }).await;
}

#[actix_web::test]
async fn after_sending() {
    case(Case { point: "after_send", ..STARTS }).await;
}

#[actix_web::test]
async fn before_the_post() {
    case(Case { point: "before_post", ..STARTS }).await;
}

#[actix_web::test]
async fn after_the_post() {
    case(Case { point: "after_post", left: &["RUNNING"], ..STARTS }).await;
}

#[actix_web::test]
async fn before_the_void() {
    let end = Case { end: "REFUSED", reply: REFUSED, balance: PRICE, ..STARTS };
    case(Case { point: "before_void", mode: "refuse", ..end }).await;
}

#[actix_web::test]
async fn after_the_void() {
    let end = Case { end: "REFUSED", reply: REFUSED, balance: PRICE, ..STARTS };
    case(Case { point: "after_void", mode: "refuse", left: &["REFUSED"], ..end }).await;
}

#[actix_web::test]
async fn before_it_is_marked_as_sent() {
    case(Case { point: "before_sent", mode: "late", ..STARTS }).await;
}

#[actix_web::test]
async fn after_it_is_marked_as_sent() {
    case(Case { point: "after_sent", mode: "late", left: &["SENT"], ..STARTS }).await;
}

#[actix_web::test]
async fn before_it_is_marked_as_unsure() {
    let end = Case { end: "EXPIRED", reply: REFUSED, balance: PRICE, ..STARTS };
    case(Case { point: "before_unsure", mode: "silent", left: &["SENT"], ..end }).await;
}

#[actix_web::test]
async fn after_it_is_marked_as_unsure() {
    let end = Case { end: "EXPIRED", reply: REFUSED, balance: PRICE, ..STARTS };
    case(Case { point: "after_unsure", mode: "silent", left: &["UNSURE"], ..end }).await;
}

#[actix_web::test]
async fn before_the_finish() {
    case(Case { point: "before_finish", duration_s: 1, left: &["RUNNING"], end: "FINISHED", ..STARTS }).await;
}

#[actix_web::test]
async fn after_the_finish() {
    case(Case { point: "after_finish", duration_s: 1, left: &["FINISHED"], end: "FINISHED", ..STARTS }).await;
}

/// An operator stops a run; the edge is at its end.
async fn stop_case(point: &str, left: &str) {
    let mut site = Site::new().await;
    site.start(point).await;
    let shop = site.shop(LONG_S).await;
    site.buy(&shop).await.expect("an answer").ok();
    let path = format!("/ops/v1/mesin/{}/stop", shop.idmesin);
    site.ask("POST", &path, &shop.key, &json!({"alasan": "pintu terbuka"})).await.expect_err("no answer");
    site.killed().await;
    assert_eq!(site.states().await, [left]);
    let requested = "SELECT stop_requested_at IS NOT NULL FROM snap_transaksi";
    assert!(site.db.query_one(requested, &[]).await.unwrap().get::<_, bool>(0), "the purchase says that it is to stop");
    site.start("").await;
    let end = Case { end: "STOPPED", ..STARTS };
    settle(&site, &shop, &end).await;
}

#[actix_web::test]
async fn after_a_stop_is_asked_for() {
    stop_case("after_stop_request", "RUNNING").await;
}

#[actix_web::test]
async fn before_the_stop() {
    stop_case("before_stop", "RUNNING").await;
}

#[actix_web::test]
async fn after_the_stop() {
    stop_case("after_stop", "STOPPED").await;
}

#[actix_web::test]
async fn every_edge_has_its_test() {
    let here = concat!(include_str!("fault_point.rs"), include_str!("money_edges.rs"), include_str!("bill_fault_point.rs"));
    for point in POINTS.iter().chain(MONEY_POINTS) {
        assert!(here.contains(&format!("\"{point}\"")), "no test kills the server at {point}");
    }
}

#[actix_web::test]
async fn an_unknown_edge_and_production_are_refused() {
    let site = Site::new().await;
    let check = async |set: &str| site.run(&["config", "check", "--set", set]).await;
    let unknown = check("dev.fault_point=after_lunch").await.expect_err("refused");
    assert!(unknown.contains("after_lunch") && unknown.contains("after_hold"), "{unknown}");
    check("dev.fault_point=after_hold").await.expect("a known edge");
    let production =
        "profile=production whatsapp.meta_access_token=x whatsapp.meta_phone_number_id=1 whatsapp.meta_template=kode";
    let sets = |last: &'static str| {
        ["config", "check"].into_iter().chain(production.split(' ').chain([last]).flat_map(|set| ["--set", set]))
    };
    let armed: Vec<&str> = sets("dev.fault_point=after_hold").collect();
    let refused = site.run(&armed).await.expect_err("refused");
    assert!(refused.contains("production") && refused.contains("dev.fault_point must be empty"), "{refused}");
    let unarmed: Vec<&str> = sets("dev.fault_point=").collect();
    site.run(&unarmed).await.expect("production without a fault point");
}
