//! Midtrans, played on this machine: its answers, refusals and silences, and what it notifies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nyala_core::domain::id::OwnerId;
use nyala_core::domain::secret::Secret;
use serde_json::{Value, json};

use super::id_of;
use super::notifications::signed;
use crate::ops::operator::Scope;
use crate::support::counter::{Counter, TELP};
use crate::support::helpers::{Answer, PASSWORD, Setup, TestApp};
use crate::till::rules::AtTill;

pub const KEY: &str = "SB-Mid-server-rahasia";

/// How the provider answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Mood {
    Works,
    /// It says nothing, and does what it was asked.
    Silent,
    /// It says nothing and does nothing.
    Deaf,
    /// It does what it was asked, and answers when the mood has changed.
    Slow,
    Raw(u16, &'static str),
}

#[derive(Debug, Clone)]
struct Order {
    status: &'static str,
    /// What it says was paid, and in what.
    paid: (String, &'static str),
}

#[derive(Clone)]
pub struct Midtrans {
    pub base_url: String,
    orders: Arc<Mutex<HashMap<String, Order>>>,
    mood: Arc<Mutex<Mood>>,
    /// The calls with their keys.
    calls: Arc<Mutex<Vec<(String, String, Value)>>>,
}

impl Midtrans {
    pub fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let played = Self { base_url, orders: Arc::default(), mood: Arc::new(Mutex::new(Mood::Works)), calls: Arc::default() };
        let data = web::Data::new(played.clone());
        let server = HttpServer::new(move || App::new().app_data(data.clone()).default_service(web::to(Self::handle)));
        actix_web::rt::spawn(server.workers(1).listen(listener).unwrap().disable_signals().run());
        played
    }

    async fn handle(played: web::Data<Self>, req: HttpRequest, body: web::Bytes) -> HttpResponse {
        let basic = req.headers().get("authorization").and_then(|v| v.to_str().ok()?.strip_prefix("Basic "));
        let key = basic.and_then(|basic| String::from_utf8(STANDARD.decode(basic).ok()?).ok()).unwrap_or_default();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        played.calls.lock().unwrap().push((req.path().to_owned(), key.clone(), body.clone()));
        let mood = played.mood.lock().unwrap().clone();
        match mood {
            Mood::Deaf => std::future::pending::<()>().await,
            Mood::Raw(status, text) => return HttpResponse::build(status.try_into().unwrap()).body(text),
            Mood::Works | Mood::Silent | Mood::Slow => {}
        }
        if !key.ends_with(':') || key.len() < 2 {
            return HttpResponse::Unauthorized()
                .json(json!({"status_code": "401", "status_message": "Unknown Merchant server_key/id"}));
        }
        let answer = played.answer(req.path(), &body);
        match mood {
            Mood::Silent => std::future::pending::<()>().await,
            Mood::Slow => {
                while *played.mood.lock().unwrap() == Mood::Slow {
                    actix_web::rt::time::sleep(Duration::from_millis(5)).await;
                }
            }
            _ => {}
        }
        HttpResponse::Ok().json(answer)
    }

    fn answer(&self, path: &str, body: &Value) -> Value {
        let mut orders = self.orders.lock().unwrap();
        let parts: Vec<_> = path.split('/').collect();
        match parts.as_slice() {
            ["", "v2", "charge"] => {
                let details = &body["transaction_details"];
                let (id, amount) = (details["order_id"].as_str().unwrap(), details["gross_amount"].as_i64().unwrap());
                if orders.contains_key(id) {
                    return json!({"status_code": "406", "status_message": "The order ID has been utilized previously"});
                }
                orders.insert(id.to_owned(), Order { status: "pending", paid: (format!("{amount}.00"), "IDR") });
                json!({
                    "status_code": "201", "status_message": "QRIS transaction is created", "transaction_id": format!("tx-{id}"),
                    "order_id": id, "gross_amount": format!("{amount}.00"), "currency": "IDR", "payment_type": "qris",
                    "transaction_status": "pending", "qr_string": format!("00020101021226{id}"),
                    "actions": [{"name": "generate-qr-code", "method": "GET", "url": "https://api.sandbox.midtrans.com/v2/qris/x/qr-code"},
                        {"name": "deeplink-redirect", "method": "GET", "url": "https://simulator.sandbox.midtrans.com/gopay/ui/checkout"}],
                })
            }
            ["", "v2", id, act @ ("status" | "cancel")] => match orders.get_mut(*id) {
                None => json!({"status_code": "404", "status_message": "Transaction doesn't exist."}),
                Some(order) if *act == "cancel" && order.status != "pending" => {
                    json!({"status_code": "412", "status_message": "Merchant cannot modify the status of the transaction"})
                }
                Some(order) => {
                    if *act == "cancel" {
                        order.status = "cancel";
                    }
                    order.report(id)
                }
            },
            _ => json!({"status_code": "404", "status_message": "The requested resource is not found"}),
        }
    }

    pub fn is(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// An order is now in this state at the provider.
    fn becomes(&self, id: &str, status: &'static str) {
        self.orders.lock().unwrap().get_mut(id).expect("an order").status = status;
    }

    fn pays(&self, id: &str, amount: &str, currency: &'static str) {
        let mut orders = self.orders.lock().unwrap();
        let order = orders.get_mut(id).expect("an order");
        (order.status, order.paid) = ("settlement", (amount.to_owned(), currency));
    }

    pub fn called(&self, path: &str) -> usize {
        self.calls.lock().unwrap().iter().filter(|(called, ..)| called.ends_with(path)).count()
    }

    fn setup(&self, keys: &str) -> Setup {
        let (base_url, keys) = (self.base_url.clone(), keys.to_owned());
        Setup::new().with(|config| {
            config.qris.provider = "midtrans".to_owned();
            config.qris.midtrans_base_url = base_url;
            config.qris.midtrans_server_keys = Secret::new(keys);
        })
    }
}

impl Order {
    fn report(&self, id: &str) -> Value {
        let code = match self.status {
            "settlement" | "refund" | "cancel" => "200",
            "expire" => "407",
            _ => "201",
        };
        let mut report = signed(id, self.status, code, &self.paid.0, KEY);
        report["currency"] = json!(self.paid.1);
        report["transaction_id"] = json!(format!("tx-{id}"));
        report
    }
}

/// A counter whose outlet is paid to Midtrans.
struct Paid {
    midtrans: Midtrans,
    counter: Counter,
}

impl Paid {
    async fn open() -> Self {
        let midtrans = Midtrans::start();
        let app = midtrans.setup(KEY).start().await;
        let outlet = app.outlet("Melati").await;
        app.takes_qris(outlet, "midtrans").await;
        let rina = app.seller(outlet).await;
        let siti = app.register_customer(TELP, "Siti", "Rahma").await;
        Self { midtrans, counter: Counter { app, outlet, rina, siti } }
    }

    fn app(&self) -> &TestApp {
        &self.counter.app
    }

    async fn notified(&self, id: &str, status: &str, code: &str, amount: &str) -> Answer {
        self.app().notify("midtrans", &signed(id, status, code, amount, KEY)).await
    }

    /// Asks for a bill, with this key.
    async fn ask(&self, rina: &AtTill, once: &str, nominal: i64) -> Answer {
        let body = json!({"id_customer_global": self.counter.siti.id, "nominal": nominal});
        self.app().ask_with(rina, once, None, "tagihan", &body).await
    }

    /// The bill that was made; there is one.
    async fn the_bill(&self) -> String {
        self.app().db.query_one("SELECT id FROM tagihan", &[]).await.unwrap().get(0)
    }
}

const SILENT: &str = "QRIS sedang tidak bisa dipakai, coba lagi";

#[actix_web::test]
async fn a_bill_is_charged_as_the_provider_wants_it_and_paid_by_its_notification() {
    let paid = Paid::open().await;
    let made = paid.ask(&paid.counter.rina, "a", 50_000).await.ok();
    let id = id_of(&made);
    assert_eq!(made["qr"], format!("00020101021226{id}"));
    assert_eq!(made["deeplink"], "https://simulator.sandbox.midtrans.com/gopay/ui/checkout");
    assert!(made["png"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    let (path, key, body) = paid.midtrans.calls.lock().unwrap()[0].clone();
    assert_eq!((path.as_str(), key), ("/v2/charge", format!("{KEY}:")));
    assert_eq!(
        body,
        json!({
            "payment_type": "qris", "transaction_details": {"order_id": id, "gross_amount": 50_000},
            "custom_expiry": {"expiry_duration": 10, "unit": "minute"},
        })
    );
    paid.notified(&id, "pending", "201", "50000.00").await.expect(200, "OK");
    assert_eq!(paid.midtrans.called("/status"), 0, "that it can be paid is known");
    paid.midtrans.pays(&id, "50000.00", "IDR");
    for _ in 0..3 {
        paid.notified(&id, "settlement", "200", "50000.00").await.expect(200, "OK");
    }
    let seen = paid.counter.see(&id).await;
    assert_eq!((&seen["status"], &seen["saldo_akhir"]), (&json!("dibayar"), &json!(50_000)));
    assert_eq!(paid.app().bill(&id, "ref_penyedia").await, Some(format!("tx-{id}")));
    assert_eq!(paid.app().topups().await, 1);
    let actor = "SELECT count(*) FROM ledger_transfer WHERE kind = 'topup' AND aktor = 'qris:midtrans'";
    assert_eq!(paid.app().insert(actor, &[]).await, 1);
    paid.app().assert_no_violation().await;
}

#[actix_web::test]
async fn forged_notifications_are_refused_or_asked_back() {
    let paid = Paid::open().await;
    let id = id_of(&paid.ask(&paid.counter.rina, "a", 50_000).await.ok());
    let forged = signed(&id, "settlement", "200", "50000.00", "simulated");
    paid.app().notify("midtrans", &forged).await.expect(403, "tanda tangan salah");
    // A right signature of another code: only the status was changed.
    paid.notified(&id, "settlement", "201", "50000.00").await.expect(200, "OK");
    assert_eq!(paid.counter.see(&id).await["status"], "menunggu");
    assert_eq!(paid.midtrans.called("/status"), 1, "it was asked back");
    paid.app().notify("simulated", &forged).await.expect(403, "tanda tangan salah");
    assert_eq!(paid.app().topups().await, 0);
}

#[actix_web::test]
async fn when_the_provider_says_nothing_the_bill_stays_and_its_repeat_works() {
    for mood in [
        Mood::Deaf,
        Mood::Raw(500, "oops"),
        Mood::Raw(200, "{}"),
        Mood::Raw(200, r#"{"status_code":"401","status_message":"Unknown Merchant server_key/id"}"#),
        Mood::Raw(200, r#"{"status_code":"201","transaction_id":"x"}"#),
    ] {
        let paid = Paid::open().await;
        paid.midtrans.is(mood.clone());
        paid.ask(&paid.counter.rina, "a", 50_000).await.expect(503, SILENT);
        let id = paid.the_bill().await;
        assert_eq!(paid.app().bill(&id, "status").await.as_deref(), Some("dibuat"), "{mood:?}");
        assert!(paid.app().bill(&id, "tanya_at").await.is_some(), "it is asked about");
        paid.midtrans.is(Mood::Works);
        let made = paid.ask(&paid.counter.rina, "a", 50_000).await.ok();
        assert_eq!((id_of(&made), &made["status"]), (id.clone(), &json!("menunggu")), "the same bill");
        paid.midtrans.pays(&id, "50000.00", "IDR");
        paid.notified(&id, "settlement", "200", "50000.00").await.expect(200, "OK");
        assert_eq!(paid.app().topups().await, 1);
    }
}

#[actix_web::test]
async fn a_lost_answer_to_the_charge_loses_no_payment() {
    let paid = Paid::open().await;
    paid.midtrans.is(Mood::Silent);
    paid.ask(&paid.counter.rina, "a", 50_000).await.expect(503, SILENT);
    let id = paid.the_bill().await;
    paid.midtrans.is(Mood::Works);
    // The order is there, and its code is not known: the order's id is used up.
    paid.ask(&paid.counter.rina, "a", 50_000).await.expect(503, SILENT);
    // It is paid all the same, and a question finds that.
    paid.midtrans.pays(&id, "50000.00", "IDR");
    paid.app().advance_s(30);
    paid.app().until_bill(&id, "dibayar").await;
    paid.app().assert_no_violation().await;
}

#[actix_web::test]
async fn a_notification_may_come_before_the_answer_to_the_charge() {
    let paid = Paid::open().await;
    paid.midtrans.is(Mood::Silent);
    let (asked, ()) = tokio::join!(paid.ask(&paid.counter.rina, "a", 50_000), async {
        while paid.midtrans.orders.lock().unwrap().is_empty() {
            actix_web::rt::time::sleep(Duration::from_millis(5)).await;
        }
        let id = paid.the_bill().await;
        paid.midtrans.pays(&id, "50000.00", "IDR");
        paid.notified(&id, "settlement", "200", "50000.00").await.expect(200, "OK");
    });
    asked.expect(503, SILENT);
    paid.midtrans.is(Mood::Works);
    let again = paid.ask(&paid.counter.rina, "a", 50_000).await.ok();
    assert_eq!((&again["status"], &again["saldo_akhir"]), (&json!("dibayar"), &json!(50_000)));
    assert_eq!(paid.app().topups().await, 1);
}

/// The answer comes, too, after the payment was credited.
#[actix_web::test]
async fn an_answer_to_the_charge_that_comes_after_the_payment_changes_nothing_of_it() {
    let paid = Paid::open().await;
    let columns = async |id: &str| {
        let sql = "SELECT jsonb_build_array(status, dibayar_at, jumlah_dibayar, idpembelian_emoney, ref_penyedia, tanya_at, sebab) FROM tagihan WHERE id = $1";
        paid.app().db.query_one(sql, &[&id]).await.unwrap().get::<_, Value>(0)
    };
    paid.midtrans.is(Mood::Slow);
    let (asked, (id, before)) = tokio::join!(paid.ask(&paid.counter.rina, "a", 50_000), async {
        while paid.midtrans.orders.lock().unwrap().is_empty() {
            actix_web::rt::time::sleep(Duration::from_millis(5)).await;
        }
        let id = paid.the_bill().await;
        paid.midtrans.pays(&id, "50000.00", "IDR");
        for _ in 0..2 {
            paid.notified(&id, "settlement", "200", "50000.00").await.expect(200, "OK");
        }
        let before = columns(&id).await;
        paid.midtrans.is(Mood::Works);
        (id, before)
    });
    let asked = asked.ok();
    assert_eq!((id_of(&asked), &asked["status"], &asked["saldo_akhir"]), (id.clone(), &json!("dibayar"), &json!(50_000)));
    assert_eq!(asked["png"], Value::Null, "nobody pays it again");
    assert_eq!(columns(&id).await, before, "the answer has taken nothing away");
    assert_eq!((&before[0], &before[4]), (&json!("dibayar"), &json!(format!("ref-{id}"))), "the notification's own id");
    paid.notified(&id, "settlement", "200", "50000.00").await.expect(200, "OK");
    assert_eq!(paid.counter.see(&id).await["status"], "dibayar");
    assert_eq!(paid.app().topups().await, 1);
    paid.app().assert_no_violation().await;
}

#[actix_web::test]
async fn nobody_is_deleted_while_the_provider_does_not_confirm_that_a_bill_is_over() {
    const WAITS: &str = "masih ada pembayaran QRIS yang ditunggu";
    let paid = Paid::open().await;
    let (app, siti) = (paid.app(), &paid.counter.siti);
    let leave = async |given_up: i64| {
        let body = json!({"password": PASSWORD, "lepas_saldo": given_up});
        app.post("/scan/v1/akun/hapus", Some(&siti.token), &body).await
    };
    app.funded(siti, paid.counter.outlet, 5_000).await;
    let open = id_of(&paid.ask(&paid.counter.rina, "a", 50_000).await.ok());
    let late = id_of(&paid.ask(&paid.counter.rina, "b", 50_000).await.ok());
    // A payment is asked about before the balance.
    for mood in [Mood::Raw(502, ""), Mood::Raw(200, r#"{"status_code":"500","status_message":"try again"}"#)] {
        paid.midtrans.is(mood);
        leave(5_000).await.expect(409, WAITS);
        assert_eq!(app.bill(&open, "status").await.as_deref(), Some("menunggu"));
    }
    app.get("/scan/v1/dashboard/get_dashboard", Some(&siti.token)).await.ok();
    // One of them was paid in between: its balance is there.
    paid.midtrans.is(Mood::Works);
    paid.midtrans.pays(&late, "50000.00", "IDR");
    leave(5_000).await.expect(409, "masih ada saldo Rp 55.000");
    let statuses = [app.bill(&open, "status").await, app.bill(&late, "status").await];
    assert_eq!(statuses, [Some("batal".to_owned()), Some("dibayar".to_owned())]);
    leave(55_000).await.expect(200, "Akun sudah dihapus");
    assert_eq!(app.topups().await, 2, "the paid bill, and what was there");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn another_amount_or_currency_is_held_and_a_refund_is_reported() {
    let paid = Paid::open().await;
    for (n, (amount, currency, reason)) in
        [("49000.00", "IDR", "jumlah lain"), ("50000.50", "IDR", "mata uang lain"), ("50000.00", "USD", "mata uang lain")]
            .into_iter()
            .enumerate()
    {
        let id = id_of(&paid.ask(&paid.counter.rina, &n.to_string(), 50_000).await.ok());
        paid.midtrans.pays(&id, amount, currency);
        let mut notification = signed(&id, "settlement", "200", amount, KEY);
        notification["currency"] = json!(currency);
        paid.app().notify("midtrans", &notification).await.expect(200, "OK");
        assert_eq!(paid.app().bill(&id, "sebab").await.as_deref(), Some(reason), "{amount} {currency}");
    }
    assert_eq!(paid.app().topups().await, 0);
    let id = id_of(&paid.ask(&paid.counter.rina, "r", 50_000).await.ok());
    paid.midtrans.pays(&id, "50000.00", "IDR");
    paid.notified(&id, "settlement", "200", "50000.00").await.expect(200, "OK");
    paid.midtrans.becomes(&id, "refund");
    paid.notified(&id, "refund", "200", "50000.00").await.expect(200, "OK");
    assert_eq!(paid.app().bill(&id, "sebab").await.as_deref(), Some("dikembalikan penyedia"));
    assert_eq!(paid.counter.see(&id).await["status"], "dibayar", "it is credited, and the owner is told");
    let entries = paid.app().see(&paid.counter.rina, "perhatian").await.ok();
    assert_eq!(entries.as_array().unwrap().len(), 1);
    paid.app().assert_no_violation().await;
}

#[actix_web::test]
async fn an_expired_bill_that_is_paid_is_credited() {
    let paid = Paid::open().await;
    let id = id_of(&paid.ask(&paid.counter.rina, "a", 50_000).await.ok());
    paid.app().advance_s(601);
    paid.midtrans.becomes(&id, "expire");
    paid.notified(&id, "expire", "407", "50000.00").await.expect(200, "OK");
    assert_eq!(paid.counter.see(&id).await["status"], "kedaluwarsa");
    paid.midtrans.pays(&id, "50000.00", "IDR");
    paid.app().advance_s(14 * 60);
    paid.app().until_bill(&id, "dibayar").await;
    paid.app().assert_no_violation().await;
}

#[actix_web::test]
async fn a_cancelled_bill_is_cancelled_at_the_provider_first() {
    let paid = Paid::open().await;
    let cancel = async |id: &str| paid.app().ask(&paid.counter.rina, &format!("tagihan/{id}/batal"), &json!({})).await;
    let id = id_of(&paid.ask(&paid.counter.rina, "a", 50_000).await.ok());
    paid.midtrans.is(Mood::Raw(502, ""));
    cancel(&id).await.expect(503, SILENT);
    assert_eq!(paid.app().bill(&id, "status").await.as_deref(), Some("menunggu"));
    paid.midtrans.is(Mood::Works);
    assert_eq!(cancel(&id).await.ok()["status"], "batal");
    // What was paid a moment ago cannot be cancelled, and is credited.
    let second = id_of(&paid.ask(&paid.counter.rina, "b", 50_000).await.ok());
    paid.midtrans.pays(&second, "50000.00", "IDR");
    cancel(&second).await.expect(409, "tagihan sudah dibayar");
    assert_eq!(paid.app().topups().await, 1);
    // One that never reached the provider.
    paid.midtrans.is(Mood::Raw(500, ""));
    paid.ask(&paid.counter.rina, "c", 10_000).await.expect(503, SILENT);
    paid.midtrans.is(Mood::Works);
    let row = paid.app().db.query_one("SELECT id FROM tagihan WHERE status = 'dibuat'", &[]).await.unwrap();
    assert_eq!(cancel(row.get(0)).await.ok()["status"], "batal");
}

#[actix_web::test]
async fn each_owner_is_paid_by_a_key_of_its_own() {
    let midtrans = Midtrans::start();
    let app = midtrans.setup(&format!("1={KEY},2=SB-Mid-server-lain")).start().await;
    let (melati, mawar, dahlia) = (app.outlet("Melati").await, app.outlet("Mawar").await, app.outlet("Dahlia").await);
    assert_eq!([melati, mawar].map(|outlet| outlet.idowner), [OwnerId::new(1), OwnerId::new(2)]);
    let set = async |outlet: crate::support::arrange::Outlet, mode: &str| {
        let owner = app.key(Scope::Owner(outlet.idowner)).await;
        app.ops(&owner, &format!("outlet/{}", outlet.idoutlet), &json!({ "qris": mode })).await
    };
    set(melati, "midtrans").await.ok();
    set(mawar, "midtrans").await.ok();
    set(dahlia, "midtrans").await.expect(422, "kunci QRIS kosong");
    set(mawar, "simulated").await.expect(422, "kunci QRIS kosong");
    set(dahlia, "off").await.ok();
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let mut ids = Vec::new();
    for outlet in [melati, mawar] {
        let rina = app.seller(outlet).await;
        let made = app.ask(&rina, "tagihan", &json!({"id_customer_global": siti.id, "nominal": 50_000})).await.ok();
        ids.push(id_of(&made));
    }
    let keys: Vec<_> = midtrans.calls.lock().unwrap().iter().map(|(_, key, _)| key.clone()).collect();
    assert_eq!(keys, [format!("{KEY}:"), "SB-Mid-server-lain:".to_owned()]);
    // The other owner's key signs nothing of this one's.
    let by_other = signed(&ids[0], "settlement", "200", "50000.00", "SB-Mid-server-lain");
    app.notify("midtrans", &by_other).await.expect(403, "tanda tangan salah");
    app.notify("midtrans", &signed(&ids[1], "settlement", "200", "50000.00", "SB-Mid-server-lain")).await.expect(200, "OK");
    assert_eq!(app.bill(&ids[1], "status").await.as_deref(), Some("dibayar"));
    assert_eq!(app.topups().await, 1);
}
