//! Customers in bulk for load tests (docs/contract.md §4): root, development only.

use std::collections::HashSet;
use std::time::Duration;

use actix_web::rt::time::sleep;
use futures_util::future::join;
use nyala_web::ops::people::customers_bulk::BULK_LOCK;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::helpers::{PASSWORD, Setup, TestApp};

#[actix_web::test]
async fn each_is_logged_in_with_a_funded_account() {
    let app = TestApp::spawn().await;
    let root = app.key(Scope::Root).await;
    let outlet = app.outlet("Melati").await;
    let body = json!({"jumlah": 300, "awalan_telp": "08990", "idoutlet": outlet.idoutlet, "saldo": 75_000});
    let made = app.ops(&root, "pelanggan/bulk", &body).await.ok();
    let customers = made["pelanggan"].as_array().unwrap();
    let numbers: HashSet<&str> = customers.iter().map(|c| c["telp"].as_str().unwrap()).collect();
    assert_eq!(numbers.len(), 300);
    assert!(numbers.iter().all(|t| t.starts_with("8990") && t.len() == 11));
    for customer in customers.iter().step_by(37) {
        let token = customer["token"].as_str();
        let accounts = app.get("/scan/v1/dashboard/get_user_epayment_by_id_customer_global", token).await.ok();
        assert_eq!(
            (&accounts[0]["idcustomer"], &accounts[0]["quota_emoney"]["saldo"]),
            (&customer["idcustomer"], &json!(75_000))
        );
        let me = app.get(&format!("/scan/v1/dashboard/customer_global/{}", customer["id_customer_global"]), token).await.ok();
        assert_eq!(me["telp"], customer["telp"]);
    }
    let login = json!({"country_code": "62", "telp": customers[0]["telp"], "password": PASSWORD});
    app.post("/scan/v1/auth/login", None, &login).await.ok();
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_repeat_makes_more_and_an_outlet_is_not_needed() {
    let app = TestApp::spawn().await;
    let root = app.key(Scope::Root).await;
    let body = json!({"jumlah": 3, "awalan_telp": "8990"});
    let mut numbers = Vec::new();
    for _ in 0..2 {
        let made = app.ops(&root, "pelanggan/bulk", &body).await.ok();
        for customer in made["pelanggan"].as_array().unwrap() {
            assert_eq!(customer["idcustomer"], Value::Null);
            numbers.push(customer["telp"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(numbers, ["89900000000", "89900000001", "89900000002", "89900000003", "89900000004", "89900000005"]);
    let outlet = app.outlet("Melati").await;
    let opened = json!({"jumlah": 1, "awalan_telp": "8991", "idoutlet": outlet.idoutlet});
    let made = app.ops(&root, "pelanggan/bulk", &opened).await.ok();
    assert_eq!(app.balance(made["pelanggan"][0]["idcustomer"].as_i64().unwrap()).await, 0);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn twenty_thousand_fit_into_one_call() {
    let app = TestApp::spawn().await;
    let root = app.key(Scope::Root).await;
    let outlet = app.outlet("Melati").await;
    let body = json!({"jumlah": 20_000, "awalan_telp": "8990", "idoutlet": outlet.idoutlet, "saldo": 1000});
    let made = app.ops(&root, "pelanggan/bulk", &body).await.ok();
    assert_eq!(made["pelanggan"].as_array().unwrap().len(), 20_000);
    assert_eq!(app.insert("SELECT count(*) FROM quota_emoney WHERE saldo = 1000", &[]).await, 20_000);
    app.assert_no_violation().await;
}

/// Several load tests at once: each call waits until the earlier ones are done, longer than the timeout for a row lock.
#[actix_web::test]
async fn calls_wait_for_each_other_longer_than_for_a_row() {
    const STILL_YOUNG: &str = "SELECT FROM pg_stat_activity
        WHERE pid = $1 AND wait_event_type = 'Lock' AND state_change > clock_timestamp() - INTERVAL '1 s'";
    let app = Setup::new().with(|c| c.database.lock_ms = 200).start().await;
    let root = app.key(Scope::Root).await;
    let (other, _) = nyala_store::db::lock::connect(app.state.store.db.config()).await.unwrap();
    other.batch_execute(&format!("BEGIN; SELECT pg_advisory_xact_lock({BULK_LOCK})")).await.unwrap();
    let body = json!({"jumlah": 3, "awalan_telp": "8990"});
    let done = async {
        let pid = app.lock_waiter().await;
        while app.db.query_opt(STILL_YOUNG, &[&pid]).await.unwrap().is_some() {
            sleep(Duration::from_millis(5)).await;
        }
        other.batch_execute("COMMIT").await.unwrap();
    };
    let (answer, ()) = join(app.ops(&root, "pelanggan/bulk", &body), done).await;
    assert_eq!(answer.ok()["pelanggan"].as_array().unwrap().len(), 3);
}

#[actix_web::test]
async fn what_is_out_of_range_is_400_and_changes_nothing() {
    let app = TestApp::spawn().await;
    let root = app.key(Scope::Root).await;
    let outlet = app.outlet("Melati").await;
    let before = app.footprint().await;
    let bad = [
        ("jumlah", vec![json!(0), json!(20_001), json!(-1), json!("3"), Value::Null]),
        (
            "awalan_telp",
            vec![json!(""), json!("0"), json!("62"), json!("x"), json!("899012345"), json!("+1555"), json!("\u{0}"), json!(8990)],
        ),
        ("saldo", vec![json!(-1), json!(20_000_001), json!(0.5)]),
        ("idoutlet", vec![json!(0), json!("x")]),
    ];
    for (field, values) in bad {
        for value in values {
            let mut body = json!({"jumlah": 2, "awalan_telp": "8990", "idoutlet": outlet.idoutlet, "saldo": 1000});
            body[field] = value;
            let answer = app.ops(&root, "pelanggan/bulk", &body).await;
            assert_eq!(answer.status, 400, "{body}: {}", answer.message);
        }
    }
    let homeless = json!({"jumlah": 2, "awalan_telp": "8990", "saldo": 1000});
    app.ops(&root, "pelanggan/bulk", &homeless).await.expect(400, "saldo perlu idoutlet");
    let nowhere = json!({"jumlah": 2, "awalan_telp": "8990", "idoutlet": 4711});
    app.ops(&root, "pelanggan/bulk", &nowhere).await.expect(404, "outlet tidak ditemukan");
    assert_eq!(app.footprint().await, before);
}

#[actix_web::test]
async fn outside_development_it_does_not_exist() {
    let app = Setup::new().with(|c| c.dev.routes = false).start().await;
    let root = app.key(Scope::Root).await;
    let answer = app.ops(&root, "pelanggan/bulk", &json!({"jumlah": 2, "awalan_telp": "8990"})).await;
    assert_eq!(answer.status, 404);
    assert_eq!(app.insert("SELECT count(*) FROM customer_global", &[]).await, 0);
}
