//! Buying: one winner, one charge, and every refusal in the order of docs/contract.md §1.

use futures_util::future::join_all;
use nyala_machines::device::sim::Mode;
use serde_json::json;

use crate::support::helpers::{Setup, TestApp};
use crate::support::shop::{PRICE, buy};

fn quick() -> Setup {
    Setup::new().running_clock().with(|c| {
        c.mesin.sim_min_ms = 0;
        c.mesin.sim_max_ms = 5;
    })
}

#[actix_web::test]
async fn paying_starts_the_machine_and_the_run_ends() {
    let app = quick().start().await;
    let shop = app.shop(1).await;
    let siti = app.register_customer("81200000001", "Siti", "Rahmawati").await;
    let epay = app.balance_of(&siti, shop, 25_000).await;
    let order = buy(1, shop, epay);
    let data = app.buy(&siti, &order).await.ok();
    assert_eq!(data["id"], order.receipt.as_str());
    assert_eq!(app.states(&order.receipt).await, ["RUNNING"]);
    assert_eq!(app.balance(epay).await, 15_000);
    app.until(&order.receipt, "FINISHED").await;
    let again = app.buy(&siti, &order).await;
    again.expect(200, "Mesin Berhasil dinyalakan");
    assert_eq!(app.balance(epay).await, 15_000);
    app.buy(&siti, &buy(2, shop, epay)).await.ok();
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn fifty_customers_press_pay_and_one_wins() {
    /// The number of rounds. Every customer's balance covers all of them, since the same one may win each time.
    const ROUND: u32 = 200;
    let app = quick().with(|c| c.purchase.per_customer_minute = 1_000).start().await;
    let mut customers = Vec::new();
    let mut shop = app.shop(600).await;
    for i in 0..50 {
        let customer = app.register_customer(&format!("8120000{i:04}"), "Budi", "Santoso").await;
        let epay = app.balance_of(&customer, shop, i64::from(ROUND) * PRICE).await;
        customers.push((customer, epay));
    }
    for round in 0..ROUND {
        shop.idmesin = app.machine(shop.outlet, "Mesin").await.idmesin;
        let answers = join_all(customers.iter().map(|(c, e)| {
            let order = buy(round, shop, *e);
            let app = &app;
            async move { app.buy(c, &order).await }
        }))
        .await;
        assert_eq!(answers.iter().filter(|a| a.status == 200).count(), 1);
        for loser in answers.iter().filter(|a| a.status != 200) {
            loser.expect(409, "mesin sedang digunakan");
        }
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn one_receipt_sent_a_hundred_times_is_one_charge() {
    let app = quick().start().await;
    let (shop, siti, epay) = app.shop_and_payer(100_000).await;
    let order = buy(1, shop, epay);
    let answers = join_all((0..100).map(|_| app.buy(&siti, &order))).await;
    for answer in &answers {
        answer.expect(200, "Mesin Berhasil dinyalakan");
    }
    assert_eq!(app.balance(epay).await, 90_000);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn two_customers_may_share_a_receipt_number() {
    let app = quick().start().await;
    let (one, two) = (app.shop(600).await, app.shop(600).await);
    let siti = app.register_customer("81200000001", "Siti", "Rahmawati").await;
    let budi = app.register_customer("81200000002", "Budi", "Santoso").await;
    let (a, b) = (app.balance_of(&siti, one, 20_000).await, app.balance_of(&budi, two, 20_000).await);
    app.buy(&siti, &buy(7, one, a)).await.ok();
    app.buy(&budi, &buy(7, two, b)).await.ok();
    assert_eq!((app.balance(a).await, app.balance(b).await), (10_000, 10_000));
}

#[actix_web::test]
async fn the_first_failing_row_answers() {
    let app = quick().start().await;
    let (shop, other) = (app.shop(600).await, app.shop(600).await);
    let siti = app.register_customer("81200000001", "Siti", "Rahmawati").await;
    let budi = app.register_customer("81200000002", "Budi", "Santoso").await;
    let epay = app.balance_of(&siti, shop, PRICE - 1).await;
    let foreign = app.balance_of(&budi, shop, PRICE).await;
    app.fault(shop, Mode::Offline).await;
    while app.db.query_one("SELECT online FROM mesin WHERE idmesin = $1", &[&shop.idmesin]).await.unwrap().get::<_, bool>(0) {
        actix_web::rt::task::yield_now().await;
    }
    // Everything is wrong at once. Each corrected fault lets the next check answer.
    let mut order = buy(0, shop, foreign);
    order.body["idmesin"] = json!(999_999);
    order.body["idsnap_layanan"] = json!(other.idlayanan);
    order.body["total"] = json!(1);
    let mut n = 10;
    let mut attempt = async |body: serde_json::Value, status: u16, message: &str| {
        n += 1;
        let order = crate::support::shop::Order { receipt: format!("SLF{n:015}"), body };
        let mut sent = order.body.clone();
        sent["id"] = json!(order.receipt);
        let order = crate::support::shop::Order { body: sent, ..order };
        app.buy(&siti, &order).await.expect(status, message);
        // The refusal is remembered: the same answer again.
        app.buy(&siti, &order).await.expect(status, message);
        let mut changed = order.clone();
        changed.body["grandtotal"] = json!(2);
        app.buy(&siti, &changed).await.expect(422, "nomor nota sudah dipakai");
    };
    attempt(order.body.clone(), 404, "E-Pay tidak ditemukan").await;
    order.body["idcustomer"] = json!(epay);
    attempt(order.body.clone(), 404, "Mesin Not found").await;
    order.body["idmesin"] = json!(other.idmesin);
    attempt(order.body.clone(), 404, "E-Pay tidak ditemukan").await;
    order.body["idmesin"] = json!(shop.idmesin);
    attempt(order.body.clone(), 404, "layanan tidak ditemukan").await;
    order.body["idsnap_layanan"] = json!(shop.idlayanan);
    order.body["idoutlet"] = json!(other.outlet.idoutlet);
    attempt(order.body.clone(), 404, "layanan tidak ditemukan").await;
    order.body["idoutlet"] = json!(shop.outlet.idoutlet);
    attempt(order.body.clone(), 409, "harga layanan berubah").await;
    order.body["total"] = json!(PRICE);
    attempt(order.body.clone(), 409, "mesin sedang offline").await;
    app.fault(shop, Mode::Ok).await;
    while !app.db.query_one("SELECT online FROM mesin WHERE idmesin = $1", &[&shop.idmesin]).await.unwrap().get::<_, bool>(0) {
        actix_web::rt::task::yield_now().await;
    }
    attempt(order.body.clone(), 422, "saldo epay tidak cukup").await;
    app.buy(&budi, &buy(1, shop, foreign)).await.ok();
    attempt(order.body.clone(), 409, "mesin sedang digunakan").await;
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn an_account_pays_until_it_expires() {
    let app = quick().start().await;
    let shop = app.shop(600).await;
    for (n, left_ms, status, message) in
        [(1, -1, 422, "saldo epay tidak cukup"), (2, 3_600_000, 200, "Mesin Berhasil dinyalakan")]
    {
        let customer = app.register_customer(&format!("8120000000{n}"), "Siti", "Rahmawati").await;
        let epay = app.epay(&customer, shop.outlet, Some(app.now().plus_ms(left_ms))).await;
        app.topup(epay, PRICE).await;
        app.buy(&customer, &buy(n, shop, epay.idcustomer)).await.expect(status, message);
        assert_eq!(app.balance(epay.idcustomer).await, if status == 200 { 0 } else { PRICE });
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_refusing_device_gives_the_money_back() {
    let app = quick().start().await;
    let (shop, siti, epay) = app.shop_and_payer(PRICE).await;
    app.fault(shop, Mode::Refuse).await;
    let order = buy(1, shop, epay);
    for _ in 0..2 {
        app.buy(&siti, &order).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    }
    assert_eq!(app.balance(epay).await, PRICE);
    app.fault(shop, Mode::Ok).await;
    app.buy(&siti, &buy(2, shop, epay)).await.ok();
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_silent_device_answers_504_and_gives_up_after_fifteen_minutes() {
    let app = quick().start().await;
    let (shop, siti, epay) = app.shop_and_payer(PRICE).await;
    app.fault(shop, Mode::Silent).await;
    let order = buy(1, shop, epay);
    app.buy(&siti, &order).await.expect(504, "mesin belum menjawab, saldo otomatis kembali bila mesin tidak menyala");
    assert_eq!(app.balance(epay).await, 0, "the money stays held");
    app.until(&order.receipt, "UNSURE").await;
    app.advance_s(15 * 60);
    app.until(&order.receipt, "EXPIRED").await;
    assert_eq!(app.balance(epay).await, PRICE);
    app.buy(&siti, &buy(2, shop, epay)).await.expect(409, "mesin sedang offline");
    app.buy(&siti, &order).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    app.fault(shop, Mode::Ok).await;
    while app
        .db
        .query_one("SELECT perlu_petugas FROM mesin WHERE idmesin = $1", &[&shop.idmesin])
        .await
        .unwrap()
        .get::<_, bool>(0)
    {
        actix_web::rt::task::yield_now().await;
    }
    app.buy(&siti, &buy(3, shop, epay)).await.ok();
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_late_device_is_charged_and_counts_from_its_own_start() {
    let app = quick().start().await;
    let (shop, siti, epay) = app.shop_and_payer(PRICE).await;
    app.fault(shop, Mode::Late).await;
    let order = buy(1, shop, epay);
    let pressed = app.now();
    app.buy(&siti, &order).await.expect(504, "mesin belum menjawab, saldo otomatis kembali bila mesin tidak menyala");
    app.until(&order.receipt, "RUNNING").await;
    let ends_at: nyala_core::domain::timestamp::Timestamp =
        app.db.query_one("SELECT ends_at FROM snap_transaksi WHERE no_nota = $1", &[&order.receipt]).await.unwrap().get(0);
    let error_ms = pressed.plus_ms(600_000).ms_until(ends_at);
    assert!((-1_000..1_000).contains(&error_ms), "the countdown is {error_ms} ms off the device's own");
    app.buy(&siti, &order).await.expect(200, "Mesin Berhasil dinyalakan");
    assert_eq!(app.balance(epay).await, 0);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn malformed_orders_are_400_and_need_a_token() {
    let app = TestApp::spawn().await;
    let (shop, siti, epay) = app.shop_and_payer(PRICE).await;
    let good = buy(1, shop, epay);
    for (field, bad) in [
        ("id", json!("SLF1")),
        ("id", json!(7)),
        ("id", json!(null)),
        ("idcustomer", json!(-1)),
        ("idmesin", json!("x")),
        ("idoutlet", json!(1.5)),
        ("idsnap_layanan", json!([])),
        ("total", json!("10000")),
        ("total", json!(10000.5)),
        ("grandtotal", json!(-1)),
        ("grandtotal", json!(99_999_999_999_i64)),
    ] {
        let mut order = good.clone();
        order.body[field] = bad.clone();
        assert_eq!(app.buy(&siti, &order).await.status, 400, "{field} = {bad}");
        order.body.as_object_mut().unwrap().remove(field);
        assert_eq!(app.buy(&siti, &order).await.status, 400, "without {field}");
    }
    let path = "/scan/v1/transaksi/create_snap_transaksi";
    assert_eq!(app.post(path, None, &good.body).await.status, 401);
    assert_eq!(app.call("POST", path, Some(&siti.token), &[], Some(b"{".to_vec())).await.status, 400);
    assert!(app.states(&good.receipt).await.is_empty());
}
