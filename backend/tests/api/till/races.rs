//! Several people who act on the same money at the same moment (docs/till.md).

use futures_util::future::{join, join3, join4};
use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::json;

use crate::cli::beside;
use crate::support::helpers::Setup;
use crate::support::shop::{PRICE, Shop, buy};

/// Two tills reverse a top-up while its customer pays with it. Only one of them gets the balance, and the cash leaves the drawer only
/// with a reversal.
#[actix_web::test]
async fn two_reversals_and_a_purchase_at_once_move_the_balance_once() {
    let app = Setup::new().running_clock().start().await;
    let shop = app.shop(1_800).await;
    let (rina, dewi) = (app.seller(shop.outlet).await, app.seller(shop.outlet).await);
    let hadi = app.clerk(&rina.till, "Hadi", Role::Supervisor, WorksFor::Outlet(shop.outlet.idoutlet)).await;
    let there = app.at(&dewi.till, hadi.person).await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let idcustomer = app.epay(&siti, shop.outlet, None).await.idcustomer;
    let sale = json!({ "id_customer_global": siti.id, "idoutlet": shop.outlet.idoutlet, "nominal": PRICE, "ulang": true });
    let (mut bought, mut sold) = (0, 0);
    for n in 1..=12 {
        let made = app.ask(&rina, "topup", &sale).await.ok();
        sold += 1;
        let reversal = format!("topup/{}/batal", made["idpembelian_emoney"].as_str().unwrap());
        let why = json!({ "alasan": "salah orang" });
        let machine = app.machine(shop.outlet, &format!("Mesin {n}")).await;
        let order = buy(n, Shop { idmesin: machine.idmesin, ..shop }, idcustomer);
        let (here, elsewhere, purchase) =
            join3(app.ask(&hadi, &reversal, &why), app.ask(&there, &reversal, &why), app.buy(&siti, &order)).await;
        let reversed = [&here, &elsewhere].iter().filter(|answer| answer.status == 200).count();
        let outcome = format!("{here:?} {elsewhere:?} {purchase:?}");
        assert_eq!(reversed + usize::from(purchase.status == 200), 1, "{outcome}");
        assert_eq!(app.balance(idcustomer).await, 0, "{outcome}");
        bought += i64::from(purchase.status == 200);
    }
    let drawers = join(app.see(&hadi, "shift"), app.see(&there, "shift")).await;
    let expected = drawers.0.ok()["diharapkan"].as_i64().unwrap() + drawers.1.ok()["diharapkan"].as_i64().unwrap();
    assert_eq!(expected, 200_000 + bought * PRICE, "of {sold} sold");
    app.assert_no_violation().await;
}

/// One till sells, another one pays out, the phone buys a machine and a bill is paid: each is done or refused, and the sums agree.
#[actix_web::test]
async fn two_tills_a_phone_and_a_payment_at_once_keep_the_sums() {
    const ROUNDS: u32 = 12;
    const SOLD: i64 = 7_000;
    const BILLED: i64 = 20_000;
    let app = Setup::new().running_clock().start().await;
    let shop = app.shop(1_800).await;
    app.takes_qris(shop.outlet, "simulated").await;
    let (rina, dewi) = (app.seller(shop.outlet).await, app.seller(shop.outlet).await);
    let hadi = app.clerk(&dewi.till, "Hadi", Role::Supervisor, WorksFor::Outlet(shop.outlet.idoutlet)).await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let idcustomer = app.epay(&siti, shop.outlet, None).await.idcustomer;
    let sale = json!({"id_customer_global": siti.id, "idoutlet": shop.outlet.idoutlet, "nominal": SOLD, "ulang": true});
    let billed = json!({"id_customer_global": siti.id, "nominal": BILLED});
    let (mut balance, mut paid_out) = (0, 0);
    for n in 1..=ROUNDS {
        let bill = app.ask(&rina, "tagihan", &billed).await.ok()["idtagihan"].as_str().unwrap().to_owned();
        let machine = app.machine(shop.outlet, &format!("Mesin {n}")).await;
        let order = buy(n, Shop { idmesin: machine.idmesin, ..shop }, idcustomer);
        let payout = async {
            let qr = app.code_of(siti.id);
            let counted = app.ask(&hadi, "tarik/hitung", &json!({"qr": qr})).await;
            if counted.status != 200 {
                return counted;
            }
            let body = json!({"qr": qr, "dibayar": counted.data["dibayar"], "hangus": counted.data["hangus"]});
            app.ask(&hadi, "tarik", &body).await
        };
        let (sold, payout, bought, ()) =
            join4(app.ask(&rina, "topup", &sale), payout, app.buy(&siti, &order), app.pay(&bill)).await;
        sold.ok();
        balance += SOLD + BILLED;
        match payout.status {
            200 => {
                assert_eq!(payout.data["hangus"], 0, "all of it was paid for");
                balance -= payout.data["dibayar"].as_i64().unwrap();
                paid_out += payout.data["dibayar"].as_i64().unwrap();
            }
            409 => assert!(["masih ada mesin yang belum selesai", "jumlah berubah, hitung lagi"].contains(&&*payout.message)),
            _ => _ = payout.expect(422, "tidak ada saldo yang bisa ditarik"),
        }
        match bought.status {
            200 => balance -= PRICE,
            _ => _ = bought.expect(422, "saldo epay tidak cukup"),
        }
        assert_eq!(app.balance(idcustomer).await, balance, "round {n}: {payout:?} {bought:?}");
        assert_eq!(app.bill(&bill, "status").await.as_deref(), Some("dibayar"));
        // The next payout finds no open purchase.
        app.db.execute("UPDATE snap_transaksi SET ends_at = started_at WHERE state = 'RUNNING'", &[]).await.unwrap();
        if bought.status == 200 {
            app.until(&order.receipt, "FINISHED").await;
        }
    }
    let drawers = app.drawer(&rina.till).await + app.drawer(&dewi.till).await;
    assert_eq!(drawers, 200_000 + i64::from(ROUNDS) * SOLD - paid_out);
    app.assert_sound().await;
    assert!(beside(&app, &["audit", "verify"]).ok().starts_with("OK"));
}
