//! The most balance that an account may have (docs/money.md).

use futures_util::future::join_all;
use nyala_core::domain::id::WalletId;
use serde_json::json;

use crate::ops::operator::Scope;
use crate::support::arrange::{Epay, receipt};
use crate::support::counter::{Counter, TELP, and, counter, counter_without_cap};

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
