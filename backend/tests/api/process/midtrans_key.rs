//! A provider's key is in no line of the server's log, and in no output of a command.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nyala_store::clock::wall_clock;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{ProcessShop, Site};
use crate::qris::midtrans::{KEY, Midtrans, Mood};
use crate::qris::notifications::signed;
use crate::support::helpers::Answer;

const BILLS: &str = "/scan/v1/epayment/tagihan";
const SILENT: &str = "QRIS sedang tidak bisa dipakai, coba lagi";

/// The key, and the forms in which requests carry it.
fn forms() -> [String; 3] {
    let basic = STANDARD.encode(format!("{KEY}:"));
    [KEY.to_owned(), basic.trim_end_matches('=').to_owned(), STANDARD.encode(KEY).trim_end_matches('=').to_owned()]
}

fn assert_without_key(text: &str) {
    let found: Vec<&str> = text.lines().filter(|line| forms().iter().any(|form| line.contains(form.as_str()))).collect();
    assert!(found.is_empty(), "{found:?}");
}

/// Another customer asks for a bill: one may have three open ones.
async fn ask(site: &Site, shop: &ProcessShop) -> (Answer, String) {
    let token = site.customer(shop, "8121").await["token"].as_str().unwrap().to_owned();
    let body = json!({"id": Uuid::new_v4(), "idoutlet": shop.body["idoutlet"], "nominal": 10_000});
    (site.ask("POST", BILLS, &token, &body).await.unwrap(), token)
}

/// A server that pays to `base_url` and logs everything.
async fn start(site: &mut Site, base_url: &str) {
    site.start_with(&[
        ("NYALA__QRIS__PROVIDER", "midtrans"),
        ("NYALA__QRIS__MIDTRANS_BASE_URL", base_url),
        ("NYALA__QRIS__MIDTRANS_SERVER_KEYS", KEY),
        ("NYALA__LOG__FILTER", "trace"),
    ])
    .await;
}

#[actix_web::test]
async fn calls_that_work_fail_or_are_refused_log_no_key() {
    let midtrans = Midtrans::start();
    let mut site = Site::new().await;
    start(&mut site, &midtrans.base_url).await;
    let shop = site.shop(600).await;
    site.ops(&shop.key, &format!("outlet/{}", shop.body["idoutlet"]), &json!({"qris": "midtrans"})).await;

    let (made, token) = ask(&site, &shop).await;
    let made = made.ok();
    let id = made["idtagihan"].as_str().unwrap();
    for mood in [
        Mood::Raw(500, "oops"),
        Mood::Raw(302, ""),
        Mood::Raw(200, "{}"),
        Mood::Raw(401, r#"{"status_code":"401","status_message":"Unknown Merchant server_key/id"}"#),
    ] {
        midtrans.is(mood);
        ask(&site, &shop).await.0.expect(503, SILENT);
        site.ask("POST", &format!("{BILLS}/{id}/batal"), &token, &json!({})).await.unwrap().expect(503, SILENT);
    }
    midtrans.is(Mood::Works);
    // Notifications: a forged one, one about which the provider is asked, and a right one.
    for (status, code, key, answer) in
        [("settlement", "200", "other", 403), ("settlement", "201", KEY, 200), ("settlement", "200", KEY, 200)]
    {
        let body = signed(id, status, code, "10000.00", key);
        assert_eq!(site.ask("POST", "/qris/midtrans", "", &body).await.unwrap().status, answer);
    }
    let seen = site.ask("GET", &format!("{BILLS}/{id}"), &token, &Value::Null).await.unwrap().ok();
    assert_eq!(seen["status"], "dibayar");
    let log = site.log();
    for line in ["the payment provider gave no answer", "Unknown Merchant server_key/id"] {
        assert!(log.contains(line), "it logs that: {line}");
    }
    assert_without_key(&log);

    site.kill().await;
    start(&mut site, "http://127.0.0.1:9").await;
    ask(&site, &shop).await.0.expect(503, SILENT);
    let log = site.log();
    assert!(log.contains("not reachable"), "{log}");
    assert_without_key(&log);
    site.kill().await;
    start(&mut site, "https://127.0.0.1:9").await;
    ask(&site, &shop).await.0.expect(503, SILENT);
    assert_without_key(&site.log());
    let day = wall_clock().rfc3339()[..10].to_owned();
    let printed = [
        site.run(&["config", "check", "--set", "qris.provider=midtrans", "--set", &format!("qris.midtrans_server_keys={KEY}")])
            .await
            .unwrap(),
        site.run(&[
            "qris",
            "check",
            "--date",
            &day,
            "--set",
            "qris.provider=midtrans",
            "--set",
            &format!("qris.midtrans_server_keys={KEY}"),
            "--set",
            "qris.midtrans_base_url=http://127.0.0.1:9",
        ])
        .await
        .unwrap_or_else(|refused| refused),
    ];
    for text in printed {
        assert_without_key(&text);
    }
}
