//! A scan queries the machine's device, and no money is held for a device that does not answer.

use futures_util::future::{join, join_all};
use serde_json::json;

use super::{Device, NIL, standing};
use crate::support::helpers::TestApp;
use crate::support::shop::{PRICE, buy};

async fn probes(app: &TestApp, kind: &str) -> f64 {
    app.metric(&format!("nyala_device_probes_total{{kind=\"{kind}\"}}")).await
}

#[actix_web::test]
async fn a_device_that_sent_a_message_just_now_is_not_queried() {
    let app = standing().start().await;
    let (_, given, siti, _) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    app.advance_s(3);
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "idle");
    assert_eq!(probes(&app, "here").await, 1.0);
    app.clock.advance_ms(1);
    assert_eq!(app.scanned(given.idmesin.get(), &siti).await, "idle", "a scan does not wait for it");
    assert_eq!(probes(&app, "asked").await, 1.0);
    let asked = device.command().await;
    assert_eq!((&asked["cmd_id"], &asked["op"], &asked["durasi_s"]), (&json!(NIL), &json!("query"), &json!(0)));
}

#[actix_web::test]
async fn money_is_held_for_a_device_that_answers() {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    app.advance_s(30);
    let answers = async {
        let probe = device.command().await;
        assert_eq!(probe["cmd_id"], NIL);
        assert_eq!((app.balance(epay).await, app.insert("SELECT count(*) FROM snap_transaksi", &[]).await), (PRICE, 0));
        device.state().await;
        let start = device.order().await;
        device.starts(&start).await;
    };
    join(app.buy(&siti, &buy(1, shop, epay)), answers).await.0.ok();
}

#[actix_web::test]
async fn not_a_rupiah_is_held_for_a_device_that_says_nothing() {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    app.advance_s(30);
    let order = buy(1, shop, epay);
    app.buy(&siti, &order).await.expect(409, "mesin sedang offline");
    assert_eq!((app.balance(epay).await, app.states(&order.receipt).await), (PRICE, vec![]));
    assert_eq!(probes(&app, "silent").await, 1.0);
    assert_eq!(device.command().await["cmd_id"], NIL);
    // A ping shows that the connection is alive, but it is no message: the program behind it may be dead.
    device.connection.ping().await;
    app.buy(&siti, &buy(2, shop, epay)).await.expect(409, "mesin sedang offline");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_line_that_closes_under_the_question_is_an_answer() {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let mut device = Device::online(&app, &given).await;
    app.advance_s(30);
    let order = buy(1, shop, epay);
    let goes = async {
        device.command().await;
        drop(device);
    };
    join(app.buy(&siti, &order), goes).await.0.expect(409, "mesin sedang offline");
    assert_eq!((app.balance(epay).await, probes(&app, "silent").await), (PRICE, 0.0));
}

#[actix_web::test]
async fn fifty_customers_are_one_question() {
    let app = standing().start().await;
    let (shop, given, _, _) = app.device_shop(600).await;
    let customers = app.payers(shop, 50).await;
    let mut device = Device::online(&app, &given).await;
    app.advance_s(30);
    let pay = customers.iter().enumerate().map(|(n, (customer, epay))| {
        let (app, order) = (&app, buy(100 + u32::try_from(n).unwrap(), shop, *epay));
        async move { app.buy(customer, &order).await }
    });
    let answers = async {
        assert_eq!(device.command().await["cmd_id"], NIL);
        // Customers who ask in the meantime wait for the same answer.
        app.until_counted("nyala_device_probes_total{kind=\"asked_before\"}", 49.0).await;
        device.state().await;
        let start = device.command().await;
        assert_eq!(start["op"], "start", "one question, and then what it was for");
        device.starts(&start).await;
    };
    let (statuses, ()) = join(join_all(pay), answers).await;
    assert_eq!(statuses.iter().filter(|answer| answer.status == 200).count(), 1);
    assert_eq!(statuses.iter().filter(|answer| answer.message == "mesin sedang digunakan").count(), 49);
    app.assert_no_violation().await;
}
