//! The server is killed exactly at an edge of a bill and started again. A paid bill is one top-up, an unpaid one no top-up.

use std::time::{Duration, Instant};

use actix_web::rt::time::sleep;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{PRICE, ProcessShop, Site};

const BILLS: &str = "/scan/v1/epayment/tagihan";
const PAID: i64 = 50_000;
const PATIENCE: Duration = Duration::from_secs(60);

/// A shop whose outlet takes QRIS, and a bill that its customer asks for.
struct Billed {
    shop: ProcessShop,
    body: Value,
}

impl Billed {
    async fn open(site: &Site) -> Self {
        let shop = site.shop(600).await;
        let outlet = format!("/ops/v1/outlet/{}", shop.body["idoutlet"]);
        site.ask("POST", &outlet, &shop.key, &json!({"qris": "simulated"})).await.expect("an answer").ok();
        let body = json!({"id": Uuid::new_v4(), "idoutlet": shop.body["idoutlet"], "nominal": PAID});
        Self { shop, body }
    }

    async fn make(&self, site: &Site) -> Result<Value, String> {
        site.ask("POST", BILLS, &self.shop.token, &self.body).await.map(|answer| answer.ok())
    }

    async fn pay(&self, site: &Site, id: &str) -> Result<Value, String> {
        let path = format!("/dev/qris/{id}");
        site.ask("POST", &path, &self.shop.token, &json!({"aksi": "bayar"})).await.map(|answer| answer.ok())
    }

    /// Looks at the bill until it is paid.
    async fn until_paid(&self, site: &Site, id: &str) {
        let since = Instant::now();
        loop {
            let path = format!("{BILLS}/{id}");
            let seen = site.ask("GET", &path, &self.shop.token, &Value::Null).await.expect("an answer").ok();
            if seen["status"] == "dibayar" {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "{seen}");
            sleep(Duration::from_millis(100)).await;
        }
    }
}

fn id_of(bill: &Value) -> String {
    bill["idtagihan"].as_str().expect("a bill").to_owned()
}

async fn bills(site: &Site) -> Vec<String> {
    let rows = site.db.query("SELECT status FROM tagihan", &[]).await.expect("bills");
    rows.iter().map(|row| row.get(0)).collect()
}

/// The server dies while a bill is made; `left` are the stored bills.
async fn dies_making(point: &str, left: &[&str]) {
    let mut site = Site::new().await;
    site.start(point).await;
    let billed = Billed::open(&site).await;
    billed.make(&site).await.expect_err("no answer");
    site.killed().await;
    assert_eq!(bills(&site).await, left, "what the crash left behind");
    site.start("").await;
    // The same request finds the bill, or makes it.
    let made = billed.make(&site).await.expect("an answer");
    assert_eq!((bills(&site).await, &made["status"]), (vec!["menunggu".to_owned()], &json!("menunggu")));
    assert!(made["png"].is_string(), "it can be paid");
    billed.pay(&site, &id_of(&made)).await.expect("an answer");
    billed.until_paid(&site, &id_of(&made)).await;
    assert_eq!(site.balance().await, PRICE + PAID);
    site.assert_sound().await;
}

/// The server dies while a payment is credited; `credited` says whether it was committed.
async fn dies_crediting(point: &str, credited: bool) {
    let mut site = Site::new().await;
    site.start(point).await;
    let billed = Billed::open(&site).await;
    let id = id_of(&billed.make(&site).await.expect("an answer"));
    billed.pay(&site, &id).await.expect_err("no answer");
    site.killed().await;
    assert_eq!(bills(&site).await, [if credited { "dibayar" } else { "menunggu" }]);
    assert_eq!(site.balance().await, if credited { PRICE + PAID } else { PRICE });
    site.start("").await;
    // The notification is not repeated: a question finds the payment.
    billed.until_paid(&site, &id).await;
    billed.pay(&site, &id).await.expect("an answer");
    assert_eq!(site.balance().await, PRICE + PAID, "once");
    site.assert_sound().await;
}

#[actix_web::test]
async fn before_a_bill_is_stored() {
    dies_making("before_bill", &[]).await;
}

#[actix_web::test]
async fn after_a_bill_is_stored() {
    dies_making("after_bill", &["dibuat"]).await;
}

#[actix_web::test]
async fn after_the_provider_has_the_bill() {
    dies_making("after_charge", &["dibuat"]).await;
}

#[actix_web::test]
async fn after_the_providers_answer_is_stored() {
    dies_making("after_charged", &["menunggu"]).await;
}

#[actix_web::test]
async fn before_the_payment_is_credited() {
    dies_crediting("before_credit", false).await;
}

#[actix_web::test]
async fn after_the_payment_is_credited() {
    dies_crediting("after_credit", true).await;
}
