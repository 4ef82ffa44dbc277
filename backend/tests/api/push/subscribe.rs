//! The owner of a subscription, and its end.

use serde_json::{Value, json};

use super::service::PushService;
use super::{TELP, Wash};
use crate::support::helpers::{Customer, PASSWORD, TestApp};

const FOREIGN: &str = "`endpoint` harus alamat https layanan push Google, Mozilla, Apple atau Microsoft";

impl TestApp {
    async fn subscribed(&self, of: &Customer) -> Vec<String> {
        let sql = "SELECT substring(endpoint FROM '[^/]*$') FROM langganan_push WHERE id_customer_global = $1 ORDER BY 1";
        self.db.query(sql, &[&of.id]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    async fn logged_in(&self, customer: &Customer) -> Customer {
        let token = self.login(&customer.telp, PASSWORD).await.ok()["token"].as_str().unwrap().to_owned();
        Customer { token, ..customer.clone() }
    }
}

fn with(body: &Value, field: &str, value: impl Into<Value>) -> Value {
    let mut body = body.clone();
    body[field] = value.into();
    body
}

#[actix_web::test]
async fn only_known_push_services_are_called() {
    let service = PushService::start();
    let (app, apart) = (TestApp::spawn().await, service.setup().start().await);
    let siti = app.register_customer(TELP, "Siti", "Rahmawati").await;
    let good = service.browser("phone").body();
    let ask =
        async |endpoint: &str| app.post("/scan/v1/push/langganan", Some(&siti.token), &with(&good, "endpoint", endpoint)).await;
    for endpoint in [
        "https://fcm.googleapis.com/fcm/send/cV3:APA91bH",
        "https://updates.push.services.mozilla.com/wpush/v2/gAAAAAB",
        "https://web.push.apple.com/QDb",
        "https://wns2-am3p.notify.windows.com/w/?token=BQYAAAD%2b",
    ] {
        ask(endpoint).await.expect(200, "Pemberitahuan dinyalakan");
    }
    let long = format!("https://fcm.googleapis.com/{}", "x".repeat(1_000));
    for endpoint in [
        good["endpoint"].as_str().unwrap(),
        "https://example.com/push",
        "http://fcm.googleapis.com/fcm/send/x",
        "https://fcm.googleapis.com:8443/x",
        "https://fcm.googleapis.com@10.0.0.1/x",
        "https://10.0.0.1/fcm.googleapis.com",
        "",
        &long,
    ] {
        ask(endpoint).await.expect(400, FOREIGN);
    }
    assert_eq!(app.subscribed(&siti).await.len(), 4);
    // A server in development accepts one more host.
    let budi = apart.register_customer(TELP, "Budi", "Santoso").await;
    apart.subscribe(&budi, &service.browser("phone")).await.ok();
    let elsewhere = with(&good, "endpoint", "http://127.0.0.2/x");
    apart.post("/scan/v1/push/langganan", Some(&budi.token), &elsewhere).await.expect(400, FOREIGN);
}

#[actix_web::test]
async fn invalid_keys_are_refused() {
    let wash = Wash::open().await;
    let good = wash.service.browser("other").body();
    let off_the_curve = format!("BAAA{}", "A".repeat(83));
    let key = "`p256dh` harus 65 byte dalam base64url";
    let auth = "`auth` harus 16 byte dalam base64url";
    for (field, value, status, message) in [
        ("p256dh", "", 400, key),
        ("p256dh", "BAAA", 400, key),
        ("p256dh", &off_the_curve.replace('B', "A"), 400, key),
        ("p256dh", &off_the_curve, 422, "p256dh bukan titik P-256"),
        ("auth", "", 400, auth),
        ("auth", "AAAAAAAAAAAAAAAAAAAAAAA", 400, auth),
        ("auth", "++++++++++++++++++++AA", 400, auth),
    ] {
        let body = with(&good, field, value);
        wash.app.post("/scan/v1/push/langganan", Some(&wash.siti.token), &body).await.expect(status, message);
    }
    let missing = json!({"endpoint": good["endpoint"], "auth": good["auth"]});
    wash.app.post("/scan/v1/push/langganan", Some(&wash.siti.token), &missing).await.expect(400, "`p256dh` wajib diisi");
    assert_eq!(wash.app.subscribed(&wash.siti).await, ["phone"]);
}

#[actix_web::test]
async fn the_eleventh_takes_the_place_of_the_one_that_was_subscribed_longest_ago() {
    let wash = Wash::open().await;
    let Wash { service, app, siti, phone, .. } = &wash;
    for n in 0..9 {
        app.advance_s(1);
        app.subscribe(siti, &service.browser(&format!("b{n}"))).await.ok();
    }
    assert_eq!(app.subscribed(siti).await.len(), 10);
    app.advance_s(1);
    // The phone subscribes again and is now the newest.
    app.subscribe(siti, phone).await.ok();
    app.advance_s(1);
    app.subscribe(siti, &service.browser("b9")).await.ok();
    assert_eq!(app.subscribed(siti).await, ["b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9", "phone"]);
}

#[actix_web::test]
async fn a_browser_is_its_last_subscribers_and_gets_no_push_of_another() {
    let wash = Wash::open().await;
    let Wash { app, siti, phone, .. } = &wash;
    wash.run(1).await;
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
    let budi = app.register_customer("81200000002", "Budi", "Santoso").await;
    app.subscribe(&budi, phone).await.ok();
    assert_eq!((app.subscribed(siti).await.len(), app.subscribed(&budi).await.len()), (0, 1));
    // The phone receives neither Siti's queued reminder nor the push of her next purchase.
    app.advance_s(600);
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
    wash.run(2).await;
    assert_eq!(wash.sent_titles().await, ["Cucian selesai"]);
    // Siti cannot end the subscription, which is Budi's now.
    app.post("/scan/v1/push/berhenti", Some(&siti.token), &json!({"endpoint": phone.endpoint})).await.ok();
    assert_eq!(app.subscribed(&budi).await, ["phone"]);
}

#[actix_web::test]
async fn logging_out_ends_what_that_login_has_subscribed() {
    let wash = Wash::open().await;
    let Wash { service, app, siti, .. } = &wash;
    let elsewhere = app.logged_in(siti).await;
    app.subscribe(&elsewhere, &service.browser("tablet")).await.ok();
    wash.run(1).await;
    app.all_pushed().await;
    app.log_out(&siti.token).await.ok();
    assert_eq!(app.subscribed(siti).await, ["tablet"]);
    // The reminder was queued for both browsers.
    app.advance_s(600);
    service.until(3).await;
    app.all_pushed().await;
    let paths: Vec<_> = service.given().into_iter().skip(2).map(|given| given.path).collect();
    assert_eq!(paths, ["/tablet"]);
    app.subscribe(siti, &wash.phone).await.expect(401, "sesi tidak berlaku, silakan masuk lagi");
}

#[actix_web::test]
async fn a_login_that_ended_at_another_server_subscribes_nothing() {
    let wash = Wash::open().await;
    let Wash { service, app, siti, .. } = &wash;
    // Another server has ended the login; this one still accepts it from its cache for half a minute.
    let changed = "UPDATE customer_global SET token_version = token_version + 1 WHERE id = $1";
    app.db.execute(changed, &[&siti.id]).await.unwrap();
    app.push_key(siti).await;
    app.subscribe(siti, &service.browser("late")).await.expect(401, "sesi tidak berlaku, silakan masuk lagi");
    assert_eq!(app.subscribed(siti).await, ["phone"]);
}

#[actix_web::test]
async fn a_new_password_ends_all_subscriptions() {
    let wash = Wash::open().await;
    let Wash { service, app, siti, .. } = &wash;
    app.subscribe(&app.logged_in(siti).await, &service.browser("tablet")).await.ok();
    let code = app.code_for(siti).await;
    app.update_password(siti, &code, PASSWORD, "SandiBaru1").await.ok();
    assert_eq!(app.subscribed(siti).await, [""; 0]);
}

#[actix_web::test]
async fn a_subscription_runs_out_with_its_login() {
    let wash = Wash::open().await;
    wash.app.advance_s(30 * 86_400);
    let siti = wash.app.logged_in(&wash.siti).await;
    let wash = Wash { siti, ..wash };
    wash.run(1).await;
    assert_eq!(wash.queued("menunggu").await, 0);
}
