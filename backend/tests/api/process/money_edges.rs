//! The server is killed exactly at an edge of a payout or of a move to a new number, and started again.

use std::net::SocketAddr;
use std::time::Instant;

use actix_web::rt::time::sleep;
use nyala_core::domain::id::CustomerId;
use nyala_identity::qr::customer;
use nyala_loadtest::http::Pool;
use nyala_loadtest::till::{Till, once};
use nyala_store::clock::wall_clock;
use nyala_store::secrets::Secrets;
use serde_json::{Value, json};

use super::{LOOK_EVERY, PATIENCE, PRICE, ProcessShop, Site};

const FLOAT: i64 = 50_000;

/// A till with an open shift and a supervisor, and the shop's customer.
struct EdgeTill {
    till: Till,
    session: String,
    customer: CustomerId,
}

impl EdgeTill {
    async fn open(site: &Site, shop: &ProcessShop) -> Self {
        let pool = Pool::new(address(site), 1);
        let till = Till::pair(&pool, &shop.key, shop.body["idoutlet"].as_i64().unwrap(), "Tablet").await.unwrap();
        let (_, session) = till.hire(&pool, &shop.key, "Ani").await.unwrap();
        till.call(address(site), &session, "shift", &once(), &json!({"modal": FLOAT})).await.unwrap();
        let customer = "SELECT id_customer_global FROM customer WHERE idcustomer = $1";
        let customer = site.db.query_one(customer, &[&shop.body["idcustomer"].as_i64().unwrap()]).await.unwrap().get(0);
        Self { till, session, customer }
    }

    async fn drawer(&self, site: &Site) -> Value {
        self.till.see(address(site), &self.session, "shift").await.unwrap().data["diharapkan"].clone()
    }
}

fn address(site: &Site) -> SocketAddr {
    site.address().parse().unwrap()
}

fn code(site: &Site, customer: CustomerId) -> String {
    let secrets = Secrets::parse(&std::fs::read_to_string(Secrets::file(site.dir())).unwrap()).unwrap();
    customer::make(&secrets, customer, wall_clock())
}

async fn number_of(site: &Site, customer: CustomerId) -> Value {
    let telp = site.db.query_one("SELECT telp FROM customer_global WHERE id = $1", &[&customer]).await.unwrap();
    json!(telp.get::<_, String>(0))
}

async fn killed_in_a_payout(point: &str, paid_before: bool) {
    let mut site = Site::new().await;
    site.start(point).await;
    let shop = site.shop(600).await;
    let edge = EdgeTill::open(&site, &shop).await;
    let (key, body) = (once(), json!({"qr": code(&site, edge.customer), "dibayar": PRICE, "hangus": 0}));
    edge.till.call(address(&site), &edge.session, "tarik", &key, &body).await.expect_err("no answer");
    site.killed().await;
    assert_eq!(site.balance().await, if paid_before { 0 } else { PRICE });
    site.assert_sound().await;
    site.start("").await;
    // The till repeats its call until it has an answer.
    for _ in 0..2 {
        let answer = edge.till.call(address(&site), &edge.session, "tarik", &key, &body).await.unwrap();
        assert_eq!((answer.status, &answer.data["dibayar"]), (200, &json!(PRICE)), "{answer:?}");
    }
    assert_eq!((site.balance().await, edge.drawer(&site).await), (0, json!(FLOAT - PRICE)));
    site.assert_sound().await;
}

#[actix_web::test]
async fn before_the_payout() {
    killed_in_a_payout("before_payout", false).await;
}

#[actix_web::test]
async fn after_the_payout() {
    killed_in_a_payout("after_payout", true).await;
}

/// A till's move that is due at once.
async fn killed_in_a_move(point: &str, moved_before: bool) {
    let mut site = Site::new().await;
    let settings = |point| [("NYALA__DEV__FAULT_POINT", point), ("NYALA__MOVE__WAIT_S", "1")];
    site.start_with(&settings(point)).await;
    let shop = site.shop(600).await;
    let edge = EdgeTill::open(&site, &shop).await;
    let old = Site::telp_of(&site.db, &shop).await;
    let new = site.customer(&shop, "8199").await;
    let id = new["id_customer_global"].as_i64().unwrap();
    let body = json!({"qr": code(&site, CustomerId::new(id)), "telp": old});
    let asked = edge.till.call(address(&site), &edge.session, "pindah", &once(), &body).await.unwrap();
    assert_eq!(asked.status, 200, "{asked:?}");
    site.killed().await;
    assert_eq!(number_of(&site, edge.customer).await, if moved_before { new["telp"].clone() } else { old });
    site.assert_sound().await;
    site.start_with(&settings("")).await;
    let since = Instant::now();
    while number_of(&site, edge.customer).await != new["telp"] {
        assert!(since.elapsed() < PATIENCE, "{}", site.log());
        sleep(LOOK_EVERY).await;
    }
    let balances = "SELECT SUM(saldo) FILTER (WHERE id_customer_global = $1)::BIGINT, SUM(saldo)::BIGINT
        FROM quota_emoney JOIN customer USING (idcustomer)";
    let row = site.db.query_one(balances, &[&edge.customer]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (2 * PRICE, 2 * PRICE), "once");
    for token in [json!(shop.token), new["token"].clone()] {
        assert_eq!(site.status_of(&token).await, 401);
    }
    site.assert_sound().await;
}

#[actix_web::test]
async fn before_the_move() {
    killed_in_a_move("before_move", false).await;
}

#[actix_web::test]
async fn after_the_move() {
    killed_in_a_move("after_move", true).await;
}
