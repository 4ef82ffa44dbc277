//! What a till and customers' browsers meet when their last commits are lost, by a restore or by a failover.

use std::net::SocketAddr;
use std::time::Instant;

use actix_web::rt::time::sleep;
use nyala_loadtest::http::Pool;
use nyala_loadtest::till::{Till, once};
use serde_json::{Value, json};
use tokio_postgres::Client;

use super::{LOOK_EVERY, PATIENCE, ProcessShop, Site};
use crate::push::service::{Browser, CONTACT, PushService};

const FLOAT: i64 = 50_000;
const STAYS: i64 = 10_000;
const LOST: i64 = 20_000;
/// PostgreSQL logs 32 numbers of a sequence in advance, so fewer lost ones would not be given again, even without a jump.
pub(super) const LOST_NUMBERS: usize = 40;

/// A sale: its idempotency key, and the id of its top-up once it is answered.
#[derive(Debug)]
struct Sale {
    once: String,
    nominal: i64,
    id: Value,
}

impl Sale {
    fn of(nominal: i64) -> Self {
        Self { once: once(), nominal, id: Value::Null }
    }
}

/// A till with an open shift, a logged-in cashier and two sales. Only the first one is still in the database afterwards.
#[derive(Debug)]
pub(super) struct OpenTill {
    till: Till,
    session: String,
    idoutlet: i64,
    /// Id of the customer who buys.
    who: Value,
    stays: Sale,
    lost: Sale,
}

impl OpenTill {
    /// `telp` is the number of the shop's customer.
    pub(super) async fn open(site: &Site, shop: &ProcessShop, telp: &Value) -> Self {
        let pool = Pool::new(address(site), 1);
        let idoutlet = shop.body["idoutlet"].as_i64().unwrap();
        let till = Till::pair(&pool, &shop.key, idoutlet, "Tablet").await.unwrap();
        let (_, session) = till.hire(&pool, &shop.key, "Ani").await.unwrap();
        till.call(address(site), &session, "shift", &once(), &json!({"modal": FLOAT})).await.unwrap();
        let found = till.find(address(site), &session, telp.as_str().unwrap()).await.unwrap();
        let who = found.data["id_customer_global"].clone();
        Self { till, session, idoutlet, who, stays: Sale::of(STAYS), lost: Sale::of(LOST) }
    }

    pub(super) async fn sell_what_stays(&mut self, site: &Site) {
        self.stays.id = self.sell(site, &self.stays).await;
    }

    /// The till gets no answer, as far as its cashier knows. It is not the only top-up that is lost.
    pub(super) async fn sell_what_is_lost(&mut self, site: &Site, shop: &ProcessShop) {
        site.customers(shop, "8170", LOST_NUMBERS).await;
        self.lost.id = self.sell(site, &self.lost).await;
    }

    /// The shift is open, the answered sale stays as it was answered, and the other one is made once when it is asked again.
    pub(super) async fn goes_on(&self, site: &Site, db: &Client) {
        let before = top_ups(db).await;
        assert_eq!(self.drawer(site).await, FLOAT + STAYS, "the shift is open, and its cashier logged in");
        assert_eq!(self.sell(site, &self.stays).await, self.stays.id);
        assert_eq!(top_ups(db).await, before);
        let made = self.sell(site, &self.lost).await;
        assert!(number(&made) > number(&self.lost.id), "no number is given twice: {made}, {:?}", self.lost);
        assert_eq!(self.sell(site, &self.lost).await, made);
        assert_eq!(top_ups(db).await, before + 1);
        assert_eq!(self.drawer(site).await, FLOAT + STAYS + LOST);
        site.assert_sound().await;
    }

    async fn sell(&self, site: &Site, sale: &Sale) -> Value {
        let body = json!({
            "id_customer_global": self.who, "idoutlet": self.idoutlet, "nominal": sale.nominal, "cara_bayar": "tunai", "ulang": true,
        });
        let answer = self.till.call(address(site), &self.session, "topup", &sale.once, &body).await.unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.data["idpembelian_emoney"].clone()
    }

    /// The cash that the drawer should hold.
    async fn drawer(&self, site: &Site) -> Value {
        self.till.see(address(site), &self.session, "shift").await.unwrap().data["diharapkan"].clone()
    }
}

/// An id, which answers have as text.
fn number(id: &Value) -> i64 {
    id.as_str().unwrap().parse().unwrap()
}

fn address(site: &Site) -> SocketAddr {
    site.address().parse().unwrap()
}

async fn top_ups(db: &Client) -> i64 {
    db.query_one("SELECT count(*) FROM pembelian_emoney", &[]).await.unwrap().get(0)
}

/// Two browsers of the shop's customer and their push service. Only the first one is still subscribed afterwards.
pub(super) struct Browsers {
    pub(super) service: PushService,
    stays: Browser,
    lost: Browser,
}

impl Browsers {
    /// Settings of a server that sends to the service.
    pub(super) const SETTINGS: [(&str, &str); 2] = [("NYALA__PUSH__HOSTS", "127.0.0.1"), ("NYALA__PUSH__CONTACT", CONTACT)];

    pub(super) fn new() -> Self {
        let service = PushService::start();
        let (stays, lost) = (service.browser("stays"), service.browser("lost"));
        Self { service, stays, lost }
    }

    pub(super) async fn subscribe_what_stays(&self, site: &Site, shop: &ProcessShop) {
        subscribe(site, &shop.token, &self.stays).await;
    }

    pub(super) async fn subscribe_what_is_lost(&self, site: &Site, shop: &ProcessShop) {
        subscribe(site, &shop.token, &self.lost).await;
        assert!(self.service.given().is_empty());
    }

    /// Ends the shop's cycle, of which one push is sent: to the browser that is still subscribed, and to no other.
    pub(super) async fn get_one_push_for_the_end(&self, site: &Site, db: &Client, shop: &ProcessShop) {
        const DUE: &str = "SELECT count(*) FROM push WHERE sebab = 'selesai'";
        site.ops(&shop.key, &format!("mesin/{}/stop", shop.idmesin), &json!({"alasan": "uji"})).await;
        let push = self.service.until(1).await;
        assert_eq!(self.stays.open(&push)["judul"], "Cucian selesai");
        let since = Instant::now();
        while db.query_one(DUE, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            assert!(since.elapsed() < PATIENCE, "{}", site.log());
            sleep(LOOK_EVERY).await;
        }
        assert_eq!(self.service.given().len(), 1, "once, and not to the browser that is lost");
    }
}

pub(super) async fn subscribe(site: &Site, token: &str, browser: &Browser) {
    site.ask("POST", "/scan/v1/push/langganan", token, &browser.body()).await.unwrap().ok();
}
