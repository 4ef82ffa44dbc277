//! The most balance that an account may have (docs/money.md).

use futures_util::future::join_all;
use nyala_core::domain::id::WalletId;
use nyala_machines::device::sim::Mode;
use serde_json::json;

use crate::auth::number_move::MoveShop;
use crate::ops::operator::Scope;
use crate::support::arrange::{Epay, receipt};
use crate::support::counter::{Counter, TELP, and, counter, counter_without_cap};
use crate::support::helpers::Setup;
use crate::support::shop::buy;

const FULL: &str = "saldo paling banyak Rp 2.000.000";

#[actix_web::test]
async fn a_sale_above_the_most_is_refused_with_what_is_held_and_what_is_billed() {
    let counter = counter().await;
    let Counter { app, outlet, rina, siti } = &counter;
    let hadi = counter.supervisor().await;
    let (key, owners) = (app.key(Scope::Kasir(outlet.idoutlet)).await, app.key(Scope::Owner(outlet.idowner)).await);
    // Rights and shift are asked first.
    app.ask(rina, "topup", &counter.sale(2_000_001)).await.expect(403, "di atas Rp 1.000.000 perlu persetujuan supervisor");
    app.ask(&hadi, "topup", &counter.sale(2_000_001)).await.expect(422, FULL);
    let made = app.ask(&hadi, "topup", &and(counter.sale(1_990_000), "cara_bayar", json!("transfer"))).await.ok();
    let idcustomer = made["idcustomer"].as_i64().unwrap();
    for key in [&key, &owners] {
        app.ops(key, "topup", &counter.by_number(10_001)).await.expect(422, FULL);
    }
    // The quota counts, not the price.
    app.ops(&owners, "topup", &json!({"telp": TELP, "idoutlet": outlet.idoutlet, "nominal": 1, "quota": 10_001}))
        .await
        .expect(422, FULL);
    app.ops(&key, "topup", &counter.by_number(10_000)).await.ok();
    assert_eq!(app.balance(idcustomer).await, 2_000_000);
    // What is held is balance, too; what is spent is not.
    let idakun = app.insert("SELECT idakun FROM quota_emoney", &[]).await;
    let epay = Epay { idcustomer: WalletId::new(idcustomer), id_customer_global: siti.id, outlet: *outlet, idakun };
    let machine = app.machine(*outlet, "M1").await;
    let held = app.hold(epay, &machine, &receipt(1)).await;
    app.ops(&key, "topup", &counter.by_number(1)).await.expect(422, FULL);
    app.started(&held).await;
    app.ops(&key, "topup", &counter.by_number(10_001)).await.expect(422, FULL);
    app.db
        .execute(
            "INSERT INTO tagihan (id, id_customer_global, idowner, idoutlet, nominal, quota, nama_paket, penyedia, status, kedaluwarsa_at, aktor, created_at)
             VALUES ('NYL00000000000000000001', $1, $2, $3, 4000, 4000, 'Top-Up', 'simulated', 'menunggu', $4, 'uji', $4)",
            &[&siti.id, &outlet.idowner, &outlet.idoutlet, &app.now()],
        )
        .await
        .unwrap();
    app.ops(&key, "topup", &counter.by_number(6_001)).await.expect(422, FULL);
    app.db.execute("UPDATE tagihan SET status = 'kedaluwarsa'", &[]).await.unwrap();
    app.ops(&key, "topup", &counter.by_number(10_000)).await.ok();
    // What comes back is never refused.
    let body = json!({"idtransaksi": receipt(1), "nominal": 10_000, "alasan": "uji"});
    assert_eq!(app.ops(&owners, "refund", &body).await.ok()["saldo_akhir"], 2_010_000);
    let bulk = json!({"jumlah": 1, "awalan_telp": "8990", "idoutlet": outlet.idoutlet, "saldo": 5_000_000});
    app.ops(&app.key(Scope::Root).await, "pelanggan/bulk", &bulk).await.ok();
    app.assert_no_violation().await;
}

/// Who has paid is credited, also when the account has got there in between.
#[actix_web::test]
async fn a_bill_that_is_paid_is_credited_above_the_most() {
    let counter = Counter::with_bills().await;
    let Counter { app, outlet, siti, .. } = &counter;
    let hadi = counter.supervisor().await;
    let from_phone = async |nominal: i64| {
        let body = json!({"id": uuid::Uuid::new_v4(), "idoutlet": outlet.idoutlet, "nominal": nominal});
        app.post("/scan/v1/epayment/tagihan", Some(&siti.token), &body).await
    };
    let till = counter.bill(1_000_000).await;
    let phone = from_phone(900_000).await.ok()["idtagihan"].as_str().unwrap().to_owned();
    from_phone(100_001).await.expect(422, FULL);
    // What has ended is no bill that could still be paid, so a sale fills the account.
    for id in [&till, &phone] {
        app.at_provider(id, &json!({"aksi": "kedaluwarsa"})).await.ok();
    }
    let sale = and(counter.sale(1_990_000), "cara_bayar", json!("transfer"));
    let idcustomer = app.ask(&hadi, "topup", &sale).await.ok()["idcustomer"].as_i64().unwrap();
    // The last bill that fits, and then what comes back of a purchase.
    let idakun = app.insert("SELECT idakun FROM quota_emoney", &[]).await;
    let epay = Epay { idcustomer: WalletId::new(idcustomer), id_customer_global: siti.id, outlet: *outlet, idakun };
    let used = app.used(epay, &app.machine(*outlet, "M1").await, &receipt(1)).await;
    let open = [counter.bill(10_000).await, from_phone(10_000).await.ok()["idtagihan"].as_str().unwrap().to_owned()];
    from_phone(10_000).await.expect(422, FULL);
    let back = json!({"idtransaksi": used.receipt, "nominal": 10_000, "alasan": "uji"});
    app.ask(&hadi, "refund", &back).await.ok();
    let mut balance = 1_990_000;
    for (id, quota) in [(&open[0], 10_000), (&till, 1_000_000), (&open[1], 10_000), (&phone, 900_000)] {
        app.pay(id).await;
        balance += quota;
        let seen = [app.bill(id, "status").await.unwrap(), app.balance(idcustomer).await.to_string()];
        assert_eq!(seen, ["dibayar".to_owned(), balance.to_string()]);
    }
    app.ask(&hadi, "topup", &counter.sale(1)).await.expect(422, FULL);
    from_phone(10_000).await.expect(422, FULL);
    app.assert_no_violation().await;
}

/// Far above the most: what a device has refused, what is refunded or deleted, and what moves.
#[actix_web::test]
async fn what_comes_back_or_moves_is_never_refused() {
    let small = || Setup::new().with(|config| config.ledger.max_balance = 5_000);
    let app = small().start().await;
    let (shop, siti, idcustomer) = app.shop_and_payer(40_000).await;
    let key = app.key(Scope::Owner(shop.outlet.idowner)).await;
    let sale = json!({"telp": siti.telp, "idoutlet": shop.outlet.idoutlet, "nominal": 1});
    app.ops(&key, "topup", &sale).await.expect(422, "saldo paling banyak Rp 5.000");
    app.fault(shop, Mode::Refuse).await;
    app.buy(&siti, &buy(1, shop, idcustomer)).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    assert_eq!(app.balance(idcustomer).await, 40_000, "the hold is void");
    app.fault(shop, Mode::Ok).await;
    let order = buy(2, shop, idcustomer);
    app.buy(&siti, &order).await.ok();
    let refund = json!({"idtransaksi": order.receipt, "nominal": 4_000, "alasan": "bocor"});
    assert_eq!(app.ops(&key, "refund", &refund).await.ok()["saldo_akhir"], 34_000);
    let deletion = json!({"idtransaksi": order.receipt, "alasan": "bocor"});
    assert_eq!(app.ops(&key, "hapus", &deletion).await.ok()["saldo_akhir"], 40_000);
    app.assert_no_violation().await;

    let moving = MoveShop::on(small().start().await).await;
    moving.app.funded(&moving.siti, moving.outlet, 50_000).await;
    moving.app.funded(&moving.new, moving.outlet, 20_000).await;
    let body = moving.codes().await;
    let token = moving.in_the_app(&body).await.ok()["token"].as_str().unwrap().to_owned();
    assert_eq!(moving.balances(&token).await, [(70_000, "Melati".to_owned())]);
    moving.app.assert_sound().await;
}

#[actix_web::test]
async fn sales_at_once_never_pass_the_most() {
    let counter = counter().await;
    let Counter { app, outlet, .. } = &counter;
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    // The first ones also open the account.
    let body = counter.by_number(150_000);
    let answers = join_all((0..20).map(|_| app.ops(&key, "topup", &body))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 13);
    assert!(answers.iter().filter(|answer| answer.status != 200).all(|answer| answer.message == FULL));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn without_a_most_everything_is_sold() {
    let counter = counter_without_cap().await;
    let Counter { app, outlet, .. } = &counter;
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    for _ in 0..2 {
        app.ops(&key, "topup", &counter.by_number(20_000_000)).await.ok();
    }
    app.assert_no_violation().await;
}
